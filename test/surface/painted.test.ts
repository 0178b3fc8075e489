import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { findTool } from "../../src/adapters/guards/tools.ts";
import { type AgentRepo, makeAgentRepo } from "../support/agent-repo.ts";
import { bundleChild } from "../support/child.ts";
import { PAINTED } from "../support/painted-verbs.ts";

// Guards: every verb that paints, on a real terminal: real colours, no marks of ours, and the text that a pipe gets.

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SCRIPT = findTool("script");
const COUNT = PAINTED.length;
const SGR = /\u001b\[\d+m/g;

const READING = {
  intent: "Read about the lamp.",
  refs: ["@NOTES/LAMP"],
  ops: [{ type: "READ", target: "@NOTES/LAMP", params: {} }],
  budgets: { max_symbols: 10, max_sections: 5, max_bytes_expanded: 10_000, max_expands_per_step: 3 },
  required_outputs: [],
};
const REQUEST = {
  schema_version: "ctcp-file-request-v1",
  goal: "light it",
  needs: [{ path: "lamp.txt", mode: "full" }],
  budget: { max_files: 5, max_total_bytes: 1000 },
  reason: "to see whether it burns",
};

function makeSample(): AgentRepo {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "off\n");
  repo.write("docs/lamp.md", "# The lamp\n\nIt burns.\n");
  repo.write("guardrails.md", "find_mode: resolver_only\nmax_files: 5\nmax_total_bytes: 1000\nmax_iterations: 1\n");
  repo.write("lamp.patch", "--- a/lamp.txt\n+++ b/lamp.txt\n@@ -1 +1 @@\n-off\n+on\n");
  repo.write("bad-vectors.json", '[{"id":"x","area":"core.canonical","name":"x","input":{"text":"{}"},"expected":{}}]');
  repo.write("message.json", "{}");
  repo.write("read.json", JSON.stringify(READING));
  repo.write("request.json", JSON.stringify(REQUEST));
  repo.write("symbols.jsonl", "");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  return repo;
}

/** What each command line printed, and how it ended. */
function run(file: string, isTerminal: boolean): { readonly text: string; readonly exit: string }[] {
  const repo = makeSample();
  const child = [process.execPath, file, repo.root, `${COUNT - (isTerminal ? 0 : 1)}`];
  const line = `${child.map((word) => `'${word}'`).join(" ")} 2>&1`;
  const words = isTerminal ? [SCRIPT!, "-qefc", `stty cols 80; ${line}`, "/dev/null"] : ["sh", "-c", line];
  const { NO_COLOR: _, ...surroundings } = repo.env;
  const env = { ...surroundings, TERM: "xterm" };
  const { stdout } = spawnSync(words[0]!, words.slice(1), { cwd: ROOT, env, encoding: "utf8", maxBuffer: 1 << 26 });
  const parts = stdout
    .replaceAll("\r", "")
    .replaceAll(repo.base, "BASE")
    .split(/^=== \d+\n/m)
    .slice(1);
  return parts.map((part) => {
    const [, text = "", exit = ""] = /^([\s\S]*)=== exit (\d+)\n/.exec(part) ?? [];
    return { text, exit };
  });
}

/** Without what differs from run to run: hashes, ids, times and the space they take. */
function even(text: string): string {
  return text
    .replace(/\b(?=[0-9a-f]*\d)[0-9a-f]{6,}…?\b|\d+(?:\.\d+)?/g, "#")
    .replace(/#(?:[-:.]#)+Z?/g, "#")
    .replace(/# (?:ms|s)\b/g, "# s")
    .replace(/ {2,}/g, " ");
}

describe("verbs that paint", () => {
  it("are all in the table", () => {
    const folder = join(ROOT, "src/surfaces/cli/nouns");
    const painting = readdirSync(folder).filter((file) => readFileSync(join(folder, file), "utf8").includes("paint"));
    const nouns = new Set(painting.map((file) => file.replace(/(?:-.*)?\.ts$/, "")));
    const tried = new Set(PAINTED.map(([noun]) => noun!));
    expect([...nouns].filter((noun) => !tried.has(noun))).toEqual([]);
  });

  it("show colours on a terminal and the same text as in a pipe, and no mark of ours", async ({ skip }) => {
    if (SCRIPT === null || process.platform !== "linux") skip("needs Linux and script");
    const { file, remove } = await bundleChild("test/support/painted-child.ts");
    onTestFinished(remove);
    const terminal = run(file, true);
    const pipe = run(file, false);
    expect([terminal.length, pipe.length]).toEqual([COUNT, COUNT - 1]);
    const problems = PAINTED.flatMap((words, i) => {
      const { text, exit } = terminal[i]!;
      const piped = pipe[i] ?? { text: text.replace(SGR, ""), exit };
      // The terminal of an agent is set back with codes of its own; what is said about the run comes after them.
      const plain = text.replace(SGR, "").replace(/^[\s\S]*(?:\n|\u001b\(B)(?=agent run )/, "");
      const [shown, expected] = [even(plain), even(piped.text)];
      return [
        ...(text.search(SGR) === -1 ? ["no colours on a terminal"] : []),
        ...(plain.match(/[\x00-\x08\x0b-\x1f\x7f\ufffd]|[0-9a-f]{16}\[\d+m/g) ?? []),
        // Where somebody was asked a question, what led to it is not said again.
        ...(shown !== "" && expected.endsWith(shown) ? [] : [`${shown}\nin a pipe:\n${expected}`]),
        ...(piped.text.match(SGR) ?? []),
        ...(exit === piped.exit ? [] : [`exit ${exit}, in a pipe ${piped.exit}`]),
      ].map((problem) => `${words.join(" ")}: ${problem}`);
    });
    expect(problems).toEqual([]);
  });
});
