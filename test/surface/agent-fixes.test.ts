import { expect, it } from "vitest";
import type { AgentSummary } from "../../src/app/agent/report/agent-summary.ts";
import { explainRun } from "../../src/app/agent/report/explain.ts";
import { openApp } from "../../src/app/call.ts";
import { AGENT_CODES } from "../../src/core/errors/codes/agent.ts";
import { WORKFLOW_CODES } from "../../src/core/errors/codes/workflow.ts";
import { type Code, codeFacts, fixAt } from "../../src/core/errors/index.ts";
import { AGENT_STATES } from "../../src/rooms/workflow/index.ts";
import { noun as agent } from "../../src/surfaces/cli/nouns/agent.ts";
import { noun as workflow } from "../../src/surfaces/cli/nouns/workflow.ts";
import { NOUNS } from "../../src/surfaces/cli/nouns.ts";
import { toFlags } from "../../src/surfaces/cli/program.ts";

// Guards: what a refusal or a report tells people to type can be typed.

const OURS = /^(?:SELECTION|POLICY|LAND|VERIFY|SETUP|RUN)_/;

function listFixes(): [string, string][] {
  const codes = Object.keys({ ...AGENT_CODES, ...WORKFLOW_CODES }) as Code[];
  return codes.flatMap((code) => (OURS.test(code) ? [[code, fixAt("cli", codeFacts(code).fix)]] : []));
}

const SUMMARY: AgentSummary = {
  run_id: "20261116-130649-69c41e",
  run_dir: "/runs/r",
  goal: "light the lamp",
  outcome: "verified",
  code: null,
  reason: "because",
  created_at: "2026-11-16T13:06:49.000Z",
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
    files: [
      { path: "a", operation: "modify", added: 1, deleted: 0, kind: "text", bytes: 1, notices: [] },
      { path: "b c", operation: "modify", added: 1, deleted: 0, kind: "text", bytes: 1, notices: [] },
    ],
    added_lines: 2,
    deleted_lines: 0,
    ignored: 0,
    binaries: [],
    links: [],
    not_carried: [],
  },
  gate: {
    verdict: "reject",
    code: "POLICY_PROTECTED",
    rule: "protected",
    permit: [],
    findings: [
      {
        code: "POLICY_PROTECTED",
        rule: "protected",
        path: "b c",
        line: null,
        says: "x",
        flag: "--permit 'b c'",
        fix: "",
      },
    ],
  },
  verify: null,
  landing: null,
  shown: { files: [], bytes: 0 },
  network: null,
  kept: [],
  hooks: { reported: 0, reported_blocked: 0 },
  usage: null,
};

it("every fix of these codes, and every line of every report, names only verbs and flags that there are", async () => {
  await using app = openApp({ surface: "library", start: process.cwd(), env: {}, platform: process.platform });
  // Loading the verbs of every noun would take longer than all the rest.
  const verbs = new Map<string, readonly string[]>(NOUNS.map(({ noun }) => [noun, []]));
  const known = new Set<string>();
  for (const [name, noun] of [["agent", agent] as const, ["workflow", workflow] as const]) {
    verbs.set(
      name,
      noun.verbs.flatMap(({ path }) => path.slice(0, 1)),
    );
    for (const verb of noun.verbs) {
      for (const flag of toFlags(await app.describe(verb.operation), verb)) known.add(`--${flag.name}`);
    }
  }
  const reports = AGENT_STATES.flatMap((outcome) =>
    explainRun({ ...SUMMARY, outcome }).flatMap(({ part, says, lines }) => [
      [`${outcome} ${part}`, says] as const,
      ...lines.flatMap(({ command }) => (command === undefined ? [] : [[`${outcome} ${part}`, command] as const])),
    ]),
  );
  const wrong: string[] = [];
  for (const [where, text] of [...listFixes(), ...reports]) {
    for (const [, noun = "", verb = ""] of text.matchAll(/verbatim ([a-z]+)(?: ([a-z]+))?/g)) {
      const words = verbs.get(noun);
      if (words === undefined || (verb !== "" && words.length > 0 && !words.includes(verb))) {
        wrong.push(`${where}: ${noun} ${verb}`);
      }
    }
    for (const [flag] of text.matchAll(/(?<![\w-])--[a-z][a-z-]+/g))
      if (!known.has(flag)) wrong.push(`${where}: ${flag}`);
  }
  expect(wrong).toEqual([]);
  expect(reports.some(([, text]) => text.includes("verbatim agent apply 20261116-130649-69c41e --except 'b c'"))).toBe(
    true,
  );
});

it("a report names no flag to somebody who does not type, and says the rest all the same", () => {
  const run: AgentSummary = {
    ...SUMMARY,
    agent: { ...SUMMARY.agent, withheld: ["FOO"], hidden: [".env"] },
    changes: { ...SUMMARY.changes, not_carried: [{ path: "key", why: "hidden", sha256: null }] },
    verify: { ...SUMMARY.verify!, result: "NONE" },
  };
  // The last part says what to do next in a terminal; the Studio has buttons for it.
  const says = (typed: boolean) =>
    explainRun(run, typed)
      .filter(({ part }) => part !== "end")
      .flatMap((part) => [part.says, ...part.lines.map((line) => line.says)]);
  expect(says(false).filter((text) => text.includes("--"))).toEqual([]);
  expect(says(false)).toEqual(
    expect.arrayContaining([
      "1 variable was kept from it",
      "key is not part of the change: the agent cannot see what is in it",
      "not verified: you asked for no checks",
    ]),
  );
  expect(says(true)).toContain("1 variable was kept from it; pass one with --env NAME");
});
