import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { formatCanonical, type JsonValue } from "../../src/core/canonical/index.ts";
import { toJobId, toMessageId, toStepId } from "../../src/rooms/jobs/message/ids.ts";
import { postMessage } from "../../src/rooms/jobs/message/post.ts";
import type { StepRow } from "../../src/rooms/jobs/ports.ts";
import { cancelJob } from "../../src/rooms/jobs/steps/cancel.ts";
import { runJob } from "../../src/rooms/jobs/steps/job-run.ts";
import { claimStep, finishStep, renewLease, toHeld } from "../../src/rooms/jobs/steps/queue.ts";
import { toReadOutcome } from "../../src/rooms/jobs/steps/receipt.ts";
import { expectUnbrokenChain } from "../support/chain.ts";
import { makeMessage, read } from "../support/job-corpus.ts";
import { type JobHarness, type JobPortsOfTest, kindsOf, post, RUN, readJob } from "../support/job-store.ts";
import { expectCode } from "./store-suite.ts";

const TTL = 1000;
const OTHER_RUN = "00000000-0000-4000-8000-000000000001";
const A = { name: "mira", lease_ms: TTL };
const B = { name: "tomas", lease_ms: TTL };

const MESSAGE = makeMessage([read("@CANON/TIDES"), read("@CANON/LAMPS"), read("@TOOLS/BELL")]);

