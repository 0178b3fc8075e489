import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { VerbatimError } from "../../src/core/errors/index.ts";
import type { JobsReader, Pauses } from "../../src/rooms/jobs/ports.ts";
import { runJob, runWorkers } from "../../src/rooms/jobs/steps/job-run.ts";
import { LEASE_MS } from "../../src/rooms/jobs/steps/lease.ts";
import { claimStep } from "../../src/rooms/jobs/steps/queue.ts";
import { makeMessage, read } from "../support/job-corpus.ts";
import { execute, makePatch, TestExecutePort, TestPatchPort, write } from "../support/job-rooms.ts";
import {
  createSqliteJobs,
  type JobHarness,
  type JobPortsOfTest,
  kindsOf,
  payloadPath,
  post,
  readJob,
} from "../support/job-store.ts";
import { expectCode } from "./store-suite.ts";

const TIDES = "LAW/CANON/TIDES.md";
const OLD = "# Tides\nHigh at six.\nLow at noon.\n\nSpring tide on Friday.\n";
const NEW = "# Tides\nHigh at seven.\n";
// Longer than what a worker reads ahead without a lease.
const LONG = 70_000;
const CRASH = new Error("the process died here");

let harness: JobHarness;
let patch: TestPatchPort;
let runs: TestExecutePort;
let ports: JobPortsOfTest;

beforeEach(async () => {
  harness = await createSqliteJobs();
  patch = new TestPatchPort(join(harness.folder, "tree"));
  patch.put(TIDES, OLD);
  runs = new TestExecutePort(join(harness.folder, "runs"));
  const opened = await harness.open();
  opened.corpus.add("@TOOLS/COUNT", "TOOLS/COUNT.json", '{"jobspec":"count the boats"}');
  opened.corpus.add("@TOOLS/BAD", "TOOLS/BAD.json", '{"jobspec":"refuse"}');
  for (const [symbol, letter] of Object.entries({ "@LOG/ONE": "a", "@LOG/TWO": "b", "@LOG/THREE": "c" })) {
    opened.corpus.add(symbol, `LOG/${letter}.md`, `${letter.repeat(LONG)}\n`);
  }
  ports = { ...opened, patch, execute: runs };
});

afterEach(async () => {
  await harness.destroy();
});

const writeTides = (text: string | null = NEW) => write("@CANON/TIDES", makePatch({ [TIDES]: text }), "tides");
const run = (jobId: string, workers = 1) => runJob(ports, jobId, { workers });
const lapse = () => harness.clock.advance(LEASE_MS);

