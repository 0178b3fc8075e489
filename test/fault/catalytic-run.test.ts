import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runDisk } from "../../src/adapters/disk/runs/run-disk.ts";
import { catalyticRecover } from "../../src/rooms/catalytic/operations/index.ts";
import type { RoomPorts } from "../../src/rooms/catalytic/operations/ports.ts";
import { acceptCurrent, retryHalted } from "../../src/rooms/catalytic/recover/halted.ts";
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

const NOTHING = { run_id: null, dry_run: false, force: false };

describe("memory of deterministic runs", () => {
  const spec = (runId: string, more: object = {}) =>
    toJobSpec(
      ["sh", "-c", "date +%N > .verbatim/out/stamp; mkdir -p .verbatim/out/pack; cp src/app.txt .verbatim/out/pack/"],
      {
        run_id: runId,
        determinism: "deterministic",
        memo: true,
        inputs: ["src"],
        outputs: { durable_paths: [".verbatim/out/stamp", ".verbatim/out/pack/"] },
        ...more,
      },
    );

  it("gives an equal run the same outputs without running the command, with a proof of its own", async () => {
    await room.run(spec("first"));
    const stamp = readFileSync(join(root, ".verbatim/out/stamp"), "utf8");
    rmSync(join(root, ".verbatim/out/stamp"));
    const again = await room.run(spec("second"));
    expect(again).toMatchObject({ accepted: true, memo_hit: true, exit_code: 0 });
    expect(readFileSync(join(root, ".verbatim/out/stamp"), "utf8")).toBe(stamp);
    const proof = JSON.parse(readFileSync(join(root, ".verbatim/runs/second/PROOF.json"), "utf8")) as {
      memo: object;
      command_result: object;
    };
    expect(proof.memo).toMatchObject({ hit: true, source_run_id: "first" });
    expect(proof.command_result).toMatchObject({ executed: false });
  });

  it("runs the command when an input changed, and when what was remembered is damaged", async () => {
    await room.run(spec("first"));
    writeFileSync(join(root, "src/app.txt"), "changed\n");
    expect(await room.run(spec("second"))).toMatchObject({ accepted: true, memo_hit: false });
    const content = await room.ports.content();
    for await (const hash of content.list()) await content.remove(hash, Date.now() + 60_000);
    expect(await room.run(spec("third"))).toMatchObject({ accepted: true, memo_hit: false });
  });
});

describe("what is written down about the guard", () => {
  it.each(["auto", "audit"])(
    "--guard %s: how many paths the tripwire looked at, in ledger and proof",
    async (guard) => {
      const run = await room.run(toJobSpec(["true"], { guard }));
      const record = join(root, ".verbatim/runs/run-1");
      const lines = readFileSync(join(record, "LEDGER.jsonl"), "utf8").trimEnd().split("\n");
      const entries = lines.map(
        (line) => JSON.parse(line) as { kind: string; body: { tripwire?: { entries: number } } },
      );
      expect(entries.slice(0, 3).map(({ kind }) => kind)).toEqual(["DECLARED", "GUARD_SELECTED", "SNAPSHOT"]);
      const proof = JSON.parse(readFileSync(join(record, "PROOF.json"), "utf8")) as {
        guard: { tripwire: { entries: number } };
      };
      expect(run.compared).toBeGreaterThan(5);
      expect(entries[1]?.body.tripwire?.entries).toBe(run.compared);
      expect(proof.guard.tripwire.entries).toBe(run.compared);
    },
  );
});

describe("a domain that somebody else changes during the run", () => {
  it("halts the run, keeps the change, and holds the domain until a person decides", async () => {
    const edit = () => writeFileSync(join(root, D, "a.txt"), "a person wrote this\n");
    const busy = openWhile(base, root, edit);
    const run = await busy.run(toJobSpec(["echo", "started"], { guard: "ns-overlay" }));
    await busy.close();
    expect(run).toMatchObject({ accepted: false, status: "halted", condition: "RESTORATION_FAILED_HASH_MISMATCH" });
    expect(readFileSync(join(root, D, "a.txt"), "utf8")).toBe("a person wrote this\n");
    // The hashes are those a person gets from sha256sum.
    const sums = ["alpha\n", "a person wrote this\n"].map((text) => createHash("sha256").update(text).digest("hex"));
    expect(run.message).toContain(`${D}/a.txt: expected a file sha256 ${sums[0]}, actual a file sha256 ${sums[1]}`);
    await expect(room.run(toJobSpec(["true"], { run_id: "run-2" }))).rejects.toMatchObject({
      code: "DOMAIN_HALTED",
      exit: 4,
    });
    const record = join(root, ".verbatim/runs/run-1");
    const again = await retryHalted(room.ports, room.places.state, record, "run-1");
    expect(again).toMatchObject({ action: "halt", code: "RESTORE_FAILED" });
    const ports = { ...room.ports, folder: root, places: () => room.places } as unknown as RoomPorts;
    const asked = catalyticRecover.input.parse({});
    const waiting = {
      run_id: "run-1",
      action: "halt",
      code: "RESTORE_FAILED",
      steps: [],
      final_status: "halted",
      condition: "RESTORATION_FAILED_HASH_MISMATCH",
    };
    expect(await catalyticRecover.run(ports, asked)).toEqual({ runs: [waiting] });
    expect(await catalyticRecover.run(ports, { ...asked, run: "run-1" })).toEqual({ runs: [waiting] });
    await acceptCurrent(room.ports, room.places.state, { run_id: "run-1", by: "Ada", reason: "the edit is mine" });
    expect(await catalyticRecover.run(ports, asked)).toEqual({ runs: [] });
    expect(await room.run(toJobSpec(["true"], { run_id: "run-2" }))).toMatchObject({ accepted: true });
  });
});

