// Whole runs with the weakest guard, which starts nothing but the command: what stays, what comes back, what is written down.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
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
import { listStrays, readRecord } from "../record/record-files.ts";
import { verifyRun } from "../verify/verify.ts";

const D = ".verbatim/scratch/d";
const OUT = ".verbatim/out";
let base: string;
let root: string;
let room: TestRun;
let before: Record<string, string>;

// One repository for all of them: a run that is over leaves nothing that the next one could meet.
beforeAll(() => {
  ({ base, root } = makeCatalyticRepo());
  room = openCatalytic(base, root);
  before = recordTree(base, isToolState);
});
afterAll(async () => {
  await room.close();
  await runDisk.discard(base);
});

let id = "";
let count = 0;
const run = (script: string, more: object = {}) => {
  id = (more as { run_id?: string }).run_id ?? `run-${++count}`;
  return room.run(toJobSpec(["sh", "-c", script], { guard: "audit", run_id: id, ...more }));
};
const read = (path: string) => readFileSync(join(root, path), "utf8");
const json = (file: string) => JSON.parse(read(`.verbatim/runs/${id}/${file}`)) as Record<string, unknown>;
const kinds = (of = id) =>
  read(`.verbatim/runs/${of}/LEDGER.jsonl`)
    .split("\n")
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as { kind: string }).kind);
const verify = () => {
  const folder = join(root, ".verbatim/runs", id);
  const [files, strays] = [readRecord(runDisk, folder), listStrays(runDisk, folder)];
  return verifyRun(
    nodeCrypto,
    { name: id, files, strays },
    { pins: [], policy_sha256: null, tree: "skip", strict_tree: false },
  );
};
/** What is left of the tool's own state once a run is over. */
const leftovers = () => [
  ...(readdirSync(join(root, ".verbatim/state/locks")) as string[]),
  ...(readdirSync(join(root, ".verbatim/state/catalytic")) as string[]).filter((name) => !name.startsWith("_")),
];

describe("a run that does what it declared", () => {
  it("keeps its outputs, puts everything else back, and leaves a record that verifies", async () => {
    const script = `set -e; echo changed > ${D}/a.txt; rm -r ${D}/sub; echo new > ${D}/new; echo 1 > ${OUT}/new.txt; mkdir -p ${OUT}/pack/deep; echo 2 > ${OUT}/pack/deep/f; ln -s deep/f ${OUT}/pack/l; echo out; echo err >&2`;
    const outputs = { durable_paths: [`${OUT}/new.txt`, `${OUT}/pack/`] };
    const result = await run(script, { outputs, inputs: ["src"] });
    expect(result).toMatchObject({
      run_id: id,
      run_dir: `.verbatim/runs/${id}`,
      status: "succeeded",
      accepted: true,
      condition: "RESTORED_IDENTICAL",
      exit_code: 0,
      guard: "audit",
      outputs: [`${OUT}/new.txt`, `${OUT}/pack/`],
      quarantined: [],
      violations: [],
      memo_hit: false,
      interrupted_by: null,
      inside: { added: 1, changed: 2, removed: 4 },
      next_step: `verbatim catalytic verify ${id}`,
    });
    expect([read(`${OUT}/new.txt`), read(`${OUT}/pack/l`)]).toEqual(["1\n", "2\n"]);
    const now = recordTree(base, (path) => isToolState(path) || /out\/(?:new|pack)/.test(path));
    expect(now).toEqual(before);
    expect(await verify()).toMatchObject({ accepted: true, errors: [], warnings: [] });
    expect([read(`.verbatim/runs/${id}/STDOUT.log`), read(`.verbatim/runs/${id}/STDERR.log`)]).toEqual([
      "out\n",
      "err\n",
    ]);
    expect(kinds()).toEqual([
      "DECLARED",
      "GUARD_SELECTED",
      "SNAPSHOT",
      "EXEC_STARTED",
      "EXEC_ENDED",
      "OUTPUTS_SEALED",
      "RESTORED",
      "COMPARED",
      "PUBLISHED",
      "RUN",
    ]);
    expect(json("STATUS.json")).toMatchObject({ status: "succeeded", phase: 5, validation_passed: true, exit_code: 0 });
    expect(Object.keys(json("INPUT_HASHES.json"))).toContain("src/app.txt");
    expect(leftovers()).toEqual([]);
    for (const made of ["new.txt", "pack"]) await runDisk.discard(join(root, OUT, made));
  });

  it("replaces an output that was there, and a folder as a whole", async () => {
    mkdirSync(join(root, OUT, "pack"));
    writeFileSync(join(root, OUT, "pack/gone"), "x");
    const outputs = { durable_paths: [`${OUT}/old.txt`, `${OUT}/pack/`] };
    await run(`echo new > ${OUT}/old.txt; rm ${OUT}/pack/gone; echo 1 > ${OUT}/pack/kept`, { outputs });
    expect([read(`${OUT}/old.txt`), readdirSync(join(root, OUT, "pack"))]).toEqual(["new\n", ["kept"]]);
    const published = read(`.verbatim/runs/${id}/LEDGER.jsonl`)
      .split("\n")
      .find((line) => line.includes('"PUBLISHED"'))!;
    expect((JSON.parse(published) as { body: object }).body).toMatchObject({ removed: [`${OUT}/pack/gone`] });
    before = recordTree(base, isToolState);
  });

  it("may end with any exit code that was expected", async () => {
    expect(await run("exit 3", { expected_exit_codes: [0, 3] })).toMatchObject({ accepted: true, exit_code: 3 });
  });

  it("is remembered when it is deterministic, and then answered without running", async () => {
    const outputs = { durable_paths: [`${OUT}/m.txt`] };
    const script = `echo made > ${OUT}/m.txt`;
    const same = { determinism: "deterministic", memo: true, outputs };
    expect(await run(script, { ...same, run_id: "one" })).toMatchObject({ accepted: true, memo_hit: false });
    runDisk.removeFile(join(root, OUT, "m.txt"));
    expect(await run(script, { ...same, run_id: "two" })).toMatchObject({ accepted: true, memo_hit: true });
    expect([read(`${OUT}/m.txt`), kinds("one").includes("MEMO_MISS"), kinds("two").includes("MEMO_HIT")]).toEqual([
      "made\n",
      true,
      true,
    ]);
    expect(kinds("two")).not.toContain("EXEC_STARTED");
    const memo = (of: string) => (JSON.parse(read(`.verbatim/runs/${of}/PROOF.json`)) as { memo: unknown }).memo;
    expect([memo("one"), memo("two")]).toMatchObject([null, { hit: true, source_run_id: "one" }]);
    expect(await verify()).toMatchObject({ accepted: true });
    expect(await run(script, { ...same, run_id: "three", inputs: ["src"] })).toMatchObject({ memo_hit: false });
    before = recordTree(base, isToolState);
  });
});

