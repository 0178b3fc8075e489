import { expect, it } from "vitest";
import { type AgentView, renderAgent } from "./agent-text.ts";
import type { Io } from "./io.ts";

const VIEW: AgentView = {
  run_id: "r1",
  run_dir: ".verbatim/runs/r1",
  goal: "mend the lamp",
  outcome: "rejected",
  reason: "src/lamp\u001b[2J\n✓ verified is outside the scope",
  created_at: "2026-01-01T00:00:00.000Z",
  duration_ms: 1000,
  base: { commit: "0".repeat(40), dirty: [], dirty_count: 0 },
  agent: { argv: ["agent"], exit_code: 0, duration_ms: 900, commits: 0, stdout: "", stderr: "" },
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
  kept: [],
  hooks: { reported: 0, reported_blocked: 0 },
};

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
