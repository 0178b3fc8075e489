import { execFileSync } from "node:child_process";
import { cpSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { openApp } from "../../src/app/call.ts";
import { makeAgentRepo, recordWithTools, type Summary } from "./agent-repo.ts";

/** Random edit scripts over random trees: what an agent leaves must come out of its patch, file by file. */

type Step = readonly [name: string, ...values: (string | number)[]];

/** A small generator, so that a seed names a case for ever. */
function makeDice(seed: number): (sides: number) => number {
  let state = (seed * 2654435761 + 1) >>> 0;
  return (sides) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 4294967296) * sides);
  };
}

const WORDS = ["lamp", "oil", "gear", "tide", "gull", "rock", "Übung", "with space", "naïve", 'quote"d'];

function makeText(dice: (sides: number) => number): string {
  const end = ["\n", "\n", "\n", "\r\n"][dice(4)]!;
  const lines = Array.from({ length: dice(30) }, () => `${WORDS[dice(WORDS.length)]} ${dice(9)}`);
  return lines.join(end) + (dice(4) === 0 ? "" : end);
}

function makePath(dice: (sides: number) => number): string {
  const depth = dice(3);
  const parts = Array.from({ length: depth }, () => `d${dice(4)}`);
  return [...parts, `${WORDS[dice(WORDS.length)]}${dice(6)}.txt`].join("/");
}

/** The program that plays an agent: it follows a list of steps and then keeps a copy of what it left. */
const PLAYER = `
import { appendFileSync, chmodSync, cpSync, existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
const [, , file, kept] = process.argv;
const isFile = (path) => existsSync(path) && lstatSync(path).isFile();
const make = (path, text) => { try { mkdirSync(dirname(path), { recursive: true }); writeFileSync(path, text); } catch (e) { if (!["EEXIST", "ENOTDIR", "EISDIR"].includes(e.code)) throw e; } };
for (const [name, a, b] of JSON.parse(readFileSync(file, "utf8"))) {
  if (name === "write") make(a, b);
  if (name === "append" && isFile(a)) appendFileSync(a, b);
  if (name === "prepend" && isFile(a)) writeFileSync(a, b + readFileSync(a, "utf8"));
  if (name === "cut" && isFile(a)) writeFileSync(a, readFileSync(a, "utf8").split("\\n").filter((_, i) => i % 7 !== b).join("\\n"));
  if (name === "empty" && isFile(a)) truncateSync(a, 0);
  if (name === "remove") rmSync(a, { recursive: true, force: true });
  if (name === "mode" && isFile(a)) chmodSync(a, b);
  if (name === "move" && existsSync(a) && !existsSync(b) && !b.startsWith(a + "/")) { try { mkdirSync(dirname(b), { recursive: true }); renameSync(a, b); } catch (e) { if (!["EEXIST", "ENOTDIR", "ENOTEMPTY", "EXDEV"].includes(e.code)) throw e; } }
  if (name === "folder") { try { mkdirSync(a, { recursive: true }); } catch (e) { if (!["EEXIST", "ENOTDIR"].includes(e.code)) throw e; } }
  if (name === "binary") make(a, Buffer.from([0, 1, 2, b]));
  if (name === "link" && !existsSync(a)) { try { mkdirSync(dirname(a), { recursive: true }); symlinkSync("nowhere", a); } catch (e) { if (!["EEXIST", "ENOTDIR"].includes(e.code)) throw e; } }
}
cpSync(".", kept + "/left", { recursive: true, verbatimSymlinks: true, filter: (path) => ![".git", ".verbatim"].includes(path) });
`;

