import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";

/** One command of a guide. What it prints is null for scripts, whose output nobody promises. */
interface Step {
  readonly command: string;
  readonly printed: string | null;
}

export interface GuideOptions {
  /** Further variables, where a guide would otherwise touch the user's own folders. */
  readonly env?: Readonly<Record<string, string>>;
  /** Said on standard error by scripts that are the first to write. */
  readonly notes?: RegExp;
}

/** Runs the `sh` and `console` blocks of a guide in order; `<...>` in what is printed stands for the rest of a word or line. */
export function runGuide(page: string, folder: string, inside: string, options: GuideOptions = {}): number {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  const entry = fileURLToPath(new URL("../../bin/verbatim.js", import.meta.url));
  writeFileSync(join(bin, "verbatim"), `#!/bin/sh\nexec "${process.execPath}" "${entry}" "$@"\n`);
  chmodSync(join(bin, "verbatim"), 0o755);
  const env = { PATH: `${bin}:${process.env["PATH"]}`, HOME: folder, NO_COLOR: "1", ...options.env };
  let cwd = folder;
  const steps = readSteps(page);
  for (const { command, printed } of steps) {
    const shell = printed === null ? `set -e\n${command}` : command;
    const { status, stdout, stderr } = spawnSync("bash", ["-c", shell], { cwd, env, encoding: "utf8" });
    cwd = join(folder, inside);
    const said = options.notes === undefined ? stderr : stderr.replace(options.notes, "");
    if (printed === null) expect([status, said]).toEqual([0, ""]);
    // A slice ends without a line feed; on a page the next line begins below it.
    else expect(stdout.replace(/[^\n]$/, "$&\n"), `${command}\n${stderr}`).toMatch(toPattern(printed));
  }
  return steps.length;
}

function readSteps(page: string): Step[] {
  return [...page.matchAll(/```(sh|console)\n([\s\S]*?)```/g)].flatMap(([, kind, text]): Step[] => {
    if (kind === "sh") return [{ command: text!, printed: null }];
    return text!
      .split(/^\$ /m)
      .slice(1)
      .map((part) => ({ command: part.slice(0, part.indexOf("\n")), printed: part.slice(part.indexOf("\n") + 1) }));
  });
}

function toPattern(printed: string): RegExp {
  const literal = printed.split("<...>").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${literal.join("[^\\n]*")}$`);
}