describe("a WRITE step", () => {
  it("applies its patch after saying so, and brings the index up to date before its receipt", async () => {
    const id = await post(ports, makeMessage([writeTides()], { required_outputs: ["tides"] }));
    await run(id);
    expect(patch.read(TIDES)).toBe(NEW);
    expect(patch.refreshed).toEqual([TIDES]);
    const { entries, receipts } = await readJob(ports, id);
    expect(kindsOf(entries)).toEqual(["MESSAGE_ACCEPTED", "PLAN", "WRITE_INTENT", "RECEIPT"]);
    const step_id = receipts[0]!.step_id;
    const [base_sha256, result_sha256] = [nodeCrypto.sha256(OLD), nodeCrypto.sha256(NEW)];
    expect(JSON.parse(entries[2]!.body)).toEqual({ step_id, base_sha256, result_sha256 });
    const patch_sha256 = nodeCrypto.sha256(makePatch({ [TIDES]: NEW }));
    expect(receipts[0]).toMatchObject({
      expanded: [],
      actions: [{ type: "WRITE", target: "@CANON/TIDES", result: { files: [TIDES], patch_sha256 } }],
      outputs: { tides: `sha256:${patch_sha256}` },
      status: "SUCCESS",
    });
  });

  it("does not change what a READ of the same message gives", async () => {
    const id = await post(ports, makeMessage([writeTides(), read("@CANON/TIDES", "head(2)")]));
    await run(id);
    const { receipts } = await readJob(ports, id);
    const bytes = await ports.content.get(receipts[1]!.expanded[0]!.content_hash);
    expect(new TextDecoder().decode(bytes)).toBe("# Tides\nHigh at six.");
  });

  it.each([
    ["the gate refuses it", makePatch({ [TIDES]: NEW }, "PATCH_SCOPE_DENY"), "PATCH_SCOPE_DENY"],
    ["it touches another file", makePatch({ [TIDES]: NEW, "TOOLS/BELL.md": "x" }), "WRITE_OUTSIDE_TARGET"],
  ])("fails without touching anything when %s", async (_, text, code) => {
    const id = await post(ports, makeMessage([write("@CANON/TIDES", text), read("@TOOLS/BELL")]));
    await expectCode(run(id), "JOB_FAILED");
    const { receipts, statuses, entries } = await readJob(ports, id);
    expect(statuses).toEqual(["FAILED", "PENDING"]);
    expect(receipts[0]!.actions[0]).toMatchObject({ status: "FAILURE", result: { code } });
    expect(kindsOf(entries)).not.toContain("WRITE_INTENT");
    expect([patch.read(TIDES), patch.applied]).toEqual([OLD, []]);
  });

  it.each(["applying", "applied"] as const)("is applied once when a worker dies while %s", async (point) => {
    const id = await post(ports, makeMessage([writeTides()]));
    patch.at = async (here) => {
      if (here === point) throw CRASH;
    };
    await expect(run(id)).rejects.toBe(CRASH);
    expect((await readJob(ports, id)).statuses).toEqual(["LEASED"]);
    patch.at = async () => undefined;
    lapse();
    await run(id);
    expect([patch.read(TIDES), patch.applied]).toEqual([NEW, [TIDES]]);
    const { entries, statuses } = await readJob(ports, id);
    expect(statuses).toEqual(["COMMITTED"]);
    expect(kindsOf(entries).filter((kind) => kind === "WRITE_INTENT")).toHaveLength(1);
  });

  it("also removes a file exactly once", async () => {
    const id = await post(ports, makeMessage([writeTides(null)]));
    patch.at = async (here) => {
      if (here === "applied") throw CRASH;
    };
    await expect(run(id)).rejects.toBe(CRASH);
    patch.at = async () => undefined;
    lapse();
    await run(id);
    expect(patch.applied).toEqual([TIDES]);
    expect(await patch.fingerprint(TIDES)).toBeNull();
  });

  it("leaves a file alone that is neither as it was nor as it would be, and says all three hashes", async () => {
    const id = await post(ports, makeMessage([writeTides()]));
    patch.at = async (here) => {
      if (here === "applying") throw CRASH;
    };
    await expect(run(id)).rejects.toBe(CRASH);
    patch.at = async () => undefined;
    patch.put(TIDES, "Somebody else was here.\n");
    lapse();
    await expectCode(run(id), "JOB_FAILED");
    expect(patch.read(TIDES)).toBe("Somebody else was here.\n");
    expect((await readJob(ports, id)).receipts[0]!.actions[0]!.result).toEqual({
      code: "WRITE_STATE_UNKNOWN",
      details: {
        file_path: TIDES,
        base_sha256: nodeCrypto.sha256(OLD),
        result_sha256: nodeCrypto.sha256(NEW),
        actual_sha256: nodeCrypto.sha256("Somebody else was here.\n"),
      },
    });
  });

  it("does nothing when its lease was lost before the file is touched", async () => {
    const id = await post(ports, makeMessage([writeTides()]));
    const other = { name: "tomas", lease_ms: LEASE_MS };
    let taken = false;
    patch.at = async (here) => {
      if (here !== "judging" || taken) return;
      taken = true;
      lapse();
      await claimStep(ports, { job_id: id }, other);
    };
    await expectCode(runJob({ ...ports, pauses: quickPauses() }, id, { workers: 1 }), "JOB_BUSY");
    expect([patch.read(TIDES), patch.applied]).toEqual([OLD, []]);
    expect(kindsOf((await readJob(ports, id)).entries)).toEqual(["MESSAGE_ACCEPTED", "PLAN"]);
  });

  it("that somebody began is not applied by a worker that lost its lease while it looked at the file", async () => {
    const id = await post(ports, makeMessage([writeTides()]));
    patch.at = async (here) => {
      if (here === "applying") throw CRASH;
    };
    await expect(run(id)).rejects.toBe(CRASH);
    patch.at = async () => undefined;
    lapse();
    const look = patch.fingerprint.bind(patch);
    patch.fingerprint = async (file_path) => {
      patch.fingerprint = look;
      // The second worker falls asleep here; a third takes the step, and this one must not touch the file any more.
      lapse();
      await claimStep(ports, { job_id: id }, { name: "tomas", lease_ms: LEASE_MS });
      return look(file_path);
    };
    await expectCode(runJob({ ...ports, pauses: quickPauses() }, id, { workers: 1 }), "JOB_BUSY");
    expect([patch.read(TIDES), patch.applied, patch.refreshed]).toEqual([OLD, [], []]);
    expect((await readJob(ports, id)).statuses).toEqual(["LEASED"]);
    lapse();
    await run(id);
    expect([patch.read(TIDES), patch.applied]).toEqual([NEW, [TIDES]]);
  });

  it("is a barrier: nothing behind it is begun before it is committed", async () => {
    const id = await post(ports, makeMessage([read("@TOOLS/BELL"), writeTides(), read("@CANON/LAMPS")]));
    const seen: string[][] = [];
    patch.at = async (here) => {
      if (here !== "judging") return;
      await expect(claimStep(ports, { job_id: id }, { name: "tomas", lease_ms: 1000 })).resolves.toBe("NO_STEP");
      seen.push((await readJob(ports, id)).statuses);
    };
    await run(id, 3);
    expect(seen).toEqual([["COMMITTED", "LEASED", "PENDING"]]);
  });
});

