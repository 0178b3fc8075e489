// git merge-file as the oracle of landing: random base, working file and candidate give what it gives, and nothing else moves.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type LandingPlan, planLanding } from "../../src/rooms/workflow/landing/plan-landing.ts";
import { undoLanding } from "../../src/rooms/workflow/landing/recover-landing.ts";
import { writeLanding } from "../../src/rooms/workflow/landing/write-landing.ts";
import { LandingRepo } from "../support/landing-repo.ts";

const line = fc.constantFrom("a", "b", "c", "", "d\r", "<<<<<<< x", "=======", "e");
const lines = fc.array(line, { minLength: 6, maxLength: 24, size: "max" });
const edit = fc.record({ at: fc.nat(24), cut: fc.nat(2), put: fc.array(line, { maxLength: 2 }) });
const edits = fc.array(edit, { maxLength: 2 });
const end = fc.constantFrom("\n", "\n", "\n", "");
const triple = fc.tuple(lines, edits, edits, end, end, end).map(([base, mine, its, ...ends]) => {
  const make = (changes: readonly { at: number; cut: number; put: string[] }[], last: string) => {
    const all: string[] = [...base];
    for (const { at, cut, put } of changes) all.splice(at, cut, ...put);
    return all.join("\n") + last;
  };
  return { B: make([], ends[0]!), N: make(mine, ends[1]!), C: make(its, ends[2]!) };
});

const CASES = fc.sample(triple, { seed: 17, numRuns: 70 });
const nameOf = (i: number) => `dir${i % 3}/f${i}`;
const all = (side: "B" | "N" | "C") => Object.fromEntries(CASES.map((one, i) => [nameOf(i), one[side]]));

/** What git makes of a case in a folder of its own. */
function askGit(folder: string, { B, N, C }: (typeof CASES)[number]): { readonly code: number; readonly text: string } {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries({ B, N, C })) writeFileSync(join(folder, name), text);
  const { status, stdout } = spawnSync("git", ["merge-file", "-p", "--diff3", "N", "B", "C"], { cwd: folder });
  return { code: status!, text: stdout.toString() };
}

let repo: LandingRepo;
let plan: LandingPlan;
let before: Record<string, string>;
const expected = new Map<string, string | null>();

beforeAll(async () => {
  repo = new LandingRepo({ ...all("B"), "dir0/other": "x\n", other: "x\n" });
  repo.write({ ...all("N"), "dir0/other": "mine\n", "dir1/untracked": "mine\n" });
  before = repo.manifest();
  plan = await planLanding(repo.ports, repo.base, await repo.candidate(all("C")));
  for (const [i, one] of CASES.entries()) {
    const { code, text } = askGit(join(repo.folder, "oracle", String(i)), one);
    expected.set(nameOf(i), code === 0 ? text : null);
  }
});
afterAll(() => repo.remove());

describe("landing on a tree that moved on", () => {
  it("plans a conflict exactly where git has one", () => {
    const conflicts = plan.files.filter(({ how }) => how === "conflict").map(({ path }) => path);
    const theirs = [...expected].filter(([, text]) => text === null).map(([path]) => path);
    expect(new Set(conflicts)).toEqual(new Set(theirs));
    expect(conflicts.length).toBeGreaterThan(5);
  });

  it("names lines of the file as it is now for every conflict", () => {
    for (const { path, how, ranges } of plan.files) {
      if (how !== "conflict") continue;
      const count = repo.read(path).split("\n").length;
      expect(ranges.length).toBeGreaterThan(0);
      for (const { start, end: last } of ranges) {
        expect(start).toBeGreaterThanOrEqual(1);
        expect(last).toBeGreaterThanOrEqual(start);
        expect(last).toBeLessThanOrEqual(count + 1);
      }
    }
  });

  it("writes what git merge-file gives, leaves everything else and the index alone, and can be undone", async () => {
    const rest = { files: plan.files.filter(({ how }) => how !== "conflict") };
    expect(rest.files.filter(({ how }) => how === "merged").length).toBeGreaterThan(5);
    await writeLanding(repo.ports, { folder: repo.run, l: 1 }, rest);
    const after = repo.manifest();
    for (const [path, text] of expected) {
      if (text !== null) expect(repo.read(path)).toBe(text);
    }
    const landed = new Set(rest.files.map(({ path }) => path));
    const others = (manifest: Record<string, string>) =>
      Object.fromEntries(Object.entries(manifest).filter(([path]) => !landed.has(path)));
    expect(others(after)).toEqual(others(before));
    undoLanding(repo.ports, { folder: repo.run, l: 1 });
    expect(repo.manifest()).toEqual(before);
  });
});
