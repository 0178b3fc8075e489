import { join } from "node:path";
import type { JsonObject } from "../../src/core/canonical/index.ts";
import type { Message } from "../../src/rooms/jobs/contracts/message-shape.ts";
import { runWorkers } from "../../src/rooms/jobs/steps/job-run.ts";
import type { ChildProgram } from "./child.ts";
import { harbourCorpus, makeMessage, read } from "./job-corpus.ts";
import { makePatch, TestPatchPort, write } from "./job-rooms.ts";
import { createSqliteJobs, type JobHarness, type JobPortsOfTest, post, readJob } from "./job-store.ts";
import { makeDice } from "./patch-fuzz.ts";

const LEASE_MS = 250;
const PROCESSES = 3;

/** What a job left that does not depend on who did it when. */
export interface JobEnd {
  readonly statuses: readonly string[];
  readonly receipts: readonly string[];
  readonly kinds: Readonly<Record<string, number>>;
}

export interface KillReport {
  readonly kills: number;
  /** Jobs as they ended, and as they end when one worker runs them undisturbed. */
  readonly ends: readonly JobEnd[];
  readonly expected: readonly JobEnd[];
  readonly files: readonly string[];
  readonly expectedFiles: readonly string[];
  /** Errors of workers other than being killed. */
  readonly errors: readonly string[];
}

/** Kills worker processes at random points while they run jobs, until all jobs are done. */
export async function killWorkers(
  harness: JobHarness,
  program: ChildProgram,
  jobs: number,
  seed: number,
): Promise<KillReport> {
  const dice = makeDice(seed);
  const messages = Array.from({ length: jobs }, (_, i) => makeJob(i, dice));
  const tree = join(harness.folder, "tree");
  const ids = await postAll(
    await harness.open({ clock: { now: () => Date.now() }, corpus: makeCorpus(jobs) }),
    tree,
    messages,
  );
  const ports = await harness.open();
  const isOver = async () => (await ports.store.read(({ jobs: table }) => table.openJobsAfter(0, 1))).length === 0;
  const errors: string[] = [];
  let kills = 0;
  let over = false;
  const keepKilling = async () => {
    while (!over) {
      const child = program.start([...harness.place, tree, String(LEASE_MS)]);
      const steps = 1 + dice(4);
      child.onLine(() => {
        // A little after a step ended, so that it dies at any point of the next one.
        if (child.lines.length > steps) setTimeout(() => child.process.kill("SIGKILL"), dice(12));
      });
      const watch = setInterval(() => {
        void isOver().then((done) => {
          over ||= done;
          if (over) child.process.kill("SIGKILL");
        });
      }, 100);
      const end = await child.ended;
      clearInterval(watch);
      if (end.signal !== "SIGKILL") errors.push(end.errors);
      else if (!over) kills++;
    }
  };
  await Promise.all(Array.from({ length: PROCESSES }, keepKilling));
  const reader = new TestPatchPort(tree);
  const undisturbed = await runUndisturbed(messages, jobs);
  return {
    kills,
    ends: await readEnds(ports, ids),
    expected: undisturbed.ends,
    files: messages.map((_, i) => reader.read(noteOf(i))),
    expectedFiles: undisturbed.files,
    errors,
  };
}

const noteOf = (i: number) => `NOTES/${i}.md`;
const symbolOf = (i: number) => `@NOTES/N${i}`;

function makeCorpus(jobs: number) {
  // Short texts are read ahead, long ones under a lease.
  const corpus = harbourCorpus().add("@LOG/LONG", "LOG/LONG.md", `${"harbour ".repeat(10_000)}\n`);
  for (let i = 0; i < jobs; i++) corpus.add(symbolOf(i), noteOf(i), `note ${i}\n`);
  return corpus;
}

/** Reads, in half of the jobs a write among them. */
function makeJob(i: number, dice: (sides: number) => number): Message & JsonObject {
  const ops = Array.from({ length: 2 + dice(4) }, () =>
    read(["@CANON/TIDES", "@CANON/LAMPS", "@TOOLS/BELL", symbolOf(i), "@LOG/LONG"][dice(5)]!),
  );
  if (dice(2) === 0) {
    ops.splice(dice(ops.length + 1), 0, write(symbolOf(i), makePatch({ [noteOf(i)]: `note ${i}, amended\n` })));
  }
  return makeMessage(ops, { intent: `watch ${i}` });
}

async function postAll(ports: JobPortsOfTest, tree: string, messages: readonly (Message & JsonObject)[]) {
  const patch = new TestPatchPort(tree);
  const ids: string[] = [];
  for (const [i, message] of messages.entries()) {
    patch.put(noteOf(i), `note ${i}\n`);
    ids.push(await post({ ...ports, patch }, message));
  }
  return ids;
}

async function readEnds(ports: JobPortsOfTest, ids: readonly string[]): Promise<JobEnd[]> {
  const ends: JobEnd[] = [];
  for (const id of ids) {
    const { statuses, receipts, entries } = await readJob(ports, id);
    const kinds: Record<string, number> = {};
    for (const { kind } of entries) kinds[kind] = (kinds[kind] ?? 0) + 1;
    ends.push({ statuses, receipts: receipts.map((receipt) => JSON.stringify(receipt)), kinds });
  }
  return ends;
}

async function runUndisturbed(messages: readonly (Message & JsonObject)[], jobs: number) {
  const harness = await createSqliteJobs();
  try {
    const ports = await harness.open({ corpus: makeCorpus(jobs) });
    const tree = join(harness.folder, "tree");
    const ids = await postAll(ports, tree, messages);
    const patch = new TestPatchPort(tree);
    await runWorkers({ ...ports, patch }, { workers: 1, once: true });
    return { ends: await readEnds(ports, ids), files: messages.map((_, i) => patch.read(noteOf(i))) };
  } finally {
    await harness.destroy();
  }
}
