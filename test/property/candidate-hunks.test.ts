// git as the oracle of selections: any choice of hunks is the base with exactly those, as git itself applies them.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { formatChangePatch } from "../../src/adapters/git/change-patch.ts";
import { type FileHunks, readHunks } from "../../src/rooms/workflow/candidate/hunks.ts";
import { buildSelectedImage } from "../../src/rooms/workflow/candidate/selected-image.ts";

const folder = mkdtempSync(join(tmpdir(), "verbatim-hunks-"));
const ENV = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };

function git(cwd: string, args: readonly string[], input = ""): string {
  const { status, stdout, stderr } = spawnSync("git", args, { cwd, env: ENV, input: Buffer.from(input, "latin1") });
  if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr.toString("utf8")}`);
  return stdout.toString("latin1");
}

/** Few different lines, so that hunks have neighbours that look like them; ends of every kind. */
const line = fc.constantFrom(
  "a",
  "b",
  "",
  "  c",
  "d\r",
  "+x",
  "-y",
  "@@ -1 +1 @@",
  "\\ No newline at end of file",
  "\xff",
);
const end = fc.constantFrom("\n", "\n", "");
const text = fc
  .tuple(fc.array(line, { maxLength: 60, size: "max" }), end)
  .map(([lines, last]) => (lines.length === 0 ? "" : lines.join("\n") + last));
const edit = fc.record({ at: fc.nat(60), cut: fc.nat(3), put: fc.array(line, { maxLength: 3 }) });
const pair = fc
  .tuple(text, fc.array(edit, { minLength: 1, maxLength: 6, size: "max" }), end)
  .map(([base, edits, last]) => {
    const lines = base.split("\n");
    for (const { at, cut, put } of edits) lines.splice(at, cut, ...put);
    return { base, post: lines.join("\n") + (base.endsWith("\n") ? "" : last) };
  });

interface RawHunk {
  readonly head: RegExpExecArray;
  readonly body: readonly string[];
}

/** The hunks of each file as text, taken apart without the code under test: lines are counted, never guessed. */
function takeApart(patch: string): Map<string, { readonly names: readonly string[]; readonly hunks: RawHunk[] }> {
  const files = new Map<string, { names: string[]; hunks: RawHunk[] }>();
  const lines = patch.split("\n");
  let file = { names: [] as string[], hunks: [] as RawHunk[] };
  for (let i = 0; i < lines.length - 1; ) {
    const head = /^@@ -([0-9]+)(?:,([0-9]+))? \+([0-9]+)(?:,([0-9]+))? @@/.exec(lines[i]!);
    if (head === null) {
      if (lines[i]!.startsWith("diff --git ")) {
        file = { names: [], hunks: [] };
        files.set(/ b\/(.*)$/.exec(lines[i]!)![1]!, file);
      }
      file.names.push(lines[i++]!);
      continue;
    }
    let [old, next] = [Number(head[2] ?? 1), Number(head[4] ?? 1)];
    const body: string[] = [];
    for (i++; old > 0 || next > 0 || lines[i]!.startsWith("\\"); i++) {
      body.push(lines[i]!);
      if (lines[i]!.startsWith("\\")) continue;
      if (!lines[i]!.startsWith("+")) old--;
      if (!lines[i]!.startsWith("-")) next--;
    }
    file.hunks.push({ head, body });
  }
  return files;
}

/** A patch of some hunks of a file, the new lines counted again. */
function putTogether(names: readonly string[], hunks: readonly RawHunk[]): string {
  let shift = 0;
  const parts = hunks.map(({ head, body }) => {
    const [old, next] = [Number(head[2] ?? 1), Number(head[4] ?? 1)];
    const before = Number(head[1]) - (old === 0 ? 0 : 1) + shift;
    shift += next - old;
    return `@@ -${head[1]},${old} +${before + (next === 0 ? 0 : 1)},${next} @@\n${body.join("\n")}\n`;
  });
  return `${names.filter((name) => !name.startsWith("index ")).join("\n")}\n${parts.join("")}`;
}

/** The changes of a hunk that unchanged lines keep apart, each as a hunk without context. */
function splitRaw({ head, body }: RawHunk): RawHunk[] {
  const parts: RawHunk[] = [];
  let old = Number(head[1]) - (head[2] === "0" ? 0 : 1);
  for (let i = 0; i < body.length; ) {
    const from = i;
    while (i < body.length && /^[-+\\]/.test(body[i]!)) i++;
    const change = body.slice(from, i);
    const [cut, put] = ["-", "+"].map((mark) => change.filter((one) => one.startsWith(mark)).length);
    if (cut! + put! > 0) {
      const found = /^@@ -([0-9]+),([0-9]+) \+([0-9]+),([0-9]+) @@/.exec(
        `@@ -${old + (cut === 0 ? 0 : 1)},${cut} +0,${put} @@`,
      );
      parts.push({ head: found!, body: change });
    }
    old += cut!;
    if (i < body.length) [old, i] = [old + 1, i + 1];
  }
  return parts;
}

const PAIRS = fc.sample(pair, { seed: 20_261_116, numRuns: 150 }).filter(({ base, post }) => base !== post);
const nameOf = (i: number) => `f${String(i).padStart(3, "0")}`;
let patch: Uint8Array;
let hunks: ReadonlyMap<string, FileHunks>;
let raw: ReturnType<typeof takeApart>;

beforeAll(async () => {
  const root = join(folder, "repository");
  mkdirSync(root);
  git(root, ["init", "-q"]);
  for (const [i, { base }] of PAIRS.entries()) {
    if (i % 5 !== 0 || base !== "") writeFileSync(join(root, nameOf(i)), Buffer.from(base, "latin1"));
  }
  git(root, ["add", "-A"]);
  const tree = git(root, ["write-tree"]).trim();
  const change = await formatChangePatch({
    root,
    tree,
    objects: join(folder, "objects"),
    changes: PAIRS.map(({ post }, i) => {
      const bytes = Buffer.from(post, "latin1");
      const after = { mode: "100644" as const, hasNul: false, read: async () => bytes };
      return { path: nameOf(i), before: null, after: i % 7 === 0 && post === "" ? null : after };
    }),
  });
  patch = change.text;
  hunks = readHunks(patch, nodeCrypto);
  raw = takeApart(Buffer.from(patch).toString("latin1"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What git makes of chosen hunks, for all files at once. */
function applyWithGit(
  name: string,
  chosen: (i: number, apart: RawHunk[]) => RawHunk[],
  flags: readonly string[] = [],
): Map<number, string> {
  const place = join(folder, name);
  mkdirSync(place);
  let text = "";
  const asked: number[] = [];
  for (const [i, { base }] of PAIRS.entries()) {
    const file = raw.get(nameOf(i));
    const picked = file === undefined ? [] : chosen(i, file.hunks);
    if (picked.length === 0) continue;
    if (!file!.names.some((line) => line.startsWith("new file"))) {
      writeFileSync(join(place, nameOf(i)), Buffer.from(base, "latin1"));
    }
    asked.push(i);
    text += putTogether(file!.names, picked);
  }
  git(place, ["apply", "--whitespace=nowarn", ...flags, "-"], text);
  return new Map(
    asked.flatMap((i) => {
      const gone = raw.get(nameOf(i))!.names.some((line) => line.startsWith("deleted file"));
      return gone ? [] : [[i, readFileSync(join(place, nameOf(i))).toString("latin1")] as const];
    }),
  );
}

const build = (i: number, picked: "all" | (number | string)[]) =>
  Buffer.from(
    buildSelectedImage(Buffer.from(PAIRS[i]!.base, "latin1"), hunks.get(nameOf(i))?.hunks ?? [], {
      path: nameOf(i),
      hunks: picked,
    }),
  ).toString("latin1");

describe("selections of hunks", () => {
  it("are the candidate with all of them, and the base with none", () => {
    for (const [i, { base, post }] of PAIRS.entries()) {
      expect(build(i, "all")).toBe(post);
      expect(build(i, [])).toBe(base);
      const all = (hunks.get(nameOf(i))?.hunks ?? []).map(({ facts }) => facts.n);
      expect(build(i, all)).toBe(post);
      // The order in which they are named does not matter.
      expect(build(i, all.toReversed())).toBe(post);
    }
    const counts = [...hunks.values()].map((file) => file.hunks.length);
    expect(counts.filter((count) => count > 1).length).toBeGreaterThan(40);
  });

  it.each([1, 2, 3, 4])("are what git apply makes of the same hunks, choice %i", (seed) => {
    const isChosen = (i: number, n: number) => ((i * 31 + n * 17) ^ (seed * 0x9e37)) % 3 !== seed % 3;
    const answers = applyWithGit(`choice-${seed}`, (i, apart) => apart.filter((_, k) => isChosen(i, k + 1)));
    expect(answers.size).toBeGreaterThan(40);
    for (const [i, expected] of answers) {
      const picked = hunks.get(nameOf(i))!.hunks.map(({ facts }) => facts.n);
      expect(
        build(
          i,
          picked.filter((n) => isChosen(i, n)),
        ),
      ).toBe(expected);
    }
  });

  it.each([0, 1, 2])("take a part of a hunk as git takes it without context, choice %i", (seed) => {
    const isChosen = (i: number, n: number, k: number) => (i + n * 3 + k * 5 + seed) % 3 !== 0;
    const picks = new Map<number, string[]>();
    const answers = applyWithGit(
      `parts-${seed}`,
      (i, apart) =>
        apart.flatMap((hunk, n) => {
          const parts = splitRaw(hunk);
          if (parts.length < 2) return [];
          const chosen = [...parts.keys()].filter((k) => isChosen(i, n, k));
          picks.set(i, [...(picks.get(i) ?? []), ...chosen.map((k) => `${n + 1}.${k + 1}`)]);
          return chosen.map((k) => parts[k]!);
        }),
      ["--unidiff-zero"],
    );
    expect(answers.size).toBeGreaterThan(40);
    for (const [i, expected] of answers) expect(build(i, picks.get(i)!)).toBe(expected);
  });

  it("number every part of a hunk, and all parts are the hunk", () => {
    for (const [i] of PAIRS.entries()) {
      const apart = raw.get(nameOf(i))?.hunks ?? [];
      for (const [k, { facts }] of (hunks.get(nameOf(i))?.hunks ?? []).entries()) {
        const parts = splitRaw(apart[k]!);
        const names = facts.parts?.map(({ n }) => n);
        expect(names).toEqual(parts.length < 2 ? undefined : parts.map((_, part) => `${facts.n}.${part + 1}`));
        if (names !== undefined) expect(build(i, names)).toBe(build(i, [facts.n]));
      }
    }
  });

  it("give a hunk an id of its path, its first line and its bytes", () => {
    const ids = new Set<string>();
    for (const [name, file] of hunks) {
      const apart = raw.get(name)!.hunks;
      for (const [k, { facts }] of file.hunks.entries()) {
        const bytes = Buffer.from(`${name}\0${apart[k]!.head[1]}\0${apart[k]!.body.join("\n")}\n`, "latin1");
        expect(facts.id).toBe(`h_${nodeCrypto.sha256(bytes).slice(0, 12)}`);
        ids.add(facts.id);
      }
    }
    expect(ids.size).toBe([...hunks.values()].reduce((sum, file) => sum + file.hunks.length, 0));
  });
});
