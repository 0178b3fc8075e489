import { spawnSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createPatchChecker } from "../../src/adapters/git/patch-check.ts";
import { judgePatchWithGit } from "../../src/rooms/workflow/patch/git-stage.ts";
import type { PatchResult } from "../../src/rooms/workflow/patch/patch-gate.ts";
import { DEFAULT_POLICY } from "../../src/rooms/workflow/patch/patch-policy.ts";

/** Numbers from a seed, the same on every machine. */
export function makeDice(seed: number): (sides: number) => number {
  let state = seed >>> 0;
  return (sides) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % sides;
  };
}

const FILES: Readonly<Record<string, string>> = {
  "src/a.txt": "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n",
  "src/b.txt": "alpha\nbeta\n\ngamma\n",
  "src/sp ace.txt": "sp\nace\n",
  "src/dash.sql": "-- a/x\nkeep\n-- b/y\n",
  "src/crlf.txt": "a\r\nb\r\nc\r\n",
  "src/tail.txt": "no newline at the end",
  "src/empty.txt": "",
  "src/run.sh": "#!/bin/sh\necho hi\n",
  "src/private/key.txt": "KEY\n",
  "docs/guide.md": "# Guide\n\ntext\n",
  "secrets/key.txt": "KEY\n",
  "b/src/a.txt": "inner\n",
  "x b/y.txt": "tricky\n",
};
const LINKS: Readonly<Record<string, string>> = {
  "src/link": "a.txt",
  "src/out": "../../outside",
  "src/in": "../docs",
};

export const SCOPE = { allow: ["src", "docs"], deny: ["src/private"] } as const;

type Dice = ReturnType<typeof makeDice>;
type Entry = string;