describe("a halted run whose domain a person put back", () => {
  it("is resolved by trying again", async () => {
    const before = readFileSync(join(root, D, "run.sh"));
    const edit = () => writeFileSync(join(root, D, "run.sh"), "edited\n");
    const busy = openWhile(base, root, edit);
    expect(await busy.run(toJobSpec(["echo", "started"]))).toMatchObject({ status: "halted" });
    await busy.close();
    writeFileSync(join(root, D, "run.sh"), before);
    const record = join(root, ".verbatim/runs/run-1");
    const again = await retryHalted(room.ports, room.places.state, record, "run-1");
    expect(again).toMatchObject({ action: "recover", final_status: "unchanged" });
    expect(await room.run(toJobSpec(["true"], { run_id: "run-2" }))).toMatchObject({ accepted: true });
  });
});

describe("what a JobSpec declares", () => {
  it("is refused where it was written, in the order it was written", async () => {
    const refused = room.run(toJobSpec(["true"], { inputs: ["src", "zz", "src/none", "src"], cwd: "src/app.txt" }));
    await expect(refused).rejects.toMatchObject({
      code: "PREFLIGHT_REJECTED",
      details: {
        errors: [
          { code: "INPUT_MISSING", pointer: "/inputs/1" },
          { code: "INPUT_MISSING", pointer: "/inputs/2" },
          { code: "CWD_MISSING", pointer: "/cwd" },
        ],
        problems: [
          { message: '"zz" does not exist; the nearest existing path is "."' },
          { message: '"src/none" does not exist; the nearest existing path is "src"' },
          { message: '"src/app.txt" exists and is not a directory' },
        ],
      },
    });
  });

  it("may set a variable of any lawful name", async () => {
    let said = "";
    const heard = openCatalytic(base, root, (ports) => ({
      ...ports,
      onOutput: (_, bytes) => void (said += Buffer.from(bytes).toString()),
    }));
    const set = JSON.parse('{"__proto__":"5","toString":"6"}') as object;
    const env = { allow: ["PATH"], set };
    await heard.run(toJobSpec(["sh", "-c", "env | grep -e proto -e toString | sort"], { env }));
    await heard.close();
    expect(said).toBe("__proto__=5\ntoString=6\n");
  });
});

describe("two runs at once", () => {
  it("on the same domain: the second is told who has it", async () => {
    const second = openCatalytic(base, root);
    let refusal: unknown;
    const first = openWhile(base, root, async () => {
      refusal = await second.run(toJobSpec(["true"], { run_id: "run-2" })).catch((thrown: unknown) => thrown);
    });
    await first.run(toJobSpec(["echo", "started"]));
    expect(refusal).toMatchObject({ code: "DOMAIN_BUSY", exit: 4, details: { run_id: "run-1" } });
    await first.close();
    await second.close();
  });

  it("on different domains: both are proved", async () => {
    const second = openCatalytic(base, root);
    let other: unknown;
    const first = openWhile(base, root, async () => {
      const catalytic_domains = [".verbatim/scratch/e"];
      const spec = { run_id: "run-2", catalytic_domains, guard: "audit" };
      other = await second.run(toJobSpec(["sh", "-c", "echo x > .verbatim/scratch/e/f"], spec));
    });
    expect(await first.run(toJobSpec(["echo", "started"], { guard: "audit" }))).toMatchObject({ accepted: true });
    expect(other).toMatchObject({ accepted: true });
    await first.close();
    await second.close();
  });
});

