import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeDice } from "./patch-fuzz.ts";

type Dice = ReturnType<typeof makeDice>;

/** One commit as git tells it twice: as rows of `--raw -z` and as a patch. Names are texts of bytes (latin1). */
export interface WrittenPatch {
  readonly raw: readonly RawRow[];
  readonly patch: Uint8Array;
}

export interface RawRow {
  readonly status: string;
  readonly old: string;
  readonly new: string;
}

/** Everything that makes git quote, end with a TAB, or look like another line of a patch. */
const PIECES = [
  ..."abxyz01",
  " ",
  " ",
  "  ",
  '"',
  "'",
  "\\",
  "\t",
  "\n",
  "\r",
  "\x01",
  "\x7f",
  "\xc3\xa9",
  "e\xcc\x81",
  "\xff",
  "\xe2\x80\xa8",
  "\\t",
  "\\303",
  " b",
  "a",
  "b",
  "-",
  "--- ",
  "+++ ",
  "@@ -1 +1 @@",
  "diff --git a",
  "{x => y}",
  ":",
  "~",
  "#",
  "%",
  "$(x)",
  "`",
];

const pick = <T>(dice: Dice, items: readonly T[]): T => items[dice(items.length)]!;

function makeName(dice: Dice): string {
  const parts: string[] = [];
  for (let depth = dice(3); depth >= 0; depth--) {
    let part = "";
    for (let i = 1 + dice(4); i > 0; i--) part += dice(4) === 0 ? pick(dice, PIECES) : pick(dice, [..."abcdefgh"]);
    parts.push(/^\.+$/.test(part) || part === "" ? "d" : part);
  }
  return parts.join("/");
}

const LINES = [
  "one",
  "two",
  "",
  "-- x",
  "++ y",
  "diff --git a/x b/x",
  "@@ -1 +1 @@",
  "tab\tend",
  "cr\r",
  " lead",
  "\\ x",
];

function makeText(dice: Dice): string {
  let text = "";
  for (let i = dice(12); i > 0; i--) text += `${pick(dice, LINES)}${dice(3) === 0 ? dice(9) : ""}\n`;
  return dice(5) === 0 ? text.replace(/\n$/, "") : text;
}

/** git's own quoting of a path in a fast-import stream. */
function quote(name: string): string {
  return `"${name.replace(/[\\"]/g, "\\$&").replace(/[\x00-\x1f\x7f-\xff]/g, (c) => `\\${c.charCodeAt(0).toString(8).padStart(3, "0")}`)}"`;
}

/** A history of `count` commits with hostile names, written by git; and every change of it under several settings. */
export function writeNastyHistory(count: number, seed: number): WrittenPatch[] {
  const root = mkdtempSync(join(tmpdir(), "verbatim-nasty-"));
  const git = (args: readonly string[], input?: Uint8Array): Buffer => {
    const { status, stdout, stderr } = spawnSync("git", args, { cwd: root, input, maxBuffer: 1 << 28 });
    if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr.toString("utf8")}`);
    return stdout;
  };
  try {
    git(["init", "-q", "--bare"]);
    git(["fast-import", "--quiet"], Buffer.from(makeStream(makeDice(seed), count), "latin1"));
    return SETTINGS.flatMap((settings) => readHistory(git, settings));
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

const SETTINGS: readonly (readonly [config: string, ...flags: string[]])[] = [
  ["core.quotePath=true", "--no-renames"],
  ["core.quotePath=false", "-M"],
  ["core.quotePath=true", "-M", "-C", "--find-copies-harder", "--full-index"],
  ["core.quotePath=true", "-B", "-M"],
];

function makeStream(dice: Dice, count: number): string {
  const files = new Map<string, { mode: string; text: string }>();
  let stream = "";
  const overlaps = (name: string) =>
    [...files.keys()].some((one) => one !== name && (one.startsWith(`${name}/`) || name.startsWith(`${one}/`)));
  for (let i = 0; i <= count; i++) {
    stream += `commit refs/heads/main\ncommitter f <f@example.invalid> ${i} +0000\ndata 0\n`;
    const touched = new Set<string>();
    for (let changes = i === 0 ? 30 : 1 + dice(3); changes > 0; changes--) {
      const old = files.size === 0 ? undefined : pick(dice, [...files.keys()]);
      const action = i === 0 ? 0 : dice(6);
      const name = action < 2 || old === undefined ? makeName(dice) : old;
      if (touched.has(name) || overlaps(name)) continue;
      touched.add(name);
      const was = files.get(name);
      if (action === 5 && was !== undefined) {
        files.delete(name);
        stream += `D ${quote(name)}\n`;
        continue;
      }
      // A new name with a known text is a rename or a copy to git.
      const text = action === 1 && old !== undefined ? files.get(old)!.text : makeText(dice);
      const mode = action === 4 ? pick(dice, ["100755", "100644"]) : (was?.mode ?? "100644");
      if (action === 1 && old !== undefined && dice(2) === 0 && !touched.has(old)) {
        touched.add(old);
        files.delete(old);
        stream += `D ${quote(old)}\n`;
      }
      files.set(name, { mode, text });
      stream += `M ${mode} inline ${quote(name)}\ndata ${text.length}\n${text}\n`;
    }
    stream += "\n";
  }
  return stream;
}

const MARK = "\x02";

function readHistory(
  git: (args: readonly string[]) => Buffer,
  [config, ...flags]: readonly [string, ...string[]],
): WrittenPatch[] {
  const log = ["-c", config, "log", "--reverse", `--format=${MARK}%H`, ...flags];
  const patches = git([...log, "-p", flags.includes("-B") ? "-U0" : "-U3", "main"])
    .toString("latin1")
    .split(MARK)
    .slice(1)
    .map((text) => text.slice(text.indexOf("\n") + 1).replace(/^\n/, ""));
  const raws = git([...log, "--raw", "-z", "main"])
    .toString("latin1")
    .split(MARK)
    .slice(1)
    .map((text) => readRaw(text.slice(text.search(/\0|\n|$/) + 1)));
  // The first commit makes all the files at once.
  return patches.flatMap((patch, i) =>
    i === 0 || patch === "" ? [] : [{ raw: raws[i]!, patch: Buffer.from(patch, "latin1") }],
  );
}

function readRaw(text: string): RawRow[] {
  const rows: RawRow[] = [];
  const fields = text
    .replace(/^\n/, "")
    .split("\0")
    .filter((field) => field !== "");
  for (let at = 0; at < fields.length; ) {
    const status = fields[at++]!.split(" ").at(-1)![0]!;
    const old = fields[at++]!;
    rows.push({ status, old, new: status === "R" || status === "C" ? fields[at++]! : old });
  }
  return rows;
}
