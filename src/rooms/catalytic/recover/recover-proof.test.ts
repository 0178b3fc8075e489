// What recovery writes down about a run that the tool left, and what it puts back or leaves to others.
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
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
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import { runDisk } from "../../../adapters/disk/runs/run-disk.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { CatalyticPorts, RunDisk } from "../ports.ts";
import { Journal } from "../record/journal.ts";
import { listStrays, readRecord } from "../record/record-files.ts";
import { verifyRun } from "../verify/verify.ts";
import { runInView } from "../view/view.ts";
import { recoverDead, recoverRuns } from "./recover.ts";
import { isKept, listUnfinished } from "./unfinished.ts";

const D = ".verbatim/scratch/d";
const OUT = ".verbatim/out";
const RECORD = ".verbatim/runs/run-1";
let base: string;
let root: string;
let room: TestRun;
let before: Record<string, string>;
/** Until it is mended, the tool fails at one moment and cannot put the run back either. */
let broken: boolean;
/** What the ledger of the product was given. */
let appended: readonly { readonly kind: string }[];
/** Calls of the disk that a test answers itself. */
let disk: Partial<RunDisk>;

type Moment = "before" | "during" | "after";

beforeEach(() => {
  [broken, appended, disk] = [true, [], {}];
  ({ base, root } = makeCatalyticRepo());
  before = recordTree(base, isToolState);
});
afterEach(async () => {
  await room.close();
  await runDisk.discard(base);
});

