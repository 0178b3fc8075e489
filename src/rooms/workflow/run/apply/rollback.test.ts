// A passed run is taken back where nobody has touched its files since; what a kill left is finished or ended by the same call.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type BareRuns, openBareRuns } from "../../../../../test/support/bare-run.ts";
import { nodeCrypto } from "../../../../adapters/crypto/node-crypto.ts";
import { readEvents } from "../record/run-log.ts";
import type { RunState } from "../record/run-state.ts";
import { recoverStep } from "../recovery.ts";
import type { Run } from "../run.ts";
import { finishRollback, rollBackRun } from "./rollback.ts";
import { takeSnapshot } from "./snapshot.ts";

const CANDIDATE = { sha256: "a".repeat(64), plan_sha256: "b".repeat(64), state: "applied", iteration: 2 } as const;
const place = (path: string) => join(bare.repoRoot, path);
const events = (run: Run) => readEvents(run).map(({ event }) => event);
let bare: BareRuns;
beforeEach(async () => {
  bare = await openBareRuns();
});
afterEach(() => bare.remove());

/** A run that changed old.txt and made new.txt. */
function applied(more: Partial<RunState> = {}): Run {
  const run = bare.make("one", { status: "pass", candidates: [CANDIDATE], ...more });
  writeFileSync(place("old.txt"), "before\n", { mode: 0o644 });
  const images = takeSnapshot(run, "snapshot/02", ["old.txt", "new.txt"]);
  for (const path of ["old.txt", "new.txt"]) writeFileSync(place(path), "after\n", { mode: 0o644 });
  const post = { mode: images[0]!.mode, sha256: nodeCrypto.sha256("after\n") };
  const files = images.map(({ path, mode, sha256 }) => ({ path, pre: { mode, sha256 }, post }));
  const record = { schema_version: "verbatim-patch-apply-v1", patch_sha256: CANDIDATE.sha256, base_commit: "c", files };
  run.folder.write(
    "artifacts/patch_apply.json",
    JSON.stringify({ ...record, snapshot: "snapshot/02", applied_at: "now" }),
  );
  return run;
}

const isBack = () => readFileSync(place("old.txt"), "utf8") === "before\n" && !existsSync(place("new.txt"));

it("is announced under its iteration before anything is changed, done, told once, and the same when asked again", async () => {
  const run = applied();
  let announced: unknown;
  const put = bare.ports.repoFiles.put.bind(bare.ports.repoFiles);
  const repoFiles = {
    ...bare.ports.repoFiles,
    put: (...given: Parameters<typeof put>) => ((announced = bare.again(run).state.in_progress), put(...given)),
  };
  const session = await bare.session(Object.assign(run, { ports: { ...bare.ports, repoFiles } }));
  expect(await rollBackRun(session)).toEqual(["old.txt", "new.txt"]);
  expect(announced).toMatchObject({ step: "rollback", iteration: 2 });
  expect([isBack(), bare.again(run).state]).toMatchObject([
    true,
    { status: "fail", stop_reason: "rolled_back", in_progress: null },
  ]);
  expect(readEvents(run)[0]).toMatchObject({ event: "RUN_ROLLED_BACK", paths: ["old.txt", "new.txt"] });
  expect(await rollBackRun(session)).toEqual(["old.txt", "new.txt"]);
  expect(events(run)).toEqual(["RUN_ROLLED_BACK", "BUNDLE_CREATED"]);
  writeFileSync(place("old.txt"), "edited\n");
  await expect(rollBackRun(session)).rejects.toMatchObject({
    code: "RUN_NOT_PASSED",
    message: "the run was already rolled back, and its files have changed since",
  });
});

it("of a candidate without an iteration is announced as the first of all", async () => {
  const { iteration: _, ...candidate } = CANDIDATE;
  for (const candidates of [[candidate], []]) {
    const run = applied({ candidates });
    const session = await bare.session(run);
    const saved: unknown[] = [];
    const save = run.save.bind(run);
    run.save = (changes) => (saved.push(changes.in_progress), save(changes));
    await rollBackRun(session);
    expect(saved[0]).toMatchObject({ step: "rollback", iteration: 0 });
    rmSync(run.folder.dir, { recursive: true });
  }
});

it.each<[string, Partial<RunState>, boolean]>([
  ["that has not passed", { status: "blocked" }, true],
  ["that was stopped", { status: "fail", stop_reason: "aborted" }, true],
  ["that wrote down nothing about it", {}, false],
  ["that was taken back and lost its record", { status: "fail", stop_reason: "rolled_back" }, false],
])("is refused to a run %s", async (_, state, hasRecord) => {
  const run = applied(state);
  if (!hasRecord) run.folder.remove("artifacts/patch_apply.json");
  await expect(rollBackRun(await bare.session(run))).rejects.toMatchObject({ code: "RUN_NOT_PASSED" });
  expect([isBack(), events(run)]).toEqual([false, []]);
});

it("is refused over an edit, and then nothing is changed", async () => {
  const run = applied();
  writeFileSync(place("new.txt"), "edited\n");
  await expect(rollBackRun(await bare.session(run))).rejects.toMatchObject({
    code: "ROLLBACK_CONFLICT",
    message: "edited since: new.txt",
    details: { paths: ["new.txt"] },
  });
  expect([readFileSync(place("old.txt"), "utf8"), run.state.in_progress, events(run)]).toEqual(["after\n", null, []]);
});

it("is refused where one file is back already, unless a killed rollback did that", async () => {
  const run = applied();
  writeFileSync(place("old.txt"), "before\n");
  await expect(rollBackRun(await bare.session(run))).rejects.toMatchObject({ details: { paths: ["old.txt"] } });
  run.save({ in_progress: { step: "rollback", iteration: 2, started_at: "now" } });
  const session = await bare.session(run);
  expect([await recoverStep(session), isBack()]).toEqual(["rollback", true]);
  expect(await finishRollback(session)).toEqual(["old.txt", "new.txt"]);
  expect(events(run).filter((event) => event === "RUN_ROLLED_BACK")).toHaveLength(1);
});

it("cannot be finished without the record of what was applied", async () => {
  const run = applied();
  run.folder.remove("artifacts/patch_apply.json");
  await expect(finishRollback(await bare.session(run))).rejects.toMatchObject({
    code: "RUN_CORRUPT",
    message: "patch_apply.json is missing",
  });
});

it.each([
  ["with the paths that its snapshot has", true, ["old.txt", "new.txt"]],
  ["without any where it had not come to a snapshot", false, []],
])("of an apply that was killed and undone ends the run %s", async (_, hasSnapshot, paths) => {
  const run = applied({ status: "running", in_progress: { step: "apply", iteration: 2, started_at: "now" } });
  if (!hasSnapshot) run.folder.remove("snapshot");
  const session = await bare.session(run);
  session.repaired = await recoverStep(session);
  expect([session.repaired, isBack()]).toEqual(["apply", hasSnapshot]);
  expect(await rollBackRun(session)).toEqual(paths);
  expect(bare.again(run).state).toMatchObject({ status: "fail", stop_reason: "rolled_back", in_progress: null });
  expect(events(run)).toEqual(["APPLY_RECOVERED", "RUN_ROLLED_BACK", "BUNDLE_CREATED"]);
});