describe("an EXECUTE step", () => {
  it("runs under an id of its own attempt and names the proof", async () => {
    const id = await post(ports, makeMessage([execute("@TOOLS/COUNT", "proof")], { required_outputs: ["proof"] }));
    await run(id);
    const { receipts } = await readJob(ports, id);
    const proof_hash = nodeCrypto.sha256("proof of count the boats");
    const catalytic_run_id = `${receipts[0]!.step_id}-1`;
    expect(receipts[0]!.actions[0]!.result).toEqual({ catalytic_run_id, proof_hash });
    expect(receipts[0]!.outputs).toEqual({ proof: `sha256:${proof_hash}` });
    expect(runs.requests).toMatchObject([{ run_id: catalytic_run_id, earlier: [] }]);
  });

  it("names the attempts that may have crashed before it", async () => {
    const id = await post(ports, makeMessage([execute("@TOOLS/COUNT")]));
    for (let i = 0; i < 2; i++) {
      runs.at = () => Promise.reject(CRASH);
      await expect(run(id)).rejects.toBe(CRASH);
      lapse();
    }
    runs.at = async () => undefined;
    await run(id);
    const step = (await readJob(ports, id)).receipts[0]!.step_id;
    expect(runs.requests.at(-1)).toMatchObject({ run_id: `${step}-3`, earlier: [`${step}-1`, `${step}-2`] });
  });

  it("fails with the code and values of a run that is refused", async () => {
    const id = await post(ports, makeMessage([execute("@TOOLS/BAD")]));
    await expect(run(id)).rejects.toMatchObject({
      code: "JOB_FAILED",
      message: `step 1 (EXECUTE) of ${id} failed: RESTORE_MISMATCH {"files":["a.txt"]}`,
    });
    const { receipts } = await readJob(ports, id);
    expect(receipts[0]!.actions[0]!.result).toEqual({ code: "RESTORE_MISMATCH", details: { files: ["a.txt"] } });
  });

  it("is told when its lease is lost, and its result is discarded", async () => {
    const id = await post(ports, makeMessage([execute("@TOOLS/COUNT")]));
    const pauses = quickPauses();
    runs.at = async () => {
      if (runs.requests.length > 1) return;
      lapse();
      await claimStep(ports, { job_id: id }, { name: "tomas", lease_ms: LEASE_MS });
      pauses.tick();
      await new Promise<void>((done) => runs.requests[0]!.signal.addEventListener("abort", () => done()));
    };
    await expectCode(runJob({ ...ports, pauses }, id, { workers: 1 }), "JOB_BUSY");
    expect((await readJob(ports, id)).receipts).toEqual([]);
  });
});

describe("a READ step", () => {
  it("fails when its payload is gone, without a word about this machine", async () => {
    const id = await post(ports, makeMessage([read("@TOOLS/BELL"), read("@CANON/LAMPS")]));
    const [row] = await ports.store.read(({ jobs }) => jobs.steps(id));
    const hash = row!.resolved.content_hash!;
    rmSync(payloadPath(harness.folder, hash));
    await expectCode(run(id), "JOB_FAILED");
    const { receipts, statuses } = await readJob(ports, id);
    expect(statuses).toEqual(["FAILED", "PENDING"]);
    expect(receipts[0]!.actions[0]!.result).toMatchObject({ code: "CONTENT_STORE_CORRUPT", details: { hash } });
    expect(JSON.stringify(receipts)).not.toContain(harness.folder);
  });

  it.each([
    ["short", "@TOOLS/BELL", "PENDING"],
    ["long", "@LOG/ONE", "LEASED"],
  ])("of a %s text is tried again when this machine could not do it: no receipt", async (_, target, left) => {
    const id = await post(ports, makeMessage([read(target)]));
    const down = new VerbatimError("STORE_UNAVAILABLE");
    const broken = { ...ports, content: { ...ports.content, get: () => Promise.reject(down) } };
    await expect(runJob(broken, id, { workers: 1 })).rejects.toBe(down);
    expect(await readJob(ports, id)).toMatchObject({ statuses: [left], receipts: [] });
    lapse();
    await run(id);
    expect((await readJob(ports, id)).statuses).toEqual(["COMMITTED"]);
  });
});

