import { expect, it } from "vitest";
import { listDoubts } from "./agent-dialogue.ts";
import { type AgentView, renderAgent } from "./agent-text.ts";
import type { Io } from "./io.ts";

const VIEW: AgentView = {
  run_id: "r1",
  run_dir: ".verbatim/runs/r1",
  goal: "mend the lamp",
  outcome: "rejected",
  code: null,
  reason: "src/lamp\u001b[2J\n✓ verified is outside the scope",
  created_at: "2026-01-01T00:00:00.000Z",
  duration_ms: 1000,
  base: { commit: "0".repeat(40), dirty: [], dirty_count: 0 },
  agent: {
    argv: ["agent"],
    exit_code: 0,
    duration_ms: 900,
    commits: 0,
    stdout: "",
    stderr: "",
    profile: null,
    withheld: [],
    hidden: [],
    seen: [],
    not_hidden: [],
    login: [],
    caps: null,
    money: null,
  },
  proof: null,
  changes: {
    files: [],
    added_lines: 0,
    deleted_lines: 0,
    ignored: 0,
    binaries: [],
    links: [],
    not_carried: [],
  },
  gate: null,
  verify: null,
  landing: null,
  shown: { files: [], bytes: 0 },
  network: null,
  kept: [],
  hooks: { reported: 0, reported_blocked: 0 },
  usage: null,
};

it("before a change is applied somebody hears who decided about it, and what else a file of it does", () => {
  const file = { path: "t.js", operation: "modify", added: 1, deleted: 1, kind: "text", bytes: 1 } as const;
  const decides = { ...file, notices: ["decides how the change is verified"] };
  const tells = { ...file, path: "AGENTS.md", notices: ["tells later agents what to do"] };
  const changes = { ...VIEW.changes, files: [decides, tells, { ...file, path: "a.js", notices: [] }] };
  const doubts = listDoubts({ ...VIEW, outcome: "verified", changes }, { run: "@" });
  expect(doubts).toEqual({
    said: ["t.js decides how the change is verified"],
    asked: ["AGENTS.md tells later agents what to do"],
  });
  expect(listDoubts({ ...VIEW, outcome: "rejected", changes }, { run: "@" })).toEqual({ said: [], asked: [] });
});

it("what a command printed keeps its indentation where its line is broken, and the whole of it is one command away", () => {
  const lines: string[] = [];
  const same = (text: string) => text;
  const paint = { good: same, bad: same, warn: same, dim: same, bold: same };
  const message = `npm test ended with exit code 1\n\tat ${"Assertion ".repeat(8)}(index.js:96)`;
  const verify: AgentView["verify"] = {
    result: "FAIL",
    isolation: "catalytic",
    catalytic_run: null,
    on: "on your tree with its ignored files",
    setup: [],
    also_fails: false,
    notices: [],
    commands: [{ cmd: "npm test", exit_code: 1, duration_ms: 5 }],
    failures: [{ kind: "command_failed", id: "VERIFY_FAILED", message }],
  };
  const io = { line: (text = "") => lines.push(text), paint, width: 60 } as unknown as Io;
  renderAgent({ ...VIEW, outcome: "verify_failed", reason: "npm test ended with exit code 1", verify }, io);
  const at = lines.findIndex((line) => line.includes("at Assertion"));
  expect(lines[at]).toBe(`${" ".repeat(18)}at Assertion Assertion Assertion`);
  expect(lines[at + 1]).toMatch(/^ {18}Assertion/);
  expect(lines).toContainEqual(expect.stringMatching(/what it printed: +verbatim agent logs r1 --verify$/));
});

it("a number and its unit stay on one line", () => {
  const same = (text: string) => text;
  const paint = { good: same, bad: same, warn: same, dim: same, bold: same };
  const goal = "wait no longer than 43 ms for the lamp";
  for (let width = 24; width <= 60; width++) {
    const lines: string[] = [];
    renderAgent({ ...VIEW, goal }, { line: (text = "") => lines.push(text), paint, width } as unknown as Io);
    expect([width, lines.filter((line) => line.endsWith(" 43") || line.includes("43 ms")).length]).toEqual([width, 1]);
    expect([width, lines.filter((line) => line.endsWith(" 43"))]).toEqual([width, []]);
  }
});

it.each(["rejected", "interrupted"] as const)(
  "a name inside the reason of a %s run forges no line and no colour",
  (outcome) => {
    const lines: string[] = [];
    const same = (text: string) => text;
    const paint = { good: same, bad: same, warn: same, dim: same, bold: same };
    renderAgent({ ...VIEW, outcome }, { line: (text = "") => lines.push(text), paint, width: 80 } as unknown as Io);
    expect(lines.filter((line) => line.includes("src/lamp"))).toHaveLength(1);
    expect(lines.join("")).not.toMatch(/[\n\u001b]/);
  },
);
