import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { agentSummary } from "../../src/app/agent/report/agent-summary.ts";
import { agentDiff } from "../../src/app/agent/report/change-pages.ts";
import { evidenceItem, timelineEntry } from "../../src/app/agent/report/evidence.ts";
import { explanation } from "../../src/app/agent/report/explain.ts";
import { FINDINGS } from "../../src/core/errors/index.ts";
import { AGENT_STATES } from "../../src/rooms/workflow/index.ts";
import { settingsSchema } from "../../src/rooms/world/settings.ts";
import type { PassResult } from "../../src/rooms/world/writer/beat-loop.ts";
import { writerSchema } from "../../src/rooms/world/writer/writer-settings.ts";
import { en, type VerdictFacts } from "../../web/src/words/en.ts";

// Guards: whatever word the server can say about a run has its sentence on the page, and no sentence is left over that
// nothing says any more.

const file = agentSummary.shape.changes.shape.files.element.shape;
const landing = agentSummary.shape.landing.unwrap().unwrap().shape.files.element.shape;

describe("each word of the server has its sentence", () => {
  it.each<[string, readonly string[], object]>([
    ["outcome of a run", AGENT_STATES, en.outcomes],
    ["verdict", AGENT_STATES, en.verdicts],
    ["state in the timeline", timelineEntry.shape.state.unwrap().options, en.outcomes],
    ["part of the report", explanation.element.shape.part.options, en.run.parts],
    ["evidence", evidenceItem.shape.what.options, en.run.what],
    ["operation on a file", file.operation.options, en.run.operation],
    ["kind of a file", file.kind.unwrap().options, en.run.kinds],
    ["plan of a landing", landing.how.options, en.apply.how],
  ])("%s", (_name, said, sentences) => {
    expect(Object.keys(sentences).sort()).toEqual([...said].sort());
    for (const sentence of Object.values(sentences)) {
      expect(typeof sentence === "function" ? (sentence as (facts: VerdictFacts) => string)(FACTS) : sentence).toMatch(
        /\w/,
      );
    }
  });

  it.each<[string, readonly string[], object]>([
    ["phase of a beat", ["QUEUED", "THINKING", "SEARCHING", "WRITING"], { ...en.worlds.status, reads: undefined }],
    ["result of a beat", RESULTS, en.worlds.results],
    ["result in the inspector", RESULTS, en.worlds.beats.result],
    [
      "failure of a writer",
      [...Object.keys(FINDINGS.world).filter((code) => code.startsWith("WRITER_")), "WRITER_PAIR_FORBIDDEN"],
      en.worlds.reasons,
    ],
    ["role of a token", ["operator", "player", "viewer"], en.worlds.settings.roles],
    ["way of players", settingsSchema.shape.players.unwrap().shape.mode.unwrap().options, en.worlds.settings.modes],
    ["kind of a writer", writerSchema.shape.kind.options, en.worlds.form.kinds],
  ])("of worlds: %s", (_name, said, sentences) => {
    const known = Object.entries(sentences).filter(([, sentence]) => sentence !== undefined);
    expect(known.map(([name]) => name).sort()).toEqual([...said].sort());
    for (const [, sentence] of known) expect(typeof sentence).toBe("string");
  });

  it("a change page says nothing that the report of the run does not", () => {
    const { operation, kind } = agentDiff.shape.files.element.shape;
    for (const one of operation.options) expect(en.run.operation).toHaveProperty(one);
    for (const one of kind.options) expect(en.run.kinds).toHaveProperty(one);
  });

  it("a verdict is one or more whole sentences, with and without a reason", () => {
    for (const verdict of Object.values(en.verdicts)) {
      for (const reason of [null, "the file is too long", "It stopped."]) {
        expect(verdict({ ...FACTS, reason })).toMatch(/^[A-Z][^.]*\.(?: [A-Z0-9][^.]*\.)*$/);
      }
    }
  });

  it("a finding has a sentence in every room, which the page shows beside its code", () => {
    for (const room of Object.values(FINDINGS))
      for (const says of Object.values(room)) expect(says).toMatch(/\w{3}.*[.:]$/);
  });

  it("words are those of the house: nobody is cheered or pitied", () => {
    const source = readFileSync(new URL("../../web/src/words/en.ts", import.meta.url), "utf8");
    expect(source).not.toMatch(/successfully|oops|!["`]/i);
  });
});

/** How a beat can end: beat-loop.ts says so in a type. */
const RESULTS: readonly PassResult[] = [
  "WROTE",
  "SILENCE",
  "LINE",
  "PROPOSAL_REJECTED",
  "WRITER_OUTPUT_INVALID",
  "TOOL_BUDGET_SPENT",
  "WRITER_UNAVAILABLE",
  "WRITER_REFUSED",
  "WRITER_CANCELLED",
];

const FACTS: VerdictFacts = {
  files: 3,
  added: 42,
  deleted: 7,
  checks: 2,
  reason: null,
  untouched: true,
  landed: "14:02",
};
