// What stands between a run and a broken promise when something else fails at the same time.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runDisk } from "../../src/adapters/disk/runs/run-disk.ts";
import type { CatalyticPorts } from "../../src/rooms/catalytic/ports.ts";
import { recoverRuns } from "../../src/rooms/catalytic/recover/recover.ts";
import {
  makeCatalyticRepo,
  openCatalytic,
  openWhile,
  recordTree,
  type TestRun,
  toJobSpec,
} from "../support/catalytic-repo.ts";

const D = ".verbatim/scratch/d";
const OUT = ".verbatim/out";
const NOTHING = { run_id: null, dry_run: false, force: false };
let base: string;
let root: string;
let room: TestRun;

beforeEach(() => {
  ({ base, root } = makeCatalyticRepo());
  room = openCatalytic(base, root);
});

afterEach(async () => {
  await room.close();
  await runDisk.discard(base);
});

/**
 * A room in which the disk fails from some moment on, so that the tool cannot put its run back either. Where the command
 * names the moment, its end waits for the words: they come by another way than the news of the end.
 */
function openFailing(failsAt: (place: string) => boolean, moment: "record" | "words" = "record"): TestRun {
  let isBroken = false;
  let hear = () => {};
  const heard = new Promise<void>((resolve) => {
    hear = resolve;
  });
  const broken = () => Object.assign(new Error("input/output error"), { code: "EIO" });
  const guard = <T extends unknown[], R>(work: (...args: T) => R) => {
    return (...args: T): R => {
      if (isBroken) throw broken();
      return work(...args);
    };
  };
  return openCatalytic(
    base,
    root,
    (ports): CatalyticPorts => ({
      ...ports,
      onOutput(_, bytes) {
        isBroken ||= failsAt(Buffer.from(bytes).toString());
        if (isBroken) hear();
      },
      guards: {
        ...ports.guards,
        endMarked: guard(ports.guards.endMarked),
        async launch(request) {
          const running = await ports.guards.launch(request);
          if (moment === "record") return running;
          return { ...running, ended: running.ended.then((ending) => heard.then(() => ending)) };
        },
      },
      disk: {
        ...ports.disk,
        scan: guard(ports.disk.scan),
        snapshot: guard(ports.disk.snapshot),
        replaceFile(place, bytes, durable) {
          isBroken ||= failsAt(place);
          guard(ports.disk.replaceFile)(place, bytes, durable);
        },
      },
    }),
  );
}

/** A run that is given up in the middle, as a crash would leave it. */
async function abandon(guard: string): Promise<void> {
  const failing = openFailing((text) => text.includes("now"), "words");
  const script = `echo changed > ${D}/a.txt; echo now`;
  await expect(failing.run(toJobSpec(["sh", "-c", script], { guard }))).rejects.toThrow();
  await failing.close();
}

const journal = () => readFileSync(join(root, ".verbatim/state/catalytic/run-1/journal.jsonl"), "utf8");

describe("outputs of a run whose record cannot be written", () => {
  const outputs = { durable_paths: [`${OUT}/new.txt`, `${OUT}/old.txt`] };
  const script = `echo 1 > ${OUT}/new.txt; echo 2 > ${OUT}/old.txt`;

  it("are taken back at once, also when the run itself cannot be put back", async () => {
    const before = recordTree(join(root, OUT));
    const failing = openFailing((place) => place.endsWith("/VALIDATOR_ID.json"));
    await expect(failing.run(toJobSpec(["sh", "-c", script], { outputs }))).rejects.toThrow();
    await failing.close();
    expect(journal()).toContain('"LEFT"');
    expect(recordTree(join(root, OUT))).toEqual(before);
  });

  it("are left where somebody else has put a file of their own meanwhile", async () => {
    const mine = join(root, OUT, "new.txt");
    const failing = openFailing((place) => {
      if (!place.endsWith("/VALIDATOR_ID.json")) return false;
      rmSync(mine);
      writeFileSync(mine, "mine\n");
      return true;
    });
    await expect(failing.run(toJobSpec(["sh", "-c", script], { outputs }))).rejects.toThrow();
    await failing.close();
    await recoverRuns(room.ports, room.places.state, NOTHING);
    expect(readFileSync(mine, "utf8")).toBe("mine\n");
    expect(readFileSync(join(root, OUT, "old.txt"), "utf8")).toBe("old\n");
  });
});

describe("a run that was given up", () => {
  const aside = () => join(root, ".verbatim/state/catalytic/run-1/orig0");

  it("does not get a folder for its original that only stands where it would be", async () => {
    const before = recordTree(join(root, D));
    await abandon("audit");
    rmSync(join(root, D), { recursive: true });
    renameSync(aside(), join(root, D));
    mkdirSync(aside());
    writeFileSync(join(aside(), "planted"), "planted\n");
    expect(await recoverRuns(room.ports, room.places.state, NOTHING)).toMatchObject([
      { action: "recover", final_status: "failed", condition: "RECOVERED_AFTER_CRASH" },
    ]);
    expect(recordTree(join(root, D))).toEqual(before);
  });

  it("is halted when its original is neither in its place nor aside, whatever stands there", async () => {
    await abandon("audit");
    await runDisk.discard(aside());
    mkdirSync(aside());
    const now = recordTree(join(root, D));
    expect(await recoverRuns(room.ports, room.places.state, NOTHING)).toMatchObject([
      { action: "halt", code: "DOMAIN_ORIGINAL_LOST", final_status: "halted" },
    ]);
    expect(recordTree(join(root, D))).toEqual(now);
    await expect(room.run(toJobSpec(["true"], { run_id: "run-2" }))).rejects.toMatchObject({ code: "DOMAIN_HALTED" });
  });

  it("is not finished by a proof that somebody wrote for it", async () => {
    await abandon("ns-overlay");
    const record = join(root, ".verbatim/runs/run-1");
    writeFileSync(join(record, "PROOF.json"), '{"restoration_result":{"verified":true}}\n');
    expect(await recoverRuns(room.ports, room.places.state, NOTHING)).toMatchObject([
      { action: "recover", final_status: "failed", condition: "RECOVERED_AFTER_CRASH" },
    ]);
    expect(JSON.parse(readFileSync(join(record, "PROOF.json"), "utf8"))).toMatchObject({
      recovered: true,
      restoration_result: { verified: false },
    });
  });
});

