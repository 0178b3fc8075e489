// Runs in which the guard, the disk, the command or a person fails them; with the weakest guard, which is everywhere.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
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
import { VerbatimError } from "../../../core/errors/index.ts";
import type { CatalyticPorts } from "../ports.ts";
import { recoverDead, recoverRuns } from "../recover/recover.ts";
import { listLocks } from "./lock-files.ts";
import { selectGuard } from "./run.ts";

const D = ".verbatim/scratch/d";
const OUT = ".verbatim/out";
let base: string;
let root: string;
let room: TestRun;
const opened: TestRun[] = [];
let before: Record<string, string>;

beforeEach(() => {
  ({ base, root } = makeCatalyticRepo());
  before = recordTree(base, isToolState);
});
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
  await runDisk.discard(base);
});

const open = (change: (real: CatalyticPorts) => Partial<CatalyticPorts>) => {
  room = openCatalytic(base, root, (real) => ({ ...real, ...withGuards(real, {}), ...change(real) }));
  opened.push(room);
};
const withGuards = (real: CatalyticPorts, more: Partial<CatalyticPorts["guards"]>) => ({
  guards: {
    // That one is not tried before it is used.
    probe: async () => ({}),
    landlockAbi: real.guards.landlockAbi.bind(real.guards),
    launch: real.guards.launch.bind(real.guards),
    endMarked: real.guards.endMarked.bind(real.guards),
    ...more,
  } as CatalyticPorts["guards"],
});
const run = (script: string, more: object = {}, options: object = {}) =>
  room.run(toJobSpec(["sh", "-c", script], { guard: "audit", ...more }), options);
const work = () => join(room.places.state, "catalytic/run-1");
const locks = () => listLocks(runDisk, room.ports.host, room.places.state).map(({ lock }) => lock);
const json = (file: string) =>
  JSON.parse(readFileSync(join(root, ".verbatim/runs/run-1", file), "utf8")) as Record<string, unknown>;

describe("the guard of a run", () => {
  const select = (platform: string, guard: string, probes: object, network = "inherit", except: string[] = []) =>
    selectGuard(
      { host: { platform }, guards: { probe: async () => probes } } as never,
      { jobspec: { guard, network } } as never,
      except as never,
    ).catch(({ code, message, where, fix }: VerbatimError) => ({ code, message, where, fix }));

  it("is refused with the reason of each that was asked for, how to mend it, and what would run instead", async () => {
    expect(await select("linux", "ns-bind", { "ns-bind": "TOOL_MISSING", landlock: "ok" })).toEqual({
      code: "GUARD_UNAVAILABLE",
      message: "--guard ns-bind, network inherit: ns-bind: TOOL_MISSING",
      where: "ns-bind",
      fix:
        "Install util-linux (unshare, setpriv) and perl; for ns-bind bubblewrap is enough. --guard landlock would run. " +
        "See verbatim catalytic doctor.",
    });
    expect(await select("linux", "require", { "ns-overlay": "SECCOMP_BLOCKED", landlock: "ok" }, "none")).toMatchObject(
      {
        code: "NETWORK_NOT_ENFORCEABLE",
        message: expect.stringMatching(/ns-overlay: SECCOMP_BLOCKED, .*landlock cannot cut off the network$/),
      },
    );
    expect(await select("linux", "seatbelt", { seatbelt: "ok" })).toMatchObject({
      message: "--guard seatbelt, network inherit: seatbelt: NOT_THIS_PLATFORM",
      fix: "It works only on another operating system. --guard audit would run. See verbatim catalytic doctor.",
    });
    expect(await select("other", "require", {})).toMatchObject({
      message: "--guard require, network inherit: there is no guard on this platform",
    });
  });

  it("is the next one where one is not to be had", async () => {
    const all = { "ns-overlay": "ok", "ns-bind": "ok" };
    expect([await select("linux", "auto", all), await select("linux", "auto", all, "inherit", ["ns-overlay"])]).toEqual(
      ["ns-overlay", "ns-bind"],
    );
  });

  it("is not an overlay over what belongs to another user, unless that was asked for or we are root", async () => {
    const notes: string[] = [];
    const choose = async (host: object, guard = "auto") => {
      let chosen = "";
      open((real) => ({
        ...withGuards(real, { probe: async () => ({ "ns-overlay": "ok", "ns-bind": "ok" }) as never }),
        host: { ...real.host, platform: "linux", ...host } as never,
        notify: (text) => void notes.push(text),
        announceGuard: (name) => {
          chosen = name;
          throw new Error("chosen");
        },
      }));
      await expect(run("true", { guard })).rejects.toThrow("chosen");
      return chosen;
    };
    const own = { uid: process.getuid!(), gid: process.getgid!() };
    const other = { uid: own.uid + 1, gid: own.gid };
    expect(await choose(other)).toBe("ns-bind");
    expect(notes).toEqual([expect.stringMatching(/^FOREIGN_OWNER: \.verbatim\/scratch\/d\/.* cannot be used$/)]);
    expect(await choose(other, "require")).toBe("ns-bind");
    expect(await choose({ uid: own.uid + 1, gid: own.gid + 1 })).toBe("ns-bind");
    expect(await choose(other, "ns-overlay")).toBe("ns-overlay");
    expect(await choose({ uid: 0, gid: own.gid + 1 })).toBe("ns-overlay");
    writeFileSync(join(root, "verbatim.config.json"), '{"catalytic":{"limits":{"max_entries":3}}}');
    expect(await choose(other)).toBe("ns-overlay");
  });
});

