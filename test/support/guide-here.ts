import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { BIN } from "./cli.ts";
import { runInProcess } from "./cli-in-process.ts";
import { findCommandProblem, splitLine } from "./command-lines.ts";

/** Where a guide is typed: an empty folder, and the surroundings of whoever types it. */
export interface Desk {
  readonly base: string;
  readonly env: Readonly<Record<string, string>>;
}

interface Block {
  readonly kind: string;
  readonly text: string;
}

/** What a command line printed, and how it ended. */
interface Said {
  readonly both: string;
  readonly exit: number | null;
}

/** Anything of a shell: such a line is for bash, everything else is asked in this process, which costs a thirtieth. */
const SHELL = /[|<>;&$`\\*~]/;
const QUOTED = /"[^"$`\\]*"|'[^']*'/g;

/**
 * Types a guide as it stands, block by block, and compares what is printed:
 * `sh` blocks are scripts that must succeed; `console` blocks have commands behind `$` and what they print below;
 * `sh by-hand` blocks need an agent, a browser or a network, so their commands are only parsed. Other blocks are not commands.
 * Returns how many commands there were of each sort.
 */
export async function typeGuide(page: string, desk: Desk): Promise<{ readonly run: number; readonly parsed: number }> {
  const counts = { run: 0, parsed: 0 };
  let cwd = desk.base;
  let last: Said = { both: "", exit: 0 };
  for (const { kind, text } of readBlocks(page)) {
    if (kind === "sh by-hand") counts.parsed += await parseLines(text, desk.base);
    if (kind === "sh") {
      cwd = runScript(text, cwd, desk);
      counts.run += 1;
    }
    if (kind !== "console") continue;
    for (const { command, printed } of readSteps(text)) {
      counts.run += 1;
      last = command === "echo $?" ? { both: `${last.exit}\n`, exit: 0 } : await runLine(command, cwd, desk);
      expect(`$ ${command}\n${toSame(last.both)}`).toMatch(toPattern(`$ ${command}\n${toSame(printed)}`));
    }
  }
  return counts;
}

/** The fenced blocks of a page, with the whole of what stands behind the fence. */
export function readBlocks(page: string): Block[] {
  return [...page.matchAll(/^```([^\n`]*)\n([\s\S]*?)^```$/gm)].map(([, kind, text]) => ({ kind: kind!, text: text! }));
}

function readSteps(text: string): { readonly command: string; readonly printed: string }[] {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => ({ command: part.slice(0, part.indexOf("\n")), printed: part.slice(part.indexOf("\n") + 1) }));
}

async function parseLines(text: string, folder: string): Promise<number> {
  const lines = text
    .split("\n")
    .map((line) => line.replace(/\s+#.*$/, "").replace(/^npx (?:-y )?verbatim-agent\b/, "verbatim"));
  const ours = lines.filter((line) => line.startsWith("verbatim"));
  for (const line of ours) expect([line, await findCommandProblem(splitLine(line), folder)]).toEqual([line, null]);
  return ours.length;
}

async function runLine(command: string, cwd: string, { env, base }: Desk): Promise<Said> {
  const isPlain = command.startsWith("verbatim ") && !SHELL.test(command.replaceAll(QUOTED, ""));
  if (isPlain) return await runInProcess(splitLine(command).slice(1), cwd, false, env);
  return bash(command, cwd, { env, base });
}

/** Runs a script; the folder it ends in is where the guide goes on. */
function runScript(script: string, cwd: string, desk: Desk): string {
  const place = join(desk.base, ".pwd");
  const { exit, both } = bash(`set -e\n${script}\npwd > '${place}'`, cwd, desk);
  expect([script, exit, both]).toEqual([script, 0, expect.any(String)]);
  return readFileSync(place, "utf8").trim();
}

/** A PATH on which `verbatim` is the program that was built. */
export function shimPath({ env, base }: Desk): string {
  const bin = join(base, ".bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "verbatim"), `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`);
  chmodSync(join(bin, "verbatim"), 0o755);
  return `${bin}:${env["PATH"]}`;
}

function bash(command: string, cwd: string, desk: Desk): Said {
  const own = { ...desk.env, PATH: shimPath(desk) };
  const { status, stdout } = spawnSync("bash", ["-c", `{ ${command}\n} 2>&1`], { cwd, env: own, encoding: "utf8" });
  return { both: stdout, exit: status };
}

/** What differs from run to run, and how lines are broken because of it. */
export function toSame(text: string): string {
  return (
    text
      .replaceAll(/^(?:created|looking at the tree) .*\n/gm, "")
      // How many variables somebody has is theirs.
      .replaceAll(/^ +\d+ variables? (?:was|were) kept from it.*\n/gm, "")
      .replaceAll(/\d{8}-\d{6}-[0-9a-f]{6}/g, "RUN")
      .replaceAll(/\b[0-9a-f]{64}\b/g, "HASH")
      .replaceAll(/\b[0-9a-f]{12} and /g, "BASE and ")
      .replaceAll(/\b\d+(?:\.\d)? m?s\b/g, "TIME")
      .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d/g, "DATE")
      .replaceAll(/checked [\d,]+ files/g, "checked MANY files")
      .replaceAll(/(?<=^|\s)[0-9a-f]{6}(?=\s)/gm, "SHORT")
      .replaceAll(/\s+/g, " ")
      .trim()
  );
}

/** `<...>` stands for anything that fits on its line or two. */
export function toPattern(text: string): RegExp {
  const literal = text.split("<...>").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${literal.join("[^]{0,4000}?")}$`);
}