describe("a run that does something else", () => {
  it.each<[string, string, object, object]>([
    ["fails", "exit 1", {}, { condition: "COMMAND_FAILED", exit_code: 1 }],
    ["dies", "kill -9 $$", {}, { condition: "COMMAND_FAILED", exit_code: 137 }],
    ["takes too long", "sleep 60", { timeout_ms: 300 }, { condition: "COMMAND_TIMED_OUT" }],
    [
      "does not make its output",
      "true",
      { outputs: { durable_paths: [`${OUT}/new.txt`] } },
      { condition: "OUTPUT_VIOLATION", violations: [{ code: "OUTPUT_MISSING", path: `${OUT}/new.txt` }] },
    ],
    [
      "makes an output nobody declared",
      `echo 1 > ${OUT}/new.txt; echo 2 > ${OUT}/other.txt`,
      { outputs: { durable_paths: [`${OUT}/new.txt`] } },
      {
        condition: "OUTPUT_VIOLATION",
        violations: [{ code: "OUTPUT_UNDECLARED", path: `${OUT}/other.txt` }],
        quarantined: [`${OUT}/new.txt`, `${OUT}/other.txt`],
      },
    ],
  ])("%s: nothing stays and nothing is accepted", async (_, script, more, expected) => {
    expect(await run(script, more)).toMatchObject({ status: "failed", accepted: false, outputs: [], ...expected });
    expect(recordTree(base, isToolState)).toEqual(before);
    expect(await verify()).toMatchObject({ genuine: true, accepted: false, errors: [{ code: "NOT_VERIFIED" }] });
    expect(leftovers()).toEqual([]);
  });
});

describe("a run that may not begin", () => {
  it("because its domain holds what cannot be put back: nothing is run and nothing is held", async () => {
    execFileSync("mkfifo", [join(root, D, "pipe")]);
    await expect(run("echo x > src/ran")).rejects.toMatchObject({
      code: "SPECIAL_FILE_IN_DOMAIN",
      where: `${D}/pipe`,
    });
    expect(existsSync(join(root, "src/ran"))).toBe(false);
    expect(json("STATUS.json")).toMatchObject({ status: "failed", restoration_verified: false });
    expect([existsSync(join(root, `.verbatim/runs/${id}/PROOF.json`)), leftovers()]).toEqual([false, []]);
    runDisk.removeFile(join(root, D, "pipe"));
  });

  it("because a run of that name is there already", async () => {
    await run("true", { run_id: "twice" });
    await expect(run("true", { run_id: "twice" })).rejects.toMatchObject({
      code: "PREFLIGHT_REJECTED",
      details: { errors: [{ code: "RUN_ID_EXISTS" }] },
    });
    expect(leftovers()).toEqual([]);
  });

  it("because the guard it names is not for this system", async () => {
    await expect(run("true", { guard: "seatbelt" })).rejects.toMatchObject({
      code: "GUARD_UNAVAILABLE",
      where: "seatbelt",
    });
    await expect(run("true", { network: "none" })).rejects.toMatchObject({ code: "NETWORK_NOT_ENFORCEABLE" });
    expect(existsSync(join(root, ".verbatim/runs", id))).toBe(false);
  });
});

describe("a run that reaches outside", () => {
  it("is told of everything it touched, and is not accepted", async () => {
    const result = await run("echo x > src/planted; echo x > src/app.txt; rm AGENTS.md; echo x > .git/config");
    expect(result).toMatchObject({ status: "failed", accepted: false, condition: "GUARD_VIOLATION" });
    expect(result.violations.map(({ code, path }) => `${code} ${path}`)).toEqual(
      expect.arrayContaining([
        "FORBIDDEN_CHANGED .git/config",
        "OUTSIDE_ADDED src/planted",
        "OUTSIDE_CHANGED src/app.txt",
        "OUTSIDE_REMOVED AGENTS.md",
      ]),
    );
    expect(kinds()).toContain("VIOLATION");
    expect(await verify()).toMatchObject({ genuine: true, accepted: false });
    // Two looks find it, and it is told once.
    const { violations } = await run("echo more >> src/app.txt");
    expect(violations.map(({ code, path }) => `${code} ${path}`)).toEqual(["OUTSIDE_CHANGED src/app.txt"]);
  });
});
