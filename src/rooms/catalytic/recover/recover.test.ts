// Runs that a failure inside the tool left behind, and what recovery makes of them.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  isToolState,
  makeCatalyticRepo,
  openCatalytic,
  recordTree,
  type TestRun,
  toJobSpec,
} from "../../../../test/support/catalytic-repo.ts";
import { runDisk } from "../../../adapters/disk/runs/run-disk.ts";
import { catalyticRecover } from "../operations/index.ts";
import type { CatalyticPorts } from "../ports.ts";
import { listLocks } from "../run/lock-files.ts";
import { acceptCurrent, listHalted, retryHalted } from "./halted.ts";
import { recoverDead, recoverRuns } from "./recover.ts";

const D = ".verbatim/scratch/d";
const OUT = ".verbatim/out";
let base: string;
let root: string;
let room: TestRun;
let broken = true;
let before: Record<string, string>;
class Broken extends Error {}

/** Ports that fail at one call, and cannot even put the run back, until they are mended. */
function fragile(fail: (ports: CatalyticPorts) => Partial<CatalyticPorts>) {
  return (real: CatalyticPorts): CatalyticPorts => {
    const guards = {
      ...real.guards,
      probe: real.guards.probe.bind(real.guards),
      launch: real.guards.launch.bind(real.guards),
      endMarked: (mark: never) => (broken ? Promise.reject(new Broken()) : real.guards.endMarked(mark)),
    };
    const ports = { ...real, guards: guards as never };
    return { ...ports, ...fail(ports) };
  };
}

beforeEach(() => {
  broken = true;
  ({ base, root } = makeCatalyticRepo());
  before = recordTree(base, isToolState);
});
afterEach(async () => {
  await room.close();
  await runDisk.discard(base);
});

const state = () => room.places.state;
const recover = (more: object = {}) =>
  recoverRuns(room.ports, state(), { run_id: null, dry_run: false, force: false, ...more });
const locks = () => listLocks(runDisk, room.ports.host, state()).map(({ lock }) => lock.path);
const status = () =>
  JSON.parse(readFileSync(join(root, ".verbatim/runs/run-1/STATUS.json"), "utf8")) as Record<string, unknown>;

/** A run that changes its domain and makes an output, and then meets the failure. */
async function leave(fail: (ports: CatalyticPorts) => Partial<CatalyticPorts>): Promise<void> {
  room = openCatalytic(base, root, fragile(fail));
  const outputs = { durable_paths: [`${OUT}/new.txt`] };
  const script = `echo x > ${D}/a.txt; echo 1 > ${OUT}/new.txt`;
  await expect(room.run(toJobSpec(["sh", "-c", script], { guard: "audit", outputs }))).rejects.toThrow();
}

/** Somebody changes a file of the domain that was put aside, so that it cannot be put back as it was. */
function editWhatWasKept(): void {
  const [begin] = readFileSync(join(state(), "catalytic/run-1/journal.jsonl"), "utf8").split("\n");
  const { domains } = JSON.parse(begin!) as { domains: { aside: string }[] };
  writeFileSync(join(domains[0]!.aside, "sub/b.txt"), "edited meanwhile\n");
}

const failLast = () => ({
  records: {
    append: async () => {},
    appendRun: () => (broken ? Promise.reject(new Broken()) : Promise.resolve()),
  } as never,
});
const failDuring = (real: CatalyticPorts) => ({
  guards: {
    ...real.guards,
    launch: async (request: never) => {
      const running = await real.guards.launch(request);
      return broken ? { ...running, ended: running.ended.then(() => Promise.reject(new Broken())) } : running;
    },
  } as never,
});

