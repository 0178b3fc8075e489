import { rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { JsonObject } from "../../src/core/canonical/index.ts";
import { isVerbatimError } from "../../src/core/errors/index.ts";
import type { Message } from "../../src/rooms/jobs/contracts/message-shape.ts";
import { runJob } from "../../src/rooms/jobs/steps/job-run.ts";
import { makeMessage, read } from "../support/job-corpus.ts";
import { execute, makePatch, TestExecutePort, TestPatchPort, write } from "../support/job-rooms.ts";
import { createSqliteJobs, kindsOf, payloadPath, post, readJob } from "../support/job-store.ts";

const TIDES = "LAW/CANON/TIDES.md";

const op = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom("@CANON/TIDES", "@CANON/LAMPS", "@TOOLS/BELL").map((id) => read(id)) },
  {
    weight: 4,
    arbitrary: fc.constantFrom("chars[0:70000]", "chars[1:70000]").map((slice) => read("@LOG/LONG", slice)),
  },
  { weight: 2, arbitrary: fc.constantFrom("chars[0:1]", "lines[1:2]").map((slice) => read("@CANON/LAMPS", slice)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("one\n", "two\n").map((text) => write("@CANON/TIDES", makePatch({ [TIDES]: text }))),
  },
  { weight: 1, arbitrary: fc.constant(write("@CANON/TIDES", makePatch({ [TIDES]: "no\n" }, "PATCH_SCOPE_DENY"))) },
  { weight: 1, arbitrary: fc.constantFrom("@TOOLS/COUNT", "@TOOLS/BAD").map((id) => execute(id)) },
);

const story = fc.record({
  ops: fc.array(op, { minLength: 1, maxLength: 14 }),
  expands: fc.integer({ min: 0, max: 20 }),
  /** Which READ has lost its payload, if any. */
  lost: fc.option(fc.constantFrom("@CANON/LAMPS", "@TOOLS/BELL")),
  workers: fc.integer({ min: 2, max: 8 }),
  delays: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 10 }),
});

/** Runs a message with some workers, each payload read taking its own time, and says what the job left. */
async function play(message: Message & JsonObject, lost: string | null, workers: number, delays: readonly number[]) {
  const harness = await createSqliteJobs();
  try {
    const opened = await harness.open();
    opened.corpus.add("@TOOLS/COUNT", "TOOLS/COUNT.json", '{"jobspec":"count"}');
    opened.corpus.add("@TOOLS/BAD", "TOOLS/BAD.json", '{"jobspec":"refuse"}');
    // Long texts are read under a lease of their own, short ones ahead of it.
    opened.corpus.add("@LOG/LONG", "LOG/LONG.md", "harbour ".repeat(10_000));
    const patch = new TestPatchPort(join(harness.folder, "tree"));
    patch.put(TIDES, "zero\n");
    let reads = 0;
    const content = {
      ...opened.content,
      put: (bytes: Uint8Array) => opened.content.put(bytes),
      async get(hash: string) {
        for (let i = delays[reads++ % delays.length]!; i > 0; i--) await new Promise((done) => setImmediate(done));
        return opened.content.get(hash);
      },
    };
    const ports = { ...opened, content, patch, execute: new TestExecutePort(join(harness.folder, "runs")) };
    const id = await post(ports, message);
    const rows = await ports.store.read(({ jobs }) => jobs.steps(id));
    const gone = rows.find(
      ({ step }) => "symbol_id" in step.refs && step.refs.symbol_id === lost && "slice" in step.constraints,
    );
    const stored = gone !== undefined && (await opened.content.has(gone.resolved.content_hash!));
    if (stored) rmSync(payloadPath(harness.folder, gone.resolved.content_hash!));
    await runJob(ports, id, { workers }).catch((thrown: unknown) => {
      if (!isVerbatimError(thrown) || thrown.code !== "JOB_FAILED") throw thrown;
    });
    const { entries, ...left } = await readJob(ports, id);
    const bodies = entries.map(({ kind, body }) => [kind, body]);
    // A step behind the failed one may still hold a lease; it never gets a receipt.
    const statuses = left.statuses.map((status) => (status === "LEASED" ? "PENDING" : status));
    return { ...left, statuses, bodies, kinds: kindsOf(entries), file: patch.read(TIDES) };
  } finally {
    await harness.destroy();
  }
}

it("any number of workers leaves the same receipts, states, entries and files as one", async () => {
  const outcomes = new Set<string>();
  await fc.assert(
    fc.asyncProperty(story, async ({ ops, expands, lost, workers, delays }) => {
      const budgets = { ...makeMessage([]).budgets, max_expands_per_step: expands };
      const message = makeMessage(ops, { budgets });
      const one = await play(message, lost, 1, [0]);
      const many = await play(message, lost, workers, delays);
      expect(many).toEqual(one);
      for (const { actions } of one.receipts) outcomes.add(String(actions[0]!.result["code"] ?? "SUCCESS"));
    }),
    { numRuns: 40, seed: 8 },
  );
  // The stories really had all kinds of ends.
  expect([...outcomes].toSorted()).toEqual(
    expect.arrayContaining([
      "BUDGET_EXPANDS",
      "CONTENT_STORE_CORRUPT",
      "PATCH_SCOPE_DENY",
      "RESTORE_MISMATCH",
      "SUCCESS",
    ]),
  );
});