/** A repository whose every file, and a folder beside it, is watched. */
export class FuzzRepository {
  readonly #folder = mkdtempSync(join(tmpdir(), "verbatim-fuzz-"));
  readonly root = join(this.#folder, "repository");
  readonly #before: ReadonlyMap<string, Entry>;

  constructor() {
    mkdirSync(join(this.#folder, "outside"), { recursive: true });
    writeFileSync(join(this.#folder, "outside", "victim.txt"), "victim\n");
    for (const [path, text] of Object.entries(FILES)) this.#write(path, text);
    for (const [path, target] of Object.entries(LINKS)) symlinkSync(target, join(this.root, path));
    chmodSync(join(this.root, "src/run.sh"), 0o755);
    for (const args of [
      ["init", "-q"],
      ["add", "-A"],
      ["-c", "user.name=f", "-c", "user.email=f@example.invalid", "commit", "-q", "-m", "base"],
    ]) {
      const { status, stderr } = spawnSync("git", args, { cwd: this.root, encoding: "utf8" });
      if (status !== 0) throw new Error(stderr);
    }
    this.#before = this.#look();
  }

  #write(path: string, text: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), text);
  }

  /** Every file and link, with its kind, mode and content. */
  #look(): Map<string, Entry> {
    const found = new Map<string, Entry>();
    const walk = (folder: string) => {
      for (const name of readdirSync(join(this.#folder, folder))) {
        const path = folder === "" ? name : `${folder}/${name}`;
        if (path === "repository/.git") continue;
        const place = join(this.#folder, path);
        const facts = lstatSync(place);
        if (facts.isDirectory()) walk(path);
        else if (facts.isSymbolicLink()) found.set(path, `link ${readlinkSync(place)}`);
        else found.set(path, `${(facts.mode & 0o100) !== 0 ? "755" : "644"} ${readFileSync(place).toString("latin1")}`);
      }
    };
    walk("");
    return found;
  }

  judge(patch: Uint8Array): Promise<PatchResult> {
    const gate = { patch, policy: DEFAULT_POLICY, scope: SCOPE, planLimits: null };
    return judgePatchWithGit(gate, createPatchChecker(this.root), null);
  }

  /** Lets git apply the patch and answers what really changed; then puts everything back. */
  apply(patch: Uint8Array): { readonly code: number; readonly changed: readonly string[]; readonly links: boolean } {
    const args = ["-c", "apply.whitespace=nowarn", "apply", "--whitespace=nowarn", "-"];
    const { status } = spawnSync("git", args, { cwd: this.root, input: patch });
    const after = this.#look();
    const changed = [...new Set([...this.#before.keys(), ...after.keys()])].filter(
      (path) => this.#before.get(path) !== after.get(path),
    );
    const links = changed.some((path) => (after.get(path) ?? "").startsWith("link "));
    if (changed.length > 0) this.#restore(changed);
    return { code: status ?? -1, changed: changed.map((path) => path.replace(/^repository\//, "")).sort(), links };
  }

  #restore(changed: readonly string[]): void {
    for (const path of changed) {
      const place = join(this.#folder, path);
      rmSync(place, { recursive: true, force: true });
      const entry = this.#before.get(path);
      if (entry === undefined) continue;
      mkdirSync(dirname(place), { recursive: true });
      if (entry.startsWith("link ")) symlinkSync(entry.slice(5), place);
      else {
        writeFileSync(place, Buffer.from(entry.slice(4), "latin1"));
        chmodSync(place, entry.startsWith("755") ? 0o755 : 0o644);
      }
    }
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

const NAMES = [
  ...Object.keys(FILES),
  ...Object.keys(LINKS),
  "src/new.txt",
  "docs/new.md",
  "src/out/victim.txt",
  "src/in/x.md",
];
const HOSTILE = [
  "../outside/victim.txt",
  "src/../secrets/key.txt",
  "/etc/hosts",
  "C:/x",
  ".git/config",
  ".GIT/config",
  "src/.git /x",
  "src//a.txt",
  "./src/a.txt",
  "src\\a.txt",
  "SRC/a.txt",
  "src/\u0065\u0301.txt",
  "src/a.txt\tx",
  "/dev/null",
  "src/a.png",
  "verbatim.config.json",
];

const pick = <T>(dice: Dice, items: readonly T[]): T => items[dice(items.length)]!;

/** A patch that is well-formed most of the time, then broken in up to three ways. */
export function makePatch(dice: Dice): Uint8Array {
  const count = 1 + dice(3);
  let text = "";
  for (let i = 0; i < count; i++) text += makeSection(dice);
  for (let i = dice(4); i > 0; i--) text = breakSomething(dice, text);
  const bytes = Buffer.from(text, "utf8");
  if (dice(12) === 0 && bytes.length > 0) bytes[dice(bytes.length)] = dice(256);
  return bytes;
}

/** A text hunk that would point a link somewhere else, or write through a linked folder. */
function linkSection(dice: Dice): string {
  if (dice(3) === 0) {
    const path = pick(dice, ["src/out/victim.txt", "src/in/guide.md"]);
    return `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-victim\n+pwned\n`;
  }
  const [path, target] = pick(dice, Object.entries(LINKS));
  const end = "\n\\ No newline at end of file\n";
  return `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-${target}${end}+../secrets/key.txt${end}`;
}

function makeSection(dice: Dice): string {
  if (dice(12) === 0) return linkSection(dice);
  const path = pick(dice, Object.keys(FILES));
  const other = dice(3) === 0 ? pick(dice, NAMES) : `src/n${dice(50)}.txt`;
  const content = FILES[path]!;
  switch (dice(7)) {
    case 0:
      return `diff --git a/${other} b/${other}\nnew file mode ${pick(dice, ["100644", "100755", "100644", "120000"])}\n--- /dev/null\n+++ b/${other}\n@@ -0,0 +1,2 @@\n+x\n+y\n`;
    case 1:
      return deletion(path, content);
    case 2:
      return `diff --git a/${path} b/${other}\nsimilarity index 100%\nrename from ${path}\nrename to ${other}\n`;
    case 3:
      return `diff --git a/${path} b/${other}\nsimilarity index 100%\ncopy from ${path}\ncopy to ${other}\n`;
    case 4:
      return `diff --git a/${path} b/${path}\nold mode ${pick(dice, ["100644", "100755"])}\nnew mode ${pick(dice, ["100755", "100644"])}\n`;
    default:
      return modification(dice, path, content);
  }
}

function deletion(path: string, content: string): string {
  const lines = content.split("\n");
  const end = lines.at(-1) === "" ? "" : "\\ No newline at end of file\n";
  const body = end === "" ? lines.slice(0, -1) : lines;
  const head = `diff --git a/${path} b/${path}\ndeleted file mode ${path.endsWith(".sh") ? "100755" : "100644"}\n`;
  if (body.length === 0) return head;
  const count = body.length === 1 ? "1" : `1,${body.length}`;
  return `${head}--- a/${path}${path.includes(" ") ? "\t" : ""}\n+++ /dev/null\n@@ -${count} +0,0 @@\n${body.map((line) => `-${line}\n`).join("")}${end}`;
}

function modification(dice: Dice, path: string, content: string): string {
  const lines = content.split("\n");
  const whole = lines.at(-1) === "";
  const body = whole ? lines.slice(0, -1) : lines;
  if (body.length === 0) return deletion(path, content);
  const at = dice(body.length);
  const tab = path.includes(" ") ? "\t" : "";
  const out = body.map((line, i) => {
    const last = !whole && i === body.length - 1 ? "\n\\ No newline at end of file" : "";
    return i === at ? `-${line}${last}\n+${line}!` : ` ${line}${last}`;
  });
  const count = body.length === 1 ? "1" : `1,${body.length}`;
  return `diff --git a/${path} b/${path}\n--- a/${path}${tab}\n+++ b/${path}${tab}\n@@ -${count} +${count} @@\n${out.join("\n")}\n`;
}

const MODES = ["100644", "100755", "120000", "160000", "040000", "100664", "000000", "644", "100644 "];
const HUNK_HEADERS = [
  "@@ -0,0 +0,0 @@",
  "@@ -1,0 +1,0 @@",
  "@@ -1 +1 @@ trailing",
  "@@ -0,0 +1 @@",
  "@@ -1 +0,0 @@",
  "@@ -1,1 +1,2 @@",
  "@@ -999999999 +999999999 @@",
  "@@ -01 +01 @@",
  "@@@ -1 -1 +1 @@@",
];
const PAYLOADS = [
  ["GIT binary patch", "literal 1", "IcmZPo000310RR91", ""],
  ["Binary files a/src/a.txt and b/src/a.txt differ"],
  ["diff --cc src/a.txt", "index 1,2..3", "--- a/src/a.txt", "+++ b/src/a.txt"],
  ["Index: secrets/key.txt", "==================================================================="],
  ["Submodule src/sub 1111111..2222222:", "  > note"],
  ["-- ", "2.39.5"],
  ["From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001", "Subject: [PATCH] x", ""],
];
const DEV_NULLS = [
  "--- /dev/null",
  "+++ /dev/null",
  '--- "/dev/null"',
  "+++ /dev/null\t",
  "--- a/dev/null",
  "+++ b//dev/null",
];

/** Names in C quotes, some of their letters as octal escapes. */
function quoteNames(line: string, dice: Dice): string {
  const quote = (name: string) => {
    const letters = [...name].map((letter) =>
      dice(4) === 0 ? `\\${letter.charCodeAt(0).toString(8).padStart(3, "0")}` : letter,
    );
    return `"${letters.join("")}"`;
  };
  return line
    .replace(/^(---|\+\+\+) (\S+)$/, (_, mark: string, name: string) => `${mark} ${quote(name)}`)
    .replace(/^((?:rename|copy) (?:from|to)) (\S+)$/, (_, mark: string, name: string) => `${mark} ${quote(name)}`)
    .replace(/^diff --git (\S+) (\S+)$/, (_, a: string, b: string) => {
      const [first, second] = [dice(2) === 0 ? quote(a) : a, dice(2) === 0 ? quote(b) : b];
      return `diff --git ${first} ${second}`;
    });
}

function breakSomething(dice: Dice, text: string): string {
  const lines = text.split("\n");
  const at = dice(lines.length);
  const line = lines[at]!;
  const name = dice(2) === 0 ? pick(dice, NAMES) : pick(dice, HOSTILE);
  switch (dice(26)) {
    case 16:
      lines[at] = line.replace(/[ab]\/(?=\S)/g, () => pick(dice, ["", "a/", "b/", "i/"]));
      break;
    case 17:
      lines[at] = quoteNames(line, dice);
      break;
    case 18:
      lines[at] = line.replace(/^(old|new|new file|deleted file) mode .*/, `$1 mode ${pick(dice, MODES)}`);
      break;
    case 19:
      lines.splice(at, 0, `index ${pick(dice, ["0000000..1111111", "e69de29..e69de29", "x..y"])} ${pick(dice, MODES)}`);
      break;
    case 20:
      lines[at] = line.replace(/^@@.*/, () => pick(dice, HUNK_HEADERS));
      break;
    case 21:
      lines.splice(at, 0, ...pick(dice, PAYLOADS));
      break;
    case 22:
      return text.replaceAll("\n", "\r\n");
    case 23:
      lines[at] = line.replace(/src\/(?=\S)/g, () => pick(dice, ["SRC/", "Src/", "src//", "src/./", "src/../src/"]));
      break;
    case 24:
      lines[at] = line.replace(/^(---|\+\+\+) .*/, () => pick(dice, DEV_NULLS));
      break;
    case 25:
      lines.splice(at, 1 + dice(4), ...lines.slice(dice(lines.length), dice(lines.length)));
      break;
    case 0:
      lines.splice(at, 1);
      break;
    case 1:
      lines.splice(at, 0, line);
      break;
    case 2:
      lines[at] = line.replace(/(?<=[ab]\/)\S.*$/, name);
      break;
    case 3:
      lines[at] = line.replace(/^(rename|copy) (from|to) .*/, `$1 $2 ${name}`);
      break;
    case 4:
      lines[at] = `${line}\r`;
      break;
    case 5:
      lines[at] = line.replace(/[0-9]+/, (digits) => String(Number(digits) + dice(3) - 1));
      break;
    case 6:
      lines.splice(at, 0, `--- a/${name}`, `+++ b/${name}`, "@@ -1 +1 @@", "-KEY", "+PWNED");
      break;
    case 7:
      lines.splice(
        at,
        0,
        pick(dice, [
          `rename old ${name}`,
          `rename from ${name}`,
          `copy to ${name}`,
          "new file mode 100644",
          "deleted file mode 100644",
          "old mode 120000",
          "GIT binary patch",
          "index 123..456 120000",
          "note",
          "similarity index 90%",
          "",
          "\\ No newline at end of file",
        ]),
      );
      break;
    case 8:
      lines[at] = line.replace(/^(---|\+\+\+) .*/, `$1 ${pick(dice, ["a/", "b/", "", "c/", "a/a/"])}${name}`);
      break;
    case 9:
      lines[at] = line.replace(/^(---|\+\+\+) (.*)/, '$1 "$2"');
      break;
    case 10:
      lines[at] = line.replace(/^diff --git .*/, `diff --git a/${name} b/${pick(dice, NAMES)}`);
      break;
    case 11:
      lines.push(`diff --git a/${name} b/${name}`, `--- a/${name}`, `+++ b/${name}`, "@@ -1 +1 @@", "-KEY", "+X", "");
      break;
    case 12:
      lines[at] = line.replace(/^(---|\+\+\+) (.*)/, `$1 $2\t${pick(dice, ["", "2020-01-01", "x"])}`);
      break;
    case 13:
      lines[at] = line.replace(/^([-+ ])/, () => pick(dice, ["-", "+", " ", ""]));
      break;
    case 14:
      lines[at] = line.replace(/^(diff --git) a\/(.*) b\/(.*)/, '$1 "a/$2" "b/$3"');
      break;
    default:
      lines.splice(at, 0, ...lines.slice(0, dice(lines.length)));
  }
  return lines.join("\n");
}

export interface FuzzCount {
  readonly accepted: number;
  readonly rejected: number;
}

/** Paths of sections that remove and add the same text: a patch may say so, and git then changes nothing. */
function listRepeated(patch: string): ReadonlySet<string> {
  const paths = new Set<string>();
  for (const section of patch.split(/^(?=diff --git )/m)) {
    const body = section.search(/^@@ /m);
    if (body === -1 || /^(?:new|deleted|old|rename|copy) /m.test(section.slice(0, body))) continue;
    const lines = section.slice(body).split("\n");
    const side = (mark: string) => lines.filter((line) => / /.test(line[0] ?? " ") || line[0] === mark);
    const [old, next] = [side("-"), side("+")].map((all) => all.map((line) => line.slice(1)).join("\n"));
    const markers = lines.filter((line, i) => line.startsWith("\\") && !lines[i - 1]!.startsWith(" ")).length;
    const name = /^\+\+\+ b\/([^\t\n]*)/m.exec(section.slice(0, body))?.[1];
    if (old === next && markers % 2 === 0 && name !== undefined) paths.add(name);
  }
  return paths;
}

/** Runs cases from a seed. Throws at the first patch that git would use to do something else than was declared. */
export async function fuzzPatches(cases: number, seed: number): Promise<FuzzCount> {
  const repository = new FuzzRepository();
  const dice = makeDice(seed);
  let accepted = 0;
  try {
    for (let i = 0; i < cases; i++) {
      const patch = makePatch(dice);
      const result = await repository.judge(patch);
      if (result.verdict === "reject") {
        // The gate and git read names and counts alike; only a wrong mode is a mismatch by the patch itself.
        if (result.code === "PATCH_GIT_MISMATCH" && !(result.stderr ?? "").includes("does not have the mode"))
          throw new Error(`case ${i}: ${result.stderr}\n${Buffer.from(patch).toString("latin1")}`);
        continue;
      }
      accepted++;
      const { code, changed, links } = repository.apply(patch);
      const repeated = listRepeated(Buffer.from(patch).toString("latin1"));
      const declared = JSON.stringify(result.changed_paths.filter((path) => !repeated.has(path)).sort());
      const inScope = changed.every((path) => /^(?:src|docs)\//.test(path) && !/^src\/private\//i.test(path));
      if (code !== 0 || links || !inScope || JSON.stringify(changed) !== declared) {
        throw new Error(
          `case ${i}: git ${code} changed ${JSON.stringify(changed)}, declared ${declared}\n${Buffer.from(patch).toString("latin1")}`,
        );
      }
    }
  } finally {
    repository.remove();
  }
  return { accepted, rejected: cases - accepted };
}