describe("modes, links and empty folders that changed during a run", () => {
  it("come back by a second attempt, which the record tells", async () => {
    const before = recordTree(join(root, D));
    const busy = openWhile(base, root, () => {
      chmodSync(join(root, D, "run.sh"), 0o600);
      rmdirSync(join(root, D, "empty"));
      rmSync(join(root, D, "link"));
    });
    const run = await busy.run(toJobSpec(["echo", "started"], { guard: "ns-overlay" }));
    await busy.close();
    expect(run).toMatchObject({ accepted: true, condition: "RESTORED_IDENTICAL" });
    expect(recordTree(join(root, D))).toEqual(before);
    expect(readFileSync(join(root, ".verbatim/runs/run-1/LEDGER.jsonl"), "utf8")).toContain('"attempt":2');
  });
});

describe("what is declared noise", () => {
  const config = { catalytic: { tripwire: { noise: ["src/noise.log"], on_hit: "report" } } };

  it.for(["landlock", "audit"])(
    "is a violation under %s, where the command may have made it",
    async (guard, { skip }) => {
      const answer = (await room.ports.guards.probe(false))[guard as "audit"];
      if (answer !== "ok") skip(`${guard}: ${answer}`);
      writeFileSync(join(root, "verbatim.config.json"), JSON.stringify(config));
      // Under landlock the command itself cannot; somebody else does it, and nobody can tell the two apart.
      const noisy = openWhile(base, root, () => writeFileSync(join(root, "src/noise.log"), "noise\n"));
      const run = await noisy.run(toJobSpec(["echo", "started"], { guard }));
      await noisy.close();
      expect(run).toMatchObject({ accepted: false, status: "failed" });
      const proof = JSON.parse(readFileSync(join(root, ".verbatim/runs/run-1/PROOF.json"), "utf8")) as object;
      expect(proof).toMatchObject({ violations: [{ code: "OUTSIDE_ADDED", path: "src/noise.log" }] });
    },
  );
});

describe("a run that may not begin", () => {
  it.each([
    [{ catalytic_domains: [`${D}/sub/.git`] }, "FORBIDDEN_PATH_OVERLAP"],
    [{ catalytic_domains: [`${D}/sub/.GIT/hooks`] }, "FORBIDDEN_PATH_OVERLAP"],
    [{ view: true, catalytic_domains: ["."], outputs: { durable_paths: [`${OUT}/x`] } }, "VIEW_HAS_OUTPUTS"],
    [{ view: true }, "VIEW_DOMAIN_INVALID"],
  ])("%j is rejected with %s", async (more, code) => {
    await expect(room.run(toJobSpec(["true"], more))).rejects.toMatchObject({
      code: "PREFLIGHT_REJECTED",
      details: { errors: [expect.objectContaining({ code })] },
    });
    expect(existsSync(join(root, ".verbatim/runs"))).toBe(false);
  });

  it("needs space for its copies, to the byte", async () => {
    const withSpace = (free: number) =>
      openCatalytic(base, root, (ports) => ({ ...ports, disk: { ...ports.disk, freeBytes: () => free } }));
    const poor = withSpace(0);
    const refused = await poor.run(toJobSpec(["true"], { guard: "audit" })).catch((thrown: unknown) => thrown);
    await poor.close();
    expect(refused).toMatchObject({ code: "DISK_SPACE_LOW", details: { available: 0 } });
    const { needed } = (refused as { readonly details: { readonly needed: number } }).details;
    const short = withSpace(needed - 1);
    await expect(short.run(toJobSpec(["true"], { guard: "audit", run_id: "run-2" }))).rejects.toMatchObject({
      code: "DISK_SPACE_LOW",
      details: { needed, available: needed - 1 },
    });
    await short.close();
    const enough = withSpace(needed);
    expect(await enough.run(toJobSpec(["true"], { guard: "audit", run_id: "run-3" }))).toMatchObject({
      accepted: true,
    });
    await enough.close();
  });

  it.for(["ns-overlay", "ns-bind", "audit"])(
    "refuses a domain with a mount inside under %s",
    async (guard, { skip }) => {
      const answer = (await room.ports.guards.probe(false))[guard as "audit"];
      if (answer !== "ok") skip(`${guard}: ${answer}`);
      const mounted = spawnSync("mount", ["--bind", join(root, "src"), join(root, D, "sub")], { encoding: "utf8" });
      if (mounted.status !== 0) skip(`mount failed: ${mounted.stderr || String(mounted.error)}`);
      try {
        await expect(room.run(toJobSpec(["true"], { guard }))).rejects.toMatchObject({
          code: "DOMAIN_CONTAINS_MOUNT",
          where: `${D}/sub`,
        });
      } finally {
        spawnSync("umount", [join(root, D, "sub")]);
      }
      expect(readFileSync(join(root, "src/app.txt"), "utf8")).toBe("app\n");
    },
  );
});