describe("workers", () => {
  it("renew a lease while a step takes longer than it", async () => {
    const id = await post(ports, makeMessage([writeTides()]));
    const pauses = quickPauses();
    const expiry = async () => (await ports.store.read(({ jobs }) => jobs.step(id, 1)))!.lease_expires_ms!;
    patch.at = async (here) => {
      if (here !== "judging") return;
      for (let i = 0; i < 4; i++) {
        const before = await expiry();
        harness.clock.advance(LEASE_MS / 3);
        pauses.tick();
        await expect.poll(expiry).toBeGreaterThan(before);
      }
    };
    await runJob({ ...ports, pauses }, id, { workers: 1 });
    const rows = await ports.store.read(({ jobs }) => jobs.steps(id));
    expect(rows[0]).toMatchObject({ status: "COMMITTED", fencing_token: 1 });
  });

  it("wait for a step of the same process that is before theirs", async () => {
    const id = await post(ports, makeMessage([read("@LOG/ONE"), read("@LOG/TWO"), read("@LOG/THREE")]));
    const rows = await ports.store.read(({ jobs }) => jobs.steps(id));
    const first = rows[0]!.resolved.content_hash;
    const slow = {
      ...ports.content,
      async get(hash: string) {
        // The first step ends only after the others have finished their work.
        if (hash === first) await expect.poll(async () => (await readJob(ports, id)).statuses).not.toContain("PENDING");
        return ports.content.get(hash);
      },
    };
    await runJob({ ...ports, content: slow }, id, { workers: 3 });
    const { entries, statuses } = await readJob(ports, id);
    expect(statuses).toEqual(["COMMITTED", "COMMITTED", "COMMITTED"]);
    const receipts = entries.filter(({ kind }) => kind === "RECEIPT").map(({ body }) => JSON.parse(body) as unknown);
    expect(receipts).toMatchObject(rows.map(({ step }) => ({ step_id: step.step_id })));
  });

  it("do a step themselves whose worker died, while their own waits for it", async () => {
    const id = await post(ports, makeMessage([read("@LOG/ONE"), read("@LOG/TWO"), read("@LOG/THREE")]));
    await claimStep(ports, { job_id: id }, { name: "tomas", lease_ms: 1000 });
    await runJob({ ...ports, pauses: quickPauses() }, id, { workers: 1 });
    const rows = await ports.store.read(({ jobs }) => jobs.steps(id));
    expect(rows.map(({ status, fencing_token }) => [status, fencing_token])).toEqual([
      ["COMMITTED", 2],
      ["COMMITTED", 1],
      ["COMMITTED", 1],
    ]);
  });

  it("give up a step that waits for somebody else's, and say JOB_BUSY", async () => {
    const id = await post(ports, makeMessage([read("@LOG/ONE"), read("@LOG/TWO")]));
    await claimStep(ports, { job_id: id }, { name: "tomas", lease_ms: LEASE_MS });
    const error = await runJob({ ...ports, pauses: quickPauses() }, id, { workers: 2 }).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: "JOB_BUSY", details: { leases: [{ ordinal: 1, lease_owner: "tomas" }] } });
    expect(await readJob(ports, id)).toMatchObject({ statuses: ["LEASED", "LEASED"], receipts: [] });
  });

  it("say JOB_BUSY when only somebody else could go on", async () => {
    const id = await post(ports, makeMessage([read("@TOOLS/BELL")]));
    await claimStep(ports, { job_id: id }, { name: "tomas", lease_ms: LEASE_MS });
    await expectCode(runJob({ ...ports, pauses: quickPauses() }, id, { workers: 2 }), "JOB_BUSY");
  });

  it("run the steps of all open jobs once and count them", async () => {
    const ids: string[] = [];
    for (const word of ["dawn", "noon", "dusk"]) {
      ids.push(await post(ports, makeMessage([read("@TOOLS/BELL"), read("@CANON/LAMPS")], { intent: word })));
    }
    expect(await runWorkers(ports, { workers: 2, once: true })).toBe(6);
    for (const id of ids) expect((await readJob(ports, id)).statuses).toEqual(["COMMITTED", "COMMITTED"]);
    expect(await runWorkers(ports, { workers: 2, once: true })).toBe(0);
  });

  it("outlive what is only busy, say so, and do the step when its lease has run out", async () => {
    const id = await post(ports, makeMessage([execute("@TOOLS/COUNT")]));
    const stop = new AbortController();
    const said: string[] = [];
    let tries = 0;
    runs.at = async () => {
      if (++tries === 1) throw new VerbatimError("DOMAIN_BUSY", { message: "another run has the domain" });
      stop.abort();
    };
    const patient = { ...ports, pauses: quickPauses(), notify: (text: string) => said.push(text) };
    expect(await runWorkers(patient, { workers: 1, once: false, stop: stop.signal })).toBe(1);
    expect(said).toEqual(["DOMAIN_BUSY: another run has the domain; trying again"]);
    expect((await readJob(ports, id)).statuses).toEqual(["COMMITTED"]);
  });

  it("end with what is busy when they were to run once", async () => {
    await post(ports, makeMessage([execute("@TOOLS/COUNT")]));
    runs.at = async () => {
      throw new VerbatimError("DOMAIN_BUSY");
    };
    await expectCode(runWorkers(ports, { workers: 1, once: true }), "DOMAIN_BUSY");
  });

  it("end what they began when they are stopped, and begin nothing more", async () => {
    const id = await post(ports, makeMessage([execute("@TOOLS/COUNT"), read("@TOOLS/BELL")]));
    const stop = new AbortController();
    runs.at = async () => stop.abort();
    await runWorkers(ports, { workers: 1, once: false, stop: stop.signal });
    expect((await readJob(ports, id)).statuses).toEqual(["COMMITTED", "PENDING"]);
  });

  it("stop only after what they finished has taken effect, when a colleague is still busy before it", async () => {
    const id = await post(ports, makeMessage([read("@LOG/ONE"), read("@LOG/TWO"), read("@TOOLS/BELL")]));
    const rows = await ports.store.read(({ jobs }) => jobs.steps(id));
    const stop = new AbortController();
    const slow = {
      ...ports.content,
      async get(hash: string) {
        const bytes = await ports.content.get(hash);
        if (hash === rows[1]!.resolved.content_hash) setImmediate(() => stop.abort());
        if (hash === rows[0]!.resolved.content_hash) {
          await new Promise<void>((done) => stop.signal.addEventListener("abort", () => setTimeout(done, 60)));
        }
        return bytes;
      },
    };
    await runJob({ ...ports, content: slow }, id, { workers: 2, stop: stop.signal });
    expect((await readJob(ports, id)).statuses).toEqual(["COMMITTED", "COMMITTED", "PENDING"]);
  });

  it("say which required output is missing when a receipt lacks it", async () => {
    const id = await post(ports, makeMessage([read("@TOOLS/BELL", undefined, "bell")], { required_outputs: ["bell"] }));
    const forgetful = { ...ports, store: withoutOutputs(ports.store) };
    await expectCode(runJob(forgetful, id, { workers: 1 }), "JOB_OUTPUT_MISSING");
  });
});

/** A store whose receipts have lost their outputs, as only a damaged one could. */
function withoutOutputs(store: JobPortsOfTest["store"]): JobPortsOfTest["store"] {
  const forget = (jobs: JobsReader): JobsReader =>
    new Proxy(jobs, {
      get(target, name: keyof JobsReader) {
        if (name !== "receipts") return target[name].bind(target);
        return async (id: string) =>
          (await target.receipts(id)).map((row) => ({ ...row, receipt: { ...row.receipt, outputs: {} } }));
      },
    });
  return {
    close: () => store.close(),
    transact: (fn) => store.transact(fn),
    read: (fn) => store.read(({ ledger, jobs }) => fn({ ledger, jobs: forget(jobs) })),
  };
}

/** Pauses that pass at once on the clock of the test; `tick` is the time of a renewal. */
function quickPauses(): Pauses & { tick(): void } {
  const repeated = new Set<() => void>();
  return {
    async pause(milliseconds) {
      harness.clock.advance(milliseconds);
      await new Promise((done) => setImmediate(done));
    },
    every(_, fn) {
      repeated.add(fn);
      return () => void repeated.delete(fn);
    },
    wake: () => undefined,
    tick() {
      for (const fn of repeated) fn();
    },
  };
}
