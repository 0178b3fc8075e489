import { expect, it } from "vitest";
import { runHere } from "../support/cli-in-process.ts";

// Guards: what a person reads about the policy is what the gate judges by, with the flag that helps.

it("verbatim agent --help policy prints every class with its paths, its rule and its flag", async () => {
  const { exit, stdout, stderr } = await runHere(["agent", "--help", "policy"], { cwd: process.cwd(), env: {} });
  expect([exit, stderr]).toEqual([0, ""]);
  const classes = stdout.split("\n").filter((line) => /^[a-z]/.test(line) && !/^(?:to it|and max)/.test(line));
  expect(classes).toEqual([
    "never",
    "protected: CI",
    "protected: agents and editors",
    "protected: hooks and tools",
    "secret",
    "size",
    "content",
    "notice only",
    "notice only",
    "notice only",
    "ordinary",
  ]);
  for (const words of [
    "refused (POLICY_NEVER); there is no flag for it",
    "because it decides what CI runs; allow it: --permit PATH: .github/workflows/,",
    ".devcontainer/",
    "verbatim.config.json,",
    "!.env.example,",
    "50 files: --max-files N,",
    "2000 added lines: --max-added-lines N,",
    "github-token,",
    "tells later agents what to do: AGENTS.md,",
    "scripts.postinstall of package.json,",
    "files that a verify command names",
  ]) {
    expect(stdout.replace(/\n */g, " ")).toContain(words);
  }
  // Any other word after --help is no page.
  expect((await runHere(["agent", "--help"], { cwd: process.cwd(), env: {} })).stdout).toMatch(/--help\s+policy/);
});