describe("a run that failed while its command ran", () => {
  it("is put back by recovery, with a proof of its own, and holds nothing afterwards", async () => {
    await leave(failDuring);
    expect(locks().length).toBeGreaterThan(0);
    const dry = await recover({ dry_run: true });
    expect(dry).toMatchObject([{ run_id: "run-1", action: "recover", final_status: "failed" }]);
    expect(locks().length).toBeGreaterThan(0);
    expect(await recover({ run_id: "another" })).toEqual([]);
    broken = false;
    expect(await recover({ run_id: "run-1" })).toMatchObject([
      { run_id: "run-1", action: "recover", code: null, final_status: "failed", condition: "RECOVERED_AFTER_CRASH" },
    ]);
    expect(recordTree(base, isToolState)).toEqual(before);
    expect([locks(), existsSync(join(state(), "catalytic/run-1"))]).toEqual([[], false]);
    expect(existsSync(join(root, ".verbatim/runs/run-1/PROOF.json"))).toBe(true);
    expect(status()).toMatchObject({
      status: "failed",
      condition: "RECOVERED_AFTER_CRASH",
      restoration_verified: false,
    });
    expect(await recover()).toEqual([]);
  });

  it("is put back by the next run of anybody, who is told", async () => {
    await leave(failDuring);
    broken = false;
    expect(await recoverDead(room.ports, state())).toEqual(["recovered run run-1: failed, RECOVERED_AFTER_CRASH"]);
    expect(recordTree(base, isToolState)).toEqual(before);
  });

  it("is halted when its domain is not as it was, until a person decides", async () => {
    await leave(failDuring);
    broken = false;
    editWhatWasKept();
    expect(await recover()).toMatchObject([{ action: "halt", code: "RESTORE_FAILED", final_status: "halted" }]);
    expect(listHalted(room.ports, state())).toEqual(["run-1"]);
    const record = join(root, ".verbatim/runs/run-1");
    expect(await retryHalted(room.ports, state(), record, "run-1")).toMatchObject({
      action: "halt",
      steps: ["COMPARE"],
    });
    await expect(retryHalted(room.ports, state(), record, "run-2")).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
    await expect(
      acceptCurrent(room.ports, state(), { run_id: "run-2", by: "Ada", reason: "no" }),
    ).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
    writeFileSync(join(root, D, "sub/b.txt"), "beta\n");
    expect(await retryHalted(room.ports, state(), record, "run-1")).toMatchObject({
      action: "recover",
      final_status: "unchanged",
      steps: ["COMPARE", "RELEASE_LOCKS"],
    });
    expect([listHalted(room.ports, state()), locks(), await recover()]).toEqual([[], [], []]);
  });

  it("stays halted for whoever asks without a name, a reason or the run", async () => {
    await leave(failDuring);
    broken = false;
    editWhatWasKept();
    const ports = { ...room.ports, folder: null, places: () => ({ ...room.places, config: {} }) };
    const ask = (words: object) => catalyticRecover.run(ports as never, catalyticRecover.input.parse(words));
    const halted = { run_id: "run-1", action: "halt", code: "RESTORE_FAILED", final_status: "halted" };
    for (const words of [{}, {}, { run: "run-1" }]) expect(await ask(words)).toMatchObject({ runs: [halted] });
    expect(await recoverDead(room.ports, state())).toEqual([]);
    await expect(ask({ run: "run-2" })).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
    const kept = readFileSync(join(root, ".verbatim/runs/run-1/STATUS.json"));
    writeFileSync(join(root, ".verbatim/runs/run-1/STATUS.json"), '{"condition":5}');
    await runDisk.discard(join(state(), "catalytic/run-1"));
    expect(await ask({})).toMatchObject({ runs: [{ ...halted, condition: null }] });
    writeFileSync(join(root, ".verbatim/runs/run-1/STATUS.json"), kept);
    const whole = { accept_current: true, run: "run-1", by: "Ada", reason: "the edit is mine" };
    for (const missing of ["run", "by", "reason"]) {
      await expect(ask({ ...whole, [missing]: undefined })).rejects.toMatchObject({ code: "USAGE" });
    }
    await expect(ask({ retry: true })).rejects.toMatchObject({ code: "USAGE" });
    expect(await ask({ retry: true, run: "run-1" })).toMatchObject({ runs: [{ ...halted, steps: ["COMPARE"] }] });
    expect(listHalted(room.ports, state())).toEqual(["run-1"]);
    expect(await ask(whole)).toEqual({
      runs: [
        {
          run_id: "run-1",
          action: "finish",
          code: null,
          steps: ["RELEASE_LOCKS"],
          final_status: "unchanged",
          condition: null,
        },
      ],
    });
    expect([listHalted(room.ports, state()), locks()]).toEqual([[], []]);
    expect(await ask({})).toEqual({ runs: [] });
  });
});

describe("a run that failed after its proof", () => {
  it("is finished, and its outputs stay", async () => {
    await leave(failLast);
    broken = false;
    expect(await recover()).toMatchObject([{ action: "finish", code: null, final_status: "unchanged" }]);
    expect(readFileSync(join(root, OUT, "new.txt"), "utf8")).toBe("1\n");
    expect([locks(), existsSync(join(state(), "catalytic/run-1"))]).toEqual([[], false]);
  });

  it("loses its outputs when the proof is not what we wrote", async () => {
    await leave(failLast);
    broken = false;
    writeFileSync(join(root, ".verbatim/runs/run-1/STDOUT.log"), "forged\n");
    const [done] = await recover();
    expect(done).toMatchObject({ action: "recover", final_status: "failed" });
    expect(existsSync(join(root, OUT, "new.txt"))).toBe(false);
  });
});

describe("what is left of runs that never began", () => {
  it("is swept away, and what lives or waits is not", async () => {
    room = openCatalytic(base, root);
    const works = join(state(), "catalytic");
    for (const name of ["dead", "_index"]) mkdirSync(join(works, name), { recursive: true });
    mkdirSync(join(state(), "locks"), { recursive: true });
    const { host } = room.ports;
    const lock = (name: string, more: object) =>
      writeFileSync(
        join(state(), "locks", `${name}.json`),
        JSON.stringify({
          run_id: name,
          path: name,
          root,
          host: host.host,
          boot_id: host.boot_id,
          pid_ns: host.pid_ns,
          pid: host.pid,
          pid_start: host.pid_start,
          ...more,
        }),
      );
    lock("living", {});
    lock("gone", { pid_start: "0" });
    lock("waiting", { pid_start: "0", halted: true });
    mkdirSync(join(works, "living"));
    expect(await recover({ dry_run: true })).toEqual([]);
    expect(locks().sort()).toEqual(["gone", "living", "waiting"]);
    await recover();
    expect(locks().sort()).toEqual(["living", "waiting"]);
    expect(runDisk.list(works)!.sort()).toEqual(["_index", "living"]);
  });
});