describe("a run whose guard is found out late", () => {
  it("is refused where that guard would let it write among the records of others", async () => {
    writeFileSync(join(root, "verbatim.config.json"), JSON.stringify({ catalytic: { runs_root: OUT } }));
    const told: string[] = [];
    open(() => ({ announceGuard: undefined as never, notify: (text) => void told.push(text) }));
    const outputs = { durable_paths: [`${OUT}/new.txt`] };
    await expect(run("echo x > src/ran", { guard: "auto", outputs })).rejects.toMatchObject({
      code: "PREFLIGHT_REJECTED",
      where: "/outputs/durable_paths/0",
    });
    expect([existsSync(join(root, "src/ran")), locks(), told]).toEqual([false, [], []]);
    await run("true", { guard: "auto" });
    expect(told).toEqual([expect.stringContaining("BLOCKS NOTHING")]);
  });
});

describe("a guard that does not start", () => {
  it("fails the run, which is proved all the same and holds nothing", async () => {
    const refusal = new VerbatimError("GUARD_START_FAILED", { message: "no room for another process" });
    open((real) => withGuards(real, { launch: () => Promise.reject(refusal) }));
    await expect(run(`echo x > ${D}/a.txt`)).rejects.toBe(refusal);
    expect(recordTree(base, isToolState)).toEqual(before);
    expect(json("STATUS.json")).toMatchObject({
      status: "failed",
      message: expect.stringContaining("no room for another process"),
    });
    expect(json("PROOF.json")).toMatchObject({
      command_result: { executed: false, exit_code: null, interrupted: false },
      restoration_result: { verified: false, domains_identical: true },
    });
    expect([locks(), existsSync(work())]).toEqual([[], false]);
  });
});