const at = (...parts: string[]) => join(root, ...parts);
const work = (...parts: string[]) => join(room.places.state, "catalytic/run-1", ...parts);
const json = (name: string) => JSON.parse(readFileSync(at(RECORD, name), "utf8")) as Record<string, unknown>;
const kinds = () =>
  readFileSync(at(RECORD, "LEDGER.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { kind: string }).kind);

function open(moment: Moment): void {
  const fail = () => Promise.reject(new Error("broken"));
  const change = (real: CatalyticPorts): CatalyticPorts => ({
    ...real,
    guards: {
      ...real.guards,
      // The weakest guard is not tried before it is used.
      probe: async () => ({}),
      endMarked: (mark: never) => (broken ? fail() : real.guards.endMarked(mark)),
      launch: async (request: never) => {
        const running = await real.guards.launch(request);
        return broken && moment === "during" ? { ...running, ended: running.ended.then(fail) } : running;
      },
    } as never,
    disk: {
      ...real.disk,
      scan: (place, options) =>
        broken && moment === "before" && place === root ? fail() : real.disk.scan(place, options),
      snapshot: (place, options) => (disk.snapshot ?? real.disk.snapshot)(place, options),
    },
    records: {
      append: async () => {},
      appendRun: async (entries) => {
        if (broken && moment === "after") await fail();
        appended = entries as never;
      },
    },
  });
  room = openCatalytic(base, root, change);
}

/** Leaves a run that changed its domain and made an output behind, and mends what was broken. */
async function leave(moment: Moment, more: object = {}): Promise<void> {
  open(moment);
  const outputs = { durable_paths: [`${OUT}/new.txt`] };
  const script = `echo x > ${D}/a.txt; echo 1 > ${OUT}/new.txt`;
  await expect(room.run(toJobSpec(["sh", "-c", script], { guard: "audit", outputs, ...more }))).rejects.toThrow();
  broken = false;
}

const recover = (more: object = {}) =>
  recoverRuns(room.ports, room.places.state, { run_id: null, dry_run: false, force: false, ...more });
const verify = () =>
  verifyRun(
    nodeCrypto,
    { name: "run-1", files: readRecord(runDisk, at(RECORD)), strays: listStrays(runDisk, at(RECORD)) },
    { pins: [], policy_sha256: null, tree: "skip", strict_tree: false },
  );
const RECOVERED = { action: "recover", final_status: "failed", condition: "RECOVERED_AFTER_CRASH" };

describe("the record of a run that was recovered", () => {
  it("says that its command was started, keeps what was logged, and verifies", async () => {
    await leave("during");
    const was = kinds();
    appendFileSync(at(RECORD, "LEDGER.jsonl"), '{"torn":');
    for (const name of ["extra", "STDOUT.log", "PROOF.dsse.json"]) writeFileSync(at(RECORD, name), "of nobody\n");
    mkdirSync(at(RECORD, "folder"));
    expect(await recover()).toMatchObject([RECOVERED]);
    expect(recordTree(base, isToolState)).toEqual(before);
    expect(json("PROOF.json")).toMatchObject({
      recovered: true,
      command_result: {
        executed: true,
        exit_code: null,
        signal: null,
        timed_out: false,
        interrupted: false,
        orphans_killed: 0,
      },
      guard: { name: "audit", requested: "audit", network: "inherit", tripwire: { scope: "full", entries: 0 } },
      restoration_result: { verified: false, domains_identical: true, mismatch_count: 0 },
    });
    expect(kinds()).toEqual([...was, "RECOVERED", "RUN"]);
    expect(appended.map(({ kind }) => kind)).toEqual(kinds());
    expect(await verify()).toMatchObject({ genuine: true, accepted: false });
    for (const name of ["extra", "PROOF.dsse.json", "folder"]) expect(existsSync(at(RECORD, name))).toBe(false);
  });

  it("says that its command was not started where it was not", async () => {
    await leave("before");
    // Nothing was written in place, so this is somebody else's.
    writeFileSync(at(OUT, "theirs.txt"), "theirs\n");
    expect(await recover()).toMatchObject([RECOVERED]);
    expect(json("PROOF.json")).toMatchObject({ command_result: { executed: false } });
    expect(readFileSync(at(OUT, "theirs.txt"), "utf8")).toBe("theirs\n");
    expect(await verify()).toMatchObject({ genuine: true });
  });

  it("has one end, also where it had ended before, and only its own outputs are taken back", async () => {
    await leave("after");
    const was = kinds();
    expect(was.at(-1)).toBe("RUN");
    writeFileSync(at(RECORD, "STDOUT.log"), "forged\n");
    writeFileSync(at(OUT, "theirs.txt"), "theirs\n");
    const [planned] = await recover({ dry_run: true });
    expect(planned!.steps).toContain("QUARANTINE_STAGED");
    expect(await recover()).toMatchObject([RECOVERED]);
    expect(kinds()).toEqual([...was.slice(0, -1), "RECOVERED", "RUN"]);
    expect(json("QUARANTINE.json")).toMatchObject({ [`${OUT}/new.txt`]: { type: "file", size: 2 } });
    expect([existsSync(at(OUT, "new.txt")), readFileSync(at(OUT, "theirs.txt"), "utf8")]).toEqual([false, "theirs\n"]);
    expect(await verify()).toMatchObject({ genuine: true });
  });

  it.each([
    ["that is gone", () => rmSync(at(RECORD, "LEDGER.jsonl"))],
    ["that is not text", () => writeFileSync(at(RECORD, "LEDGER.jsonl"), Uint8Array.of(0xff, 0x0a))],
  ])("can be made without a ledger, and with one %s", async (_, spoil) => {
    await leave("during");
    spoil();
    expect(await recover()).toMatchObject([RECOVERED]);
    expect([json("RUN_INFO.json")["timestamp"], kinds()]).toEqual(["1970-01-01T00:00:00.000Z", ["RECOVERED", "RUN"]]);
    expect(await verify()).toMatchObject({ genuine: true });
  });

  it("is a status and no proof where nothing had been changed, or nobody can say what was declared", async () => {
    const journal = () => readFileSync(work("journal.jsonl"), "utf8");
    await leave("before");
    const whole = journal();
    const begin = whole.slice(0, whole.indexOf("\n") + 1);
    await recover();
    const rest = async (break_: () => void) => {
      for (const name of ["PROOF.json", "STATUS.json"]) rmSync(at(RECORD, name), { force: true });
      mkdirSync(work(), { recursive: true });
      writeFileSync(work("journal.jsonl"), `${begin}{"op":"LEFT"}\n`);
      break_();
      expect(await recover()).toMatchObject([RECOVERED]);
      return [existsSync(at(RECORD, "PROOF.json")), existsSync(at(RECORD, "STATUS.json"))];
    };
    expect(await rest(() => undefined)).toEqual([false, true]);
    expect(json("STATUS.json")).toMatchObject({ status: "failed", phase: 1, condition: "RECOVERED_AFTER_CRASH" });
    const snapshot = () => writeFileSync(work("journal.jsonl"), `${begin}{"op":"SNAPSHOT_DONE"}\n{"op":"LEFT"}\n`);
    expect(
      await rest(() => {
        snapshot();
        rmSync(at(RECORD, "JOBSPEC.json"));
      }),
    ).toEqual([false, true]);
    expect(await rest(() => rmSync(at(RECORD), { recursive: true }))).toEqual([false, false]);
    expect(existsSync(at(RECORD))).toBe(false);
  });
});

describe("the domain of a run that was recovered", () => {
  const aside = (...parts: string[]) => work("orig0", ...parts);

  it("gets one mode back, and more than one thing", async () => {
    await leave("during");
    chmodSync(aside("run.sh"), 0o600);
    expect(await recover()).toMatchObject([RECOVERED]);
    expect(recordTree(base, isToolState)).toEqual(before);
  });

  it("gets modes, links and empty folders back", async () => {
    await leave("during");
    chmodSync(aside("run.sh"), 0o600);
    rmSync(aside("link"));
    rmSync(aside("empty"), { recursive: true });
    expect(await recover()).toMatchObject([RECOVERED]);
    expect(recordTree(base, isToolState)).toEqual(before);
  });

  it("gets the modes back that the tool itself had opened", async () => {
    await leave("during");
    const place = at("src/app.txt");
    const mode = statSync(place).mode;
    chmodSync(place, 0o777);
    new Journal(runDisk, work("journal.jsonl")).record("CHMOD", { path: place, mode: (mode & 0o7777).toString(8) });
    await recover();
    expect(statSync(place).mode).toBe(mode);
  });

  it("that cannot be read halts the run, with the reason in its proof; an error of the program is thrown", async () => {
    await leave("during");
    const fault = new Error("input/output error");
    disk = {
      snapshot: (place, options) => (place === at(D) ? Promise.reject(fault) : runDisk.snapshot(place, options)),
    };
    await expect(recover()).rejects.toBe(fault);
    const unreadable = new VerbatimError("DOMAIN_UNREADABLE", { details: { path: "sub" } });
    disk = {
      snapshot: (place, options) => (place === at(D) ? Promise.reject(unreadable) : runDisk.snapshot(place, options)),
    };
    expect(await recover()).toMatchObject([{ action: "halt", code: "RESTORE_FAILED", final_status: "halted" }]);
    expect(json("PROOF.json")).toMatchObject({
      post_state: { [D]: { error: "DOMAIN_UNREADABLE sub" } },
      restoration_result: { mismatch_count: 11 },
    });
    expect(json("STATUS.json")).toMatchObject({
      status: "halted",
      condition: "RESTORATION_FAILED_DOMAIN_UNREACHABLE",
      next_step: "verbatim catalytic recover run-1 --retry",
    });
  });

  it("that is lost halts the run before its command was started too, which is told", async () => {
    await leave("before");
    await runDisk.discard(aside());
    expect(await recoverDead(room.ports, room.places.state)).toEqual([
      "recovered run run-1: halted, RESTORATION_FAILED_DOMAIN_UNREACHABLE",
    ]);
    expect(json("STATUS.json")).toMatchObject({ status: "halted" });
    expect(existsSync(at(RECORD, "PROOF.json"))).toBe(false);
  });
});

describe("a folder that the tool had made", () => {
  it("is taken away, unless somebody has put their own in its place", async () => {
    const outputs = { durable_paths: [`${OUT}/made/new.txt`] };
    await leave("before", { outputs });
    expect(existsSync(at(OUT, "made"))).toBe(true);
    await recover();
    expect(recordTree(base, isToolState)).toEqual(before);
    await runDisk.discard(at(".verbatim/runs"));
    await room.close();
    broken = true;
    await leave("before", { outputs });
    renameSync(at(OUT, "made"), at(OUT, "theirs"));
    mkdirSync(at(OUT, "made"));
    await recover();
    expect([existsSync(at(OUT, "made")), existsSync(at(OUT, "theirs"))]).toEqual([true, true]);
  });
});

describe("a run that had been proved", () => {
  it("is finished by the next run of anybody, who is told, and its entries are in the ledger", async () => {
    await leave("after");
    symlinkSync("elsewhere", at(RECORD, ".tmp-1"));
    expect(await recoverDead(room.ports, room.places.state)).toEqual(["recovered run run-1: unchanged"]);
    expect(appended.map(({ kind }) => kind)).toEqual(kinds());
    expect([readFileSync(at(OUT, "new.txt"), "utf8"), existsSync(work())]).toEqual(["1\n", false]);
    expect(await verify()).toMatchObject({ accepted: true });
  });
});

describe("a view that was left", () => {
  it("is over, and what people did to the real tree meanwhile is theirs", async () => {
    open("during");
    const view = { ...room.places, command: ["sh", "-c", "echo x > src/app.txt"], intent: "Try", run_id: "run-1" };
    await expect(runInView(room.ports, { ...view, guard: "audit" })).rejects.toThrow();
    broken = false;
    writeFileSync(at("src/app.txt"), "mine\n");
    const read: string[] = [];
    disk = {
      snapshot: (place, options) => {
        read.push(place);
        return runDisk.snapshot(place, options);
      },
    };
    expect(await recover()).toMatchObject([RECOVERED]);
    expect([readFileSync(at("src/app.txt"), "utf8"), read.includes(root)]).toEqual(["mine\n", false]);
    expect(json("PROOF.json")).toMatchObject({ recovered: true, restoration_result: { domains_identical: true } });
  });
});

describe("what is left of runs", () => {
  it("is swept away by the next run of anybody when it never began", async () => {
    open("during");
    mkdirSync(work(), { recursive: true });
    expect(await recoverDead(room.ports, room.places.state)).toEqual([]);
    expect(existsSync(work())).toBe(false);
  });

  it("is known by its journal, with the place of its record", async () => {
    await leave("during");
    const [run] = listUnfinished(room.ports, room.places.state);
    expect(run).toMatchObject({ run_id: "run-1", owner: "dead", places: { root, record_path: RECORD } });
    const text = readFileSync(work("journal.jsonl"), "utf8");
    writeFileSync(work("journal.jsonl"), text.replace(JSON.stringify(at(RECORD)), '"/elsewhere/run-1"'));
    const [away] = listUnfinished(room.ports, room.places.state);
    expect(away).toMatchObject({ places: { record: "/elsewhere/run-1", record_path: null } });
    writeFileSync(work("journal.jsonl"), text);
    await recover();
  });

  it("was kept on purpose when the journal says so", () => {
    expect([isKept([{ op: "BEGIN" }, { op: "CLEANED" }]), isKept([{ op: "BEGIN" }]), isKept([])]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