describe("a run that may not begin", () => {
  it.each([
    [{ catalytic_domains: ["src"] }, "CATALYTIC_OUTSIDE_ROOT"],
    [{ catalytic_domains: [".git"] }, "FORBIDDEN_PATH_OVERLAP"],
    [{ outputs: { durable_paths: [".verbatim/out"] } }, "FORBIDDEN_PATH_OVERLAP"],
    [{ command: ["no-such-command-anywhere"] }, "COMMAND_NOT_FOUND"],
  ])("%j is rejected with %s and leaves nothing but a ledger entry", async (more, code) => {
    await expect(room.run(toJobSpec(["true"], more))).rejects.toMatchObject({
      code: "PREFLIGHT_REJECTED",
      details: { errors: [expect.objectContaining({ code })] },
    });
    expect(existsSync(join(root, ".verbatim/runs"))).toBe(false);
  });

  it("ends without a proof when the domain holds what cannot be put back", async () => {
    const { runTool } = await import("../../src/adapters/process/tool.ts");
    await runTool("mkfifo", [join(root, D, "pipe")]);
    await expect(room.run(toJobSpec(["true"]))).rejects.toMatchObject({ code: "SPECIAL_FILE_IN_DOMAIN" });
    const status = JSON.parse(readFileSync(join(root, ".verbatim/runs/run-1/STATUS.json"), "utf8")) as object;
    expect(status).toMatchObject({ status: "failed", phase: 1 });
    expect(existsSync(join(root, ".verbatim/runs/run-1/PROOF.json"))).toBe(false);
    expect(await recoverRuns(room.ports, room.places.state, NOTHING)).toEqual([]);
  });

  it("is not started twice under one id", async () => {
    await room.run(toJobSpec(["true"]));
    await expect(room.run(toJobSpec(["true"]))).rejects.toMatchObject({
      details: { errors: [{ code: "RUN_ID_EXISTS", pointer: "/run_id" }] },
    });
  });
});

describe("outputs", () => {
  it("replace the old ones as a set, and a folder as a whole", async () => {
    const outputs = { durable_paths: [".verbatim/out/old.txt", ".verbatim/out/pack/"] };
    await room.run(
      toJobSpec(["sh", "-c", "echo a > .verbatim/out/pack/a; echo 1 > .verbatim/out/old.txt"], { outputs }),
    );
    const script = "rm .verbatim/out/pack/a; echo b > .verbatim/out/pack/b; echo 2 > .verbatim/out/old.txt";
    const run = await room.run(toJobSpec(["sh", "-c", script], { run_id: "run-2", outputs }));
    expect(run).toMatchObject({ accepted: true });
    expect(Object.keys(recordTree(join(root, ".verbatim/out")))).toEqual(["old.txt", "pack", "pack/b"]);
    expect(readFileSync(join(root, ".verbatim/runs/run-2/LEDGER.jsonl"), "utf8")).toContain(
      '"removed":[".verbatim/out/pack/a"]',
    );
  });

  it("of a run whose record cannot be written are taken back", async () => {
    const before = recordTree(join(root, ".verbatim/out"));
    const full = openCatalytic(base, root, (ports) => ({
      ...ports,
      disk: {
        ...ports.disk,
        replaceFile(place, bytes, durable) {
          if (place.endsWith("/VALIDATOR_ID.json")) throw Object.assign(new Error("no space"), { code: "ENOSPC" });
          ports.disk.replaceFile(place, bytes, durable);
        },
      },
    }));
    const outputs = { durable_paths: [".verbatim/out/old.txt"] };
    await expect(full.run(toJobSpec(["sh", "-c", "echo 9 > .verbatim/out/old.txt"], { outputs }))).rejects.toThrow();
    await full.close();
    await recoverRuns(room.ports, room.places.state, NOTHING);
    expect(recordTree(join(root, ".verbatim/out"))).toEqual(before);
    expect(
      existsSync(join(root, ".verbatim/runs/run-1/PROOF.json"))
        ? JSON.parse(readFileSync(join(root, ".verbatim/runs/run-1/PROOF.json"), "utf8"))
        : null,
    ).toMatchObject({
      recovered: true,
      restoration_result: { verified: false },
    });
  });
});

describe("a domain that did not exist", () => {
  it.each(["ns-overlay", "ns-bind", "landlock", "audit"])("is absent again under %s", async (guard) => {
    const run = await room.run(
      toJobSpec(["sh", "-c", "echo x > .verbatim/scratch/new/deep/f"], {
        guard,
        catalytic_domains: [".verbatim/scratch/new/deep"],
      }),
    );
    expect(run).toMatchObject({ accepted: true });
    expect(existsSync(join(root, ".verbatim/scratch/new"))).toBe(false);
  });
});

describe("what a command did in its domain", () => {
  const guards = ["ns-overlay", "ns-bind", "landlock", "audit"] as const;

  it.for(guards)("is counted under %s", async (guard, { skip }) => {
    const answer = (await room.ports.guards.probe(false))[guard];
    if (answer !== "ok") skip(`${guard}: ${answer}`);
    const script =
      "cd .verbatim/scratch/d; echo x >> sub/b.txt; chmod 600 run.sh; rm sub/deep/c; mkdir new; echo n > new/n";
    const run = await room.run(toJobSpec(["sh", "-c", script], { guard }));
    expect(run).toMatchObject({ accepted: true, inside: { added: 2, changed: 2, removed: 1 } });
    expect(run.compared).toBeGreaterThan(3);
  });
});