describe("a failure inside the tool", () => {
  const broken = new Error("input/output error");

  it.each([
    ["an error of the program", broken],
    ["a refusal that is not the guard's", new VerbatimError("DISK_FULL", {})],
  ])("is told, and the run is put back at once: %s", async (_, thrown) => {
    const notes: string[] = [];
    open((real) => ({
      ...withGuards(real, { launch: () => Promise.reject(thrown) }),
      notify: (text) => void notes.push(text),
    }));
    await expect(run("true")).rejects.toBe(thrown);
    expect(recordTree(base, isToolState)).toEqual(before);
    expect([locks(), existsSync(work()), notes.filter((text) => text.includes("put back"))]).toEqual([[], false, []]);
    expect(json("STATUS.json")).toMatchObject({ status: "failed", condition: "RECOVERED_AFTER_CRASH" });
  });

  it("that keeps the run from being put back is told as well, with what to do", async () => {
    const notes: string[] = [];
    const fail = () => Promise.reject(broken);
    open((real) => ({
      ...withGuards(real, { launch: fail, endMarked: fail }),
      notify: (text) => void notes.push(text),
    }));
    await expect(run("true")).rejects.toBe(broken);
    expect(notes).toContain(
      "run run-1 could not be put back: input/output error. When that is fixed, run: verbatim catalytic recover run-1",
    );
    expect(readFileSync(join(work(), "journal.jsonl"), "utf8")).toMatch(/"LEFT"[^\n]*\n$/);
    expect(locks().length).toBeGreaterThan(0);
  });

  it.each(["DISK_FULL", "INTERNAL"] as const)(
    "is what is told, not that its own note could not be written: %s",
    async (code) => {
      const second = new VerbatimError(code, {});
      let isBroken = false;
      const fail = () => {
        isBroken = true;
        return Promise.reject(broken);
      };
      open((real) => ({
        ...withGuards(real, { launch: fail, endMarked: fail }),
        disk: {
          ...real.disk,
          append: (place, parts) => {
            if (isBroken) throw second;
            real.disk.append(place, parts);
          },
        },
      }));
      // A full disk is known already; anything else is news.
      await expect(run("true")).rejects.toBe(code === "DISK_FULL" ? broken : second);
    },
  );
});

describe("a record that cannot be written", () => {
  it.each([
    ["an error of the program", new Error("input/output error"), { code: "ARTIFACT_WRITE_FAILED" }],
    ["a full disk", new VerbatimError("DISK_FULL", {}), { code: "DISK_FULL" }],
  ])("fails the run, and its outputs are taken back: %s", async (_, thrown, expected) => {
    open((real) => ({
      disk: {
        ...real.disk,
        replaceFile: (place, bytes, durable) => {
          if (place.endsWith("/VALIDATOR_ID.json")) throw thrown;
          real.disk.replaceFile(place, bytes, durable);
        },
      },
    }));
    const outputs = { durable_paths: [`${OUT}/new.txt`] };
    await expect(run(`echo 1 > ${OUT}/new.txt`, { outputs })).rejects.toMatchObject(expected);
    expect(existsSync(join(root, OUT, "new.txt"))).toBe(false);
  });

  it("somewhere else is still the command's not to touch, also before anybody knows that it has started", async () => {
    open((real) => ({
      guards: {
        ...real.guards,
        launch: async (request) => {
          const running = await real.guards.launch(request);
          await running.ended;
          return running;
        },
      },
    }));
    const runs = join(base, "elsewhere");
    const touched = join(runs, "run-1/STATUS.json");
    const result = await run(`echo x > ${touched}`, {}, { runs });
    expect(result).toMatchObject({ accepted: false, run_dir: join(runs, "run-1") });
    expect(result.violations).toEqual([{ code: "RUN_DIR_TOUCHED", path: touched }]);
  });
});

