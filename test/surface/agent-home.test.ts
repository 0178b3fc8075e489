import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeFolder, runCli } from "../support/cli.ts";

/** The flagship as most people have it: state and home where the system puts them, one inside the other. */

function makeRepository(): string {
  const root = join(makeFolder(), "clock");
  mkdirSync(join(root, "..", "home"), { recursive: true });
  mkdirSync(join(root, "src"), { recursive: true });
  writeFileSync(join(root, "src", "clock.mjs"), 'export const hourOf = (text) => Number(text.split(":")[1]);\n');
  writeFileSync(
    join(root, "check.mjs"),
    'import { hourOf } from "./src/clock.mjs";\nif (hourOf("07:30") !== 7) process.exit(1);\n',
  );
  const who = ["-c", "user.name=Mira", "-c", "user.email=mira@lamp.example"];
  for (const args of [
    ["init", "-q"],
    ["add", "-A"],
    [...who, "commit", "-qm", "start"],
  ]) {
    execFileSync("git", args, { cwd: root });
  }
  return root;
}

const goal = ["agent", "--goal", "fix hourOf", "--verify", "node check.mjs", "--apply", "never"];

describe("an agent with the usual home", () => {
  it("is isolated, gated and verified, and leaves the real tree and home alone", async () => {
    const cwd = makeRepository();
    const before = readFileSync(join(cwd, "src", "clock.mjs"), "utf8");
    const script = "sed -i 's/\\[1\\]/[0]/' src/clock.mjs; echo stray > \"$HOME/stray.txt\"";
    const { exit, stdout, stderr } = await runCli([...goal, "--", "sh", "-c", script], { cwd });
    expect([exit, stderr.includes("error[")]).toEqual([0, false]);
    expect(stdout).toContain("src/clock.mjs");
    expect(readFileSync(join(cwd, "src", "clock.mjs"), "utf8")).toBe(before);
    expect(() => readFileSync(join(cwd, "..", "home", "stray.txt"))).toThrow("ENOENT");
  });

  it("ends with a code when its command cannot be started", async () => {
    const cwd = makeRepository();
    const { exit, stderr } = await runCli([...goal, "--", "no-such-agent-anywhere"], { cwd });
    expect(exit).not.toBe(0);
    expect(stderr).toMatch(/error\[[A-Z_]+\]/);
  });
});