/** What jobs must do in any database. */
export function describeJobs(create: () => Promise<JobHarness>): void {
  let harness: JobHarness;
  let ports: JobPortsOfTest;

  beforeEach(async () => {
    harness = await create();
    ports = await harness.open();
  });

  afterEach(async () => {
    await harness.destroy();
  });

  const claim = async (worker: typeof A, job_id: string) => (await claimStep(ports, { job_id }, worker)) as StepRow;
  const commit = (row: StepRow, worker: typeof A) => finishStep(ports, toHeld(row, worker), toReadOutcome(RUN, row));

  describe("posting", () => {
    it("stores job, plan and steps, and says so in the job's stream", async () => {
      const { job, existing } = await postMessage(ports, MESSAGE, RUN);
      expect(existing).toBe(false);
      const { entries, statuses } = await readJob(ports, job.job_id);
      expect(kindsOf(entries)).toEqual(["MESSAGE_ACCEPTED", "PLAN"]);
      expect(statuses).toEqual(["PENDING", "PENDING", "PENDING"]);
      const row = await ports.store.read(({ jobs }) => jobs.job(job.job_id));
      expect(formatCanonical(row!.message)).toBe(formatCanonical(MESSAGE));
      expect(JSON.parse(entries[0]!.body)).toEqual({
        job_id: job.job_id,
        message: MESSAGE,
        message_id: job.message_id,
        run_id: RUN,
      });
    });

    it("gives the same job for the same message in the same run, whatever its state, and appends nothing", async () => {
      const id = await post(ports, MESSAGE);
      for (const state of ["PENDING", "done"]) {
        if (state === "done") await runJob(ports, id, { workers: 1 });
        const before = (await readJob(ports, id)).entries.length;
        const again = await postMessage(ports, MESSAGE, RUN);
        expect([again.job.job_id, again.existing]).toEqual([id, true]);
        expect((await readJob(ports, id)).entries.length).toBe(before);
      }
    });

    it("gives the existing job even when the corpus has changed so that the message would be refused now", async () => {
      const id = await post(ports, MESSAGE);
      ports.corpus.symbols.clear();
      expect(await postMessage(ports, MESSAGE, RUN)).toMatchObject({ job: { job_id: id }, existing: true });
    });

    it("makes one job of the same message posted many times at once over several connections", async () => {
      const others = [ports, await harness.open(), await harness.open()];
      const posts = Array.from({ length: 9 }, (_, i) => postMessage(others[i % 3]!, MESSAGE, RUN));
      const posted = await Promise.all(posts);
      expect(posted.filter(({ existing }) => !existing)).toHaveLength(1);
      expect(new Set(posted.map(({ job }) => job.job_id)).size).toBe(1);
      expect(kindsOf((await readJob(ports, posted[0]!.job.job_id)).entries)).toEqual(["MESSAGE_ACCEPTED", "PLAN"]);
    });

    it("makes another job with other step ids of the same message in another run", async () => {
      const ids = [await post(ports, MESSAGE), await post(ports, MESSAGE, OTHER_RUN)];
      expect(ids[0]).not.toBe(ids[1]);
      const steps = await Promise.all(ids.map((id) => ports.store.read(({ jobs }) => jobs.steps(id))));
      expect(new Set(steps.flat().map(({ step }) => step.step_id)).size).toBe(6);
    });

    it("refuses with ID_COLLISION when the id exists with another message, and writes nothing", async () => {
      const id = await post(ports, MESSAGE);
      const other = makeMessage([read("@CANON/LAMPS")]);
      const forged = idOf(other);
      await harness.raw(
        `insert into jobs_job (job_id, run_id, message_id, plan_hash, step_count, intent, message)
         select '${forged}', run_id, 'msg_forged', plan_hash, step_count, intent, message
         from jobs_job where job_id = '${id}'`,
      );
      await expectCode(post(ports, other), "ID_COLLISION");
      expect((await readJob(ports, forged)).entries).toEqual([]);
    });

    it("refuses with ID_COLLISION when a step id exists in another job, and writes nothing", async () => {
      const other = makeMessage([read("@CANON/LAMPS")]);
      const first = toStepId(ports.crypto, RUN, idOf(other), 1);
      const job = "insert into jobs_job (job_id, run_id, message_id, plan_hash, step_count, intent, message)";
      const hash = "0".repeat(64);
      await harness.raw(
        `${job} values ('job_forged', '${RUN}', 'msg_forged', '${hash}', 1, '""', '{}')`,
        `insert into jobs_step (job_id, ordinal, step_id, op, step, resolved, status, fencing_token)
         values ('job_forged', 1, '${first}', 'WRITE', '{}', '{}', 'PENDING', 0)`,
      );
      await expectCode(post(ports, other), "ID_COLLISION");
      expect((await readJob(ports, idOf(other))).entries).toEqual([]);
    });

    function idOf(message: JsonValue): string {
      return toJobId(ports.crypto, toMessageId(ports.crypto, RUN, message));
    }

    it("records a refusal in the stream of the job the message would have been, then throws", async () => {
      const unknown = makeMessage([read("@CANON/TIDES", "head(99)"), read("@CANON/GONE")]);
      const id = idOf(unknown);
      await expectCode(post(ports, unknown), "MESSAGE_UNRESOLVED");
      const { entries } = await readJob(ports, id);
      expect(kindsOf(entries)).toEqual(["MESSAGE_REFUSED"]);
      const body = JSON.parse(entries[0]!.body) as { problems: { code: string; pointer: string }[] };
      expect(body.problems.map(({ code, pointer }) => [code, pointer])).toEqual([
        ["SLICE_OUT_OF_BOUNDS", "/ops/0/params/slice"],
        ["SYMBOL_UNKNOWN", "/refs/1"],
      ]);
      expect(await ports.store.read(({ jobs }) => jobs.job(id))).toBeNull();
    });

    it("accepts a message that was refused before once what it names exists", async () => {
      const message = makeMessage([read("@CANON/LATE")]);
      await expectCode(post(ports, message), "MESSAGE_UNRESOLVED");
      ports.corpus.add("@CANON/LATE", "LAW/CANON/LATE.md", "late\n");
      const id = await post(ports, message);
      expect(kindsOf((await readJob(ports, id)).entries)).toEqual(["MESSAGE_REFUSED", "MESSAGE_ACCEPTED", "PLAN"]);
    });

    it("records an enormous message that is refused by its hash, size and beginning, and its problems too", async () => {
      const refs = ["@TOOLS/BELL", ...Array.from({ length: 3000 }, (_, i) => `@GONE/N${i}`)];
      const message = makeMessage([read("@TOOLS/BELL")], { intent: "ä".repeat(1_000_000), refs });
      await expectCode(post(ports, message), "MESSAGE_UNRESOLVED");
      const [entry] = (await readJob(ports, idOf(message))).entries;
      const body = JSON.parse(entry!.body) as Record<"message" | "problems", { sha256: string; bytes: number }>;
      const text = formatCanonical(message);
      expect(body.message).toEqual({
        sha256: createHash("sha256").update(text).digest("hex"),
        bytes: Buffer.byteLength(text),
        beginning: text.slice(0, 512),
      });
      expect(body.problems.bytes).toBeGreaterThan(100_000);
      expect(Buffer.byteLength(entry!.body)).toBeLessThan(6000);
    });

    it("cannot be made to fill the ledger with refusals: 64 in ten minutes are recorded, the last of them says so", async () => {
      const others = [ports, await harness.open()];
      const refuse = (from: number, to: number) =>
        Promise.all(
          Array.from({ length: to - from }, async (_, i) => {
            const message = makeMessage([read("@CANON/GONE")], { intent: `try ${from + i}` });
            await expectCode(post(others[i % 2]!, message), "MESSAGE_UNRESOLVED");
          }),
        );
      const recorded = async () =>
        (await ports.store.read(({ ledger }) => ledger.readAll(0, 1000)))
          .filter(({ entry }) => entry.kind === "MESSAGE_REFUSED")
          .map(({ entry }) => JSON.parse(entry.body) as object);
      await refuse(0, 40);
      const id = await post(ports, MESSAGE);
      await refuse(40, 80);
      const bodies = await recorded();
      expect(bodies.length).toBe(64);
      expect(bodies.flatMap((body, i) => ("more_unrecorded" in body ? [i] : []))).toEqual([63]);
      expect((await readJob(ports, id)).statuses).toHaveLength(3);
      harness.clock.advance(600_001);
      await refuse(80, 81);
      expect((await recorded()).length).toBe(65);
    });

    it("lists jobs in order of creation, page by page, and the open ones apart", async () => {
      const ids: string[] = [];
      for (let i = 0; i < 5; i++)
        ids.push(await post(ports, makeMessage([read("@TOOLS/BELL")], { intent: `watch ${i}` })));
      await runJob(ports, ids[1]!, { workers: 1 });
      await cancelJob(ports, ids[3]!, "library");
      const pages = await ports.store.read(async ({ jobs }) => {
        const first = await jobs.jobsAfter(0, 2);
        return { first, rest: await jobs.jobsAfter(first[1]!.number, 10), open: await jobs.openJobsAfter(0, 10) };
      });
      expect([...pages.first, ...pages.rest].map(({ job_id }) => job_id)).toEqual(ids);
      expect(pages.open.map(({ intent }) => intent)).toEqual(["watch 0", "watch 2", "watch 4"]);
    });

    it("keeps an intent with every kind of character", async () => {
      const intent = "ä🜁\u0000\n".repeat(300);
      const id = await post(ports, makeMessage([read("@TOOLS/BELL")], { intent }));
      const [job, facts] = await ports.store.read(async ({ jobs }) => [await jobs.job(id), await jobs.facts(id)]);
      expect(job!.message.intent).toBe(intent);
      expect(facts!.intent).toBe([...intent].slice(0, 200).join(""));
    });
  });

  describe("leases", () => {
    it("a worker that dies loses its step after the lease, and its late commit is refused", async () => {
      const id = await post(ports, MESSAGE);
      const first = await claim(A, id);
      harness.clock.advance(TTL - 1);
      expect((await claim(B, id)).step.ordinal).toBe(2);
      harness.clock.advance(1);
      const second = await claim(B, id);
      expect([second.step.ordinal, second.fencing_token]).toEqual([1, 2]);
      expect(await commit(first, A)).toMatchObject({ refused: "LEASE_LOST" });
      expect(await commit(second, B)).toMatchObject({ done: "COMMITTED" });
      const { receipts, statuses } = await readJob(ports, id);
      expect([receipts.length, statuses]).toEqual([1, ["COMMITTED", "LEASED", "PENDING"]]);
    });

    it("a commit at exactly the expiry time is too late, and so is a renewal", async () => {
      const id = await post(ports, MESSAGE);
      const row = await claim(A, id);
      harness.clock.advance(TTL);
      expect(await commit(row, A)).toMatchObject({ refused: "LEASE_EXPIRED" });
      expect(await renewLease(ports, toHeld(row, A), TTL)).toBe("LEASE_EXPIRED");
      expect((await readJob(ports, id)).entries.length).toBe(2);
    });

    it("a step that its job does not have is neither renewed nor ended", async () => {
      const id = await post(ports, MESSAGE);
      const row = await claim(A, id);
      const unknown = { ...toHeld(row, A), ordinal: 4 };
      const expected = { code: "STEP_UNKNOWN", exit: 2, details: { job_id: id, ordinal: 4 } };
      await expect(renewLease(ports, unknown, TTL)).rejects.toMatchObject(expected);
      await expect(finishStep(ports, unknown, toReadOutcome(RUN, row))).rejects.toMatchObject(expected);
      const { entries, receipts } = await readJob(ports, id);
      expect([entries.length, receipts.length]).toEqual([2, 0]);
    });

    it("a renewal keeps the token and moves the end", async () => {
      const id = await post(ports, MESSAGE);
      const row = await claim(A, id);
      harness.clock.advance(TTL - 1);
      expect(await renewLease(ports, toHeld(row, A), TTL)).toBeNull();
      harness.clock.advance(TTL - 1);
      expect(await commit(row, A)).toMatchObject({ done: "COMMITTED" });
    });

    it("a step that is finished first takes effect in its turn", async () => {
      const id = await post(ports, MESSAGE);
      const [one, two] = [await claim(A, id), await claim(B, id)];
      expect(await commit(two, B)).toMatchObject({ refused: "STEP_OUT_OF_ORDER", job_failed: false });
      expect(await commit(one, A)).toMatchObject({ done: "COMMITTED" });
      expect(await commit(two, B)).toMatchObject({ done: "COMMITTED" });
      expect(await commit(two, B)).toMatchObject({ refused: "STEP_FINAL" });
      expectUnbrokenChain((await readJob(ports, id)).entries);
    });

    it("claims at the same time over many connections never give a step twice", async () => {
      const id = await post(ports, makeMessage(Array.from({ length: 24 }, () => read("@TOOLS/BELL"))));
      const connections = await Promise.all(Array.from({ length: 4 }, () => harness.open()));
      const claims = connections.flatMap((one, i) =>
        Array.from({ length: 6 }, (_, n) => claimStep(one, { job_id: id }, { name: `w${i}.${n}`, lease_ms: TTL })),
      );
      const rows = (await Promise.all(claims)) as StepRow[];
      expect(rows.map(({ step }) => step.ordinal).toSorted((a, b) => a - b)).toEqual(
        Array.from({ length: 24 }, (_, i) => i + 1),
      );
    });

    it("any open job gives its steps, the oldest job first", async () => {
      const ids = [await post(ports, MESSAGE), await post(ports, MESSAGE, OTHER_RUN)];
      const rows: StepRow[] = [];
      for (let i = 0; i < 4; i++) rows.push((await claimStep(ports, "any", A)) as StepRow);
      expect(rows.map(({ job_id, step }) => [job_id, step.ordinal])).toEqual([
        [ids[0], 1],
        [ids[0], 2],
        [ids[0], 3],
        [ids[1], 1],
      ]);
    });
  });

  describe("cancelling", () => {
    it("fails the lowest step that is not final, and nothing further runs", async () => {
      const id = await post(ports, MESSAGE);
      await commit(await claim(A, id), A);
      expect(await cancelJob(ports, id, "cli")).toEqual({ ordinal: 2 });
      const { statuses, receipts, entries } = await readJob(ports, id);
      expect(statuses).toEqual(["COMMITTED", "FAILED", "PENDING"]);
      expect(receipts[1]).toMatchObject({ status: "FAILURE", actions: [{ result: { code: "JOB_CANCELLED" } }] });
      expect(entries.at(-1)).toMatchObject({ kind: "RECEIPT", actor: "cli" });
      expect(await claimStep(ports, { job_id: id }, A)).toBe("JOB_FAILED");
      expect(await cancelJob(ports, id, "cli")).toEqual({ ordinal: null });
    });

    it("waits for nobody: a leased step is JOB_BUSY and says who has it", async () => {
      const id = await post(ports, MESSAGE);
      await claim(A, id);
      const error = await cancelJob(ports, id, "cli").catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({
        code: "JOB_BUSY",
        exit: 4,
        details: { leases: [{ ordinal: 1, lease_owner: "mira" }] },
      });
      harness.clock.advance(TTL);
      expect(await cancelJob(ports, id, "cli")).toEqual({ ordinal: 1 });
    });
  });

  it("each READ leaves its Expansion and then its Receipt in the job's stream, under the worker's name", async () => {
    const id = await post(ports, makeMessage([read("@TOOLS/BELL"), read("@CANON/LAMPS", "head(1)", "lamps")]));
    await runJob(ports, id, { workers: 1 });
    const { entries, receipts, hashes } = await readJob(ports, id);
    expect(kindsOf(entries)).toEqual(["MESSAGE_ACCEPTED", "PLAN", "EXPANSION", "RECEIPT", "EXPANSION", "RECEIPT"]);
    const content_hash = ports.crypto.sha256("# Lamps");
    expect(JSON.parse(entries[4]!.body)).toEqual({
      run_id: RUN,
      symbol_or_section_id: "@CANON/LAMPS",
      slice: "head(1)",
      content_hash,
      payload_ref: `sha256:${content_hash}`,
    });
    const bodies = [entries[3]!, entries[5]!];
    expect(bodies.map(({ body }) => body)).toEqual(receipts.map((receipt) => formatCanonical(receipt)));
    expect(bodies.map(({ body_hash }) => body_hash)).toEqual(hashes);
    expect(receipts[1]!.outputs).toEqual({ lamps: `sha256:${content_hash}` });
    expect(entries[5]!.actor).toMatch(/^test\//);
    expectUnbrokenChain(entries);
  });

  it("a budget breach fails its step with the numbers, and the steps before it stay committed", async () => {
    const budgets = { ...MESSAGE.budgets, max_expands_per_step: 1 };
    const id = await post(ports, makeMessage(MESSAGE.ops, { budgets }));
    await expectCode(runJob(ports, id, { workers: 3 }), "JOB_FAILED");
    const { statuses, receipts } = await readJob(ports, id);
    expect(statuses).toEqual(["COMMITTED", "FAILED", "PENDING"]);
    expect(receipts[1]!.actions[0]!.result).toEqual({
      code: "BUDGET_EXPANDS",
      breaches: [{ budget: "max_expands_per_step", limit: 1, used: 2 }],
    });
  });

  it("stores the payloads of the steps before a breach and no others", async () => {
    const budgets = { ...MESSAGE.budgets, max_expands_per_step: 1 };
    const id = await post(ports, makeMessage(MESSAGE.ops, { budgets }));
    const rows = await ports.store.read(({ jobs }) => jobs.steps(id));
    const stored = await Promise.all(rows.map(({ resolved }) => ports.content.has(resolved.content_hash!)));
    expect(stored).toEqual([true, false, false]);
  });

  it("reads what was pinned when the job was posted, also after the corpus has changed", async () => {
    const id = await post(ports, MESSAGE);
    ports.corpus.add("@CANON/TIDES", "LAW/CANON/TIDES.md", "Nobody knows the tides.\n");
    await runJob(ports, id, { workers: 1 });
    const { receipts } = await readJob(ports, id);
    const bytes = await ports.content.get(receipts[0]!.expanded[0]!.content_hash);
    expect(new TextDecoder().decode(bytes)).toBe("# Tides\nHigh at six.\nLow at noon.");
  });
}