describe("a domain that cannot be read afterwards", () => {
  it("halts the run, which says which and why, and keeps its locks", async () => {
    let ended = false;
    open((real) => ({
      ...withGuards(real, {
        launch: async (request) => {
          const running = await real.guards.launch(request);
          return { ...running, ended: running.ended.finally(() => (ended = true)) };
        },
      }),
      disk: {
        ...real.disk,
        snapshot: (place, options) => {
          if (ended && place === join(root, D))
            return Promise.reject(new VerbatimError("DOMAIN_UNREADABLE", { details: { path: "sub" } }));
          return real.disk.snapshot(place, options);
        },
      },
    }));
    expect(await run(`echo x > ${D}/a.txt`)).toMatchObject({
      status: "halted",
      accepted: false,
      condition: "RESTORATION_FAILED_DOMAIN_UNREACHABLE",
    });
    const { pre_state, post_state } = json("PROOF.json") as Record<string, Record<string, Record<string, string>>>;
    expect(post_state![D]).toMatchObject({ error: "DOMAIN_UNREADABLE sub" });
    expect(post_state![D]!["tree_root"]).not.toBe(pre_state![D]!["tree_root"]);
    expect(readFileSync(join(root, ".verbatim/runs/run-1/LEDGER.jsonl"), "utf8")).toContain('"attempt":2');
    expect(locks()).toMatchObject([{ path: D, halted: true }]);
  });
});

describe("a signal", () => {
  it("that comes before the command starts keeps it from starting", async () => {
    let stopped = 0;
    open(() => ({
      interrupts: {
        listen: (onSignal) => {
          onSignal("SIGTERM");
          return () => void stopped++;
        },
      },
    }));
    const script = `echo x > src/ran; echo x > ${OUT}/new.txt`;
    const result = await run(script, { outputs: { durable_paths: [`${OUT}/new.txt`] } });
    expect(result).toMatchObject({ accepted: false, interrupted_by: "SIGTERM", exit_code: null, outputs: [] });
    expect([recordTree(base, isToolState), stopped]).toEqual([before, 1]);
    expect(json("PROOF.json")).toMatchObject({ command_result: { executed: false, interrupted: true } });
  });

  it("that comes while the command runs is told to it", async () => {
    let tell: (signal: "SIGINT" | "SIGTERM") => void = () => {};
    open(() => ({
      interrupts: {
        listen: (onSignal) => {
          tell = onSignal;
          return () => undefined;
        },
      },
      onOutput: () => tell("SIGINT"),
    }));
    const result = await run(`trap 'exit 9' INT; echo x > ${D}/a.txt; echo started; while :; do sleep 0.05; done`);
    expect(result).toMatchObject({ accepted: false, interrupted_by: "SIGINT" });
    expect(recordTree(base, isToolState)).toEqual(before);
  });
});

it("a work directory that somebody wants to keep stays, and is nothing to recover", async () => {
  open(() => ({}));
  expect(await run("true", {}, { keep_work: true })).toMatchObject({ accepted: true });
  expect([existsSync(join(work(), "journal.jsonl")), locks()]).toEqual([true, []]);
  const journal = readFileSync(join(work(), "journal.jsonl"), "utf8").trimEnd().split("\n");
  const steps = journal.map((line) => JSON.parse(line) as { op: string; attempt?: number });
  expect(steps.map(({ op }) => op)).toEqual([
    "BEGIN",
    "SNAPSHOT_DONE",
    "SWAP_INTENT",
    "SWAPPED",
    "EXEC_STARTED",
    "EXEC_ENDED",
    "SEALED",
    "RESTORED",
    "COMPARED",
    "PUBLISH_INTENT",
    "PUBLISHED",
    "PROOF_WRITTEN",
    "CLEANED",
  ]);
  expect(steps.find(({ op }) => op === "RESTORED")?.attempt).toBe(1);
  expect(readFileSync(join(root, ".verbatim/runs/run-1/LEDGER.jsonl"), "utf8")).toContain('"attempt":1');
  expect(runDisk.stat(join(work(), "reserve"))?.size).toBe(262_144);
  const all = { run_id: null, dry_run: false, force: true };
  expect(await recoverRuns(room.ports, room.places.state, all)).toEqual([]);
  // Also when whoever kept it is gone.
  appendFileSync(join(work(), "journal.jsonl"), '{"op":"LEFT"}\n');
  expect(await recoverDead(room.ports, room.places.state)).toEqual([]);
  expect(existsSync(work())).toBe(true);
});