function makeSteps(dice: (sides: number) => number, known: readonly string[]): Step[] {
  const any = () => (dice(3) === 0 ? makePath(dice) : known[dice(known.length)]!);
  return Array.from({ length: 1 + dice(14) }, (): Step => {
    switch (dice(12)) {
      case 0:
      case 1:
        return ["write", makePath(dice), makeText(dice)];
      case 2:
      case 3:
        return ["append", any(), makeText(dice)];
      case 4:
        return ["prepend", any(), makeText(dice)];
      case 5:
        return ["cut", any(), dice(7)];
      case 6:
        return ["empty", any()];
      case 7:
        return ["remove", dice(4) === 0 ? `d${dice(4)}` : any()];
      case 8:
        return ["mode", any(), dice(2) === 0 ? 0o755 : 0o644];
      case 9:
        return ["move", dice(3) === 0 ? `d${dice(4)}` : any(), dice(2) === 0 ? makePath(dice) : `moved/${dice(9)}`];
      case 10:
        return dice(2) === 0 ? ["folder", `empty${dice(3)}`] : ["write", `out/${dice(9)}.txt`, "ignored\n"];
      default:
        return dice(2) === 0 ? ["binary", `bin${dice(3)}.dat`, dice(200)] : ["link", `link${dice(3)}`];
    }
  });
}

/** Plays one case; everything that does not hold is an assertion that names the seed. */
export async function playRandomCase(seed: number): Promise<void> {
  const dice = makeDice(seed);
  const repo = makeAgentRepo();
  const known = [...new Set(Array.from({ length: 3 + dice(25) }, () => makePath(dice)))];
  for (const path of known) {
    repo.write(path, makeText(dice), dice(5) === 0 ? 0o755 : 0o644);
  }
  repo.write(".gitignore", "out/\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  if (dice(2) === 0) repo.write(known[0]!, makeText(dice));
  if (dice(2) === 0) repo.write(`untracked${dice(9)}.txt`, makeText(dice));
  const before = recordWithTools(repo.root);
  const kept = join(repo.base, "kept");
  mkdirSync(kept);
  writeFileSync(join(kept, "player.mjs"), PLAYER);
  writeFileSync(join(kept, "steps.json"), JSON.stringify(makeSteps(dice, known)));
  const env = { PATH: process.env["PATH"], HOME: join(repo.base, "home"), XDG_STATE_HOME: join(repo.base, "state") };
  await using app = openApp({ surface: "library", start: repo.root, env, platform: process.platform });
  const summary = (await app.call("agent.run", {
    goal: `case ${seed}`,
    no_verify: true,
    max_files: 500,
    max_added_lines: 100_000,
    keep: [kept],
    leave_out: ["bin0.dat", "bin1.dat", "bin2.dat", "link0", "link1", "link2"],
    command: [process.execPath, join(kept, "player.mjs"), join(kept, "steps.json"), kept],
  })) as Summary;
  const isReady = ["unverified", "unchanged"].includes(summary.outcome);
  expect([seed, isReady ? null : summary.reason, isReady]).toEqual([seed, null, true]);
  expect([seed, recordWithTools(repo.root) === before]).toEqual([seed, true]);
  const copy = join(repo.base, "copy");
  cpSync(repo.root, copy, { recursive: true, verbatimSymlinks: true, filter: (path) => !path.endsWith("/.verbatim") });
  if (summary.outcome === "unverified") {
    execFileSync("git", ["apply", "--whitespace=nowarn", join(summary.run_dir, "artifacts/diff.patch")], { cwd: copy });
  }
  expect({ seed, tree: listTree(copy) }).toEqual({ seed, tree: listTree(join(kept, "left")) });
}

/** Files with their executable bit and content; what is reported instead of carried is left out. */
function listTree(root: string): Record<string, string> {
  const tree: Record<string, string> = {};
  const visit = (folder: string): void => {
    for (const name of readdirSync(join(root, folder))) {
      const path = folder === "" ? name : `${folder}/${name}`;
      if ([".git", ".verbatim", "out"].includes(path) || /^(?:bin|link)[0-9]/.test(path)) continue;
      const facts = lstatSync(join(root, path));
      if (facts.isDirectory()) visit(path);
      else if (facts.isFile()) {
        const mode = (facts.mode & 0o100) === 0 ? "-" : "x";
        tree[path] = `${mode} ${readFileSync(join(root, path)).toString("latin1")}`;
      } else tree[path] = "other";
    }
  };
  visit("");
  return tree;
}
