// What a run refuses, from its creation to its end, each with its code and with nothing changed by the refusal.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  BAD_PATCH,
  GOOD_PATCH,
  GUARDRAILS,
  makeDraft,
  REQUEST,
  SampleRepository,
} from "../../../../test/support/sample-repository.ts";
import { openWorkflow } from "../../../../test/support/workflow-room.ts";
import { advanceRun } from "./advance.ts";
import { createRun } from "./create-run.ts";
import { findOwnRun } from "./find/find-run.ts";
import { MOST_ARTIFACT_BYTES, toStoredBytes } from "./gate/receive.ts";
import { withSession } from "./session.ts";

const repository = new SampleRepository({
  apply: "never",
  verify: { gates: { lite: [{ argv: [process.execPath, "check.mjs"] }] } },
});
const call = (name: string, input: object = {}) => repository.call(name, input as Record<string, unknown>);
/** The answer, or what was thrown instead. */
const refusal = (name: string, input: object = {}) =>
  call(name, input).catch((thrown: unknown) => thrown as Record<string, unknown>);
const create = (more: object) => refusal("new", { goal: "greet", ...more });
const state = (dir: string) => JSON.parse(readFileSync(join(dir, "RUN.json"), "utf8")) as Record<string, unknown>;
let clean: Record<string, string>;

beforeAll(() => {
  clean = repository.manifest();
});
afterAll(() => repository.remove());

describe("a run is not created", () => {
  it.each<[string, object, object]>([
    ["without a goal", { goal: " \n" }, { code: "USAGE" }],
    ["for a goal without end", { goal: "x".repeat(4001) }, { code: "USAGE" }],
    ["for a goal with a NUL", { goal: "a\0b" }, { code: "USAGE" }],
    [
      "under a name that is none",
      { run_id: "../x" },
      { code: "RUN_ID_INVALID", message: '"../x" is not a valid run id' },
    ],
  ])("%s", async (_, more, expected) => {
    expect(await create(more)).toMatchObject(expected);
    expect(await refusal("status", { run: "x" })).toMatchObject({ code: "RUN_NOT_FOUND" });
  });

  it("over changed files, unless they are meant, and then from what is on disk", async () => {
    repository.write("src/list.js", "changed\n");
    expect(await create({ run_id: "dirty" })).toMatchObject({
      code: "REPO_DIRTY",
      message: "tracked files have uncommitted changes: src/list.js",
      details: { paths: ["src/list.js"] },
    });
    const made = await call("new", { goal: "greet", run_id: "dirty", allow_dirty: true });
    const reference = JSON.parse(readFileSync(join(String(made["run_dir"]), "repo_ref.json"), "utf8")) as Record<
      string,
      unknown
    >;
    repository.git("checkout", "-q", "src/list.js");
    expect(reference["dirty"]).toBe(true);
    expect(reference["base_tree"]).not.toBe(repository.git("rev-parse", "HEAD^{tree}").trim());
    await call("abort", { run: "dirty", reason: "over" });
  });

  it("where there is no git, and not because of an error of the program", async () => {
    const sub = new SampleRepository();
    const { ports, close } = await openWorkflow(sub, (real) => ({
      git: { ...real.git, requireUsable: () => Promise.reject(new TypeError("broken")) } as never,
    }));
    const options = {
      goal: "g",
      runId: null,
      allowDirty: false,
      dispatch: null,
      policy: ports.config.patch,
      direct: null,
    };
    await expect(createRun(ports, options)).rejects.toThrow(TypeError);
    await close();
    rmSync(join(sub.root, ".git"), { recursive: true });
    expect(await sub.call("new", { goal: "g" }).catch((thrown: unknown) => thrown)).toMatchObject({
      code: "REPO_NOT_GIT",
    });
    await sub.remove();
  });

  it("with a dispatch that no run can have", async () => {
    const file = repository.file("dispatch.json", '{"providers":{"chair":"nobody"}}');
    expect(await create({ dispatch: file, run_id: "bad-dispatch" })).toMatchObject({
      code: "USAGE",
      message: expect.stringContaining("FIELD_MISSING"),
    });
    const wrong = new SampleRepository({ dispatch: { providers: { chair: "local_exec" } } });
    expect(await wrong.call("new", { goal: "g" }).catch((thrown: unknown) => thrown)).toMatchObject({
      code: "CONFIG_INVALID",
      where: expect.stringContaining("/workflow/dispatch"),
      details: { problems: [expect.objectContaining({ pointer: expect.stringContaining("/workflow/dispatch") })] },
    });
    await wrong.remove();
  });

  it("directly without a command that verifies, or with and without one", async () => {
    const bare = new SampleRepository({});
    const direct = (more: object) =>
      bare.call("new", { goal: "g", direct: true, ...more }).catch((thrown: unknown) => thrown);
    expect(await direct({})).toMatchObject({ code: "VERIFY_NOT_CONFIGURED" });
    expect(await direct({ verify: ["true"], no_verify: true })).toMatchObject({ code: "USAGE" });
    expect(await direct({ verify: ["true"], allow: ["../x"] })).toMatchObject({ code: "USAGE" });
    await bare.remove();
  });
});

describe("a run is found", () => {
  afterEach(async () => {
    for (const run of ["one", "other"]) await refusal("abort", { run, reason: "over" });
  });

  it("by its name, by what it begins with, by its folder, or as the only open one", async () => {
    expect(await refusal("status")).toMatchObject({
      code: "RUN_NOT_FOUND",
      message: "this repository has no open run",
    });
    const { run_dir } = await call("new", { goal: "g", run_id: "one" });
    expect(await call("status")).toMatchObject({ run_id: "one" });
    await call("new", { goal: "g", run_id: "other" });
    for (const run of ["one", "on", String(run_dir)])
      expect(await call("status", { run })).toMatchObject({ run_id: "one" });
    expect(await refusal("status", { run: "o" })).toMatchObject({
      code: "RUN_AMBIGUOUS",
      details: { runs: ["other", "one"] },
    });
    expect(await refusal("status")).toMatchObject({ code: "RUN_AMBIGUOUS" });
    for (const run of ["no", ".", "..", "./gone"]) {
      expect(await refusal("status", { run })).toMatchObject({ code: "RUN_NOT_FOUND" });
    }
  });

  it("only where it was made", async () => {
    const elsewhere = new SampleRepository();
    const { run_dir } = await elsewhere.call("new", { goal: "g", run_id: "away" });
    const run = String(run_dir);
    expect(await refusal("abort", { run, reason: "x" })).toMatchObject({ code: "RUN_OTHER_REPO", where: run });
    expect(state(run)["stop_reason"]).toBeNull();
    await elsewhere.remove();
  });

  it("only with a state that we wrote", async () => {
    const dir = String((await call("new", { goal: "g", run_id: "corrupt" }))["run_dir"]);
    const good = readFileSync(join(dir, "RUN.json"), "utf8");
    const judge = async (text: string | null) => {
      if (text === null) rmSync(join(dir, "RUN.json"));
      else writeFileSync(join(dir, "RUN.json"), text);
      return refusal("status", { run: dir });
    };
    expect(await judge("{")).toMatchObject({ code: "RUN_CORRUPT", message: expect.stringContaining("not JSON") });
    expect(await judge("[]")).toMatchObject({ code: "RUN_CORRUPT" });
    expect(await judge(good.replace('"iterations": 0', '"iterations": -1'))).toMatchObject({
      code: "RUN_CORRUPT",
      where: expect.stringContaining("#/iterations"),
    });
    writeFileSync(join(dir, "RUN.json"), good);
    await call("abort", { run: "corrupt", reason: "over" });
  });
});

describe("what is handed in", () => {
  it("is something, not too much, and a patch ends with a line feed", () => {
    const path = "artifacts/diff.patch";
    const code = (bytes: Uint8Array) => {
      try {
        return toStoredBytes(path, bytes).bytes.length;
      } catch (thrown) {
        return (thrown as { code: string }).code;
      }
    };
    expect(code(new Uint8Array(0))).toBe("ARTIFACT_EMPTY");
    expect(code(new Uint8Array(MOST_ARTIFACT_BYTES).fill(0x0a))).toBe(16 * 1024 * 1024);
    expect(code(new Uint8Array(MOST_ARTIFACT_BYTES + 1))).toBe("ARTIFACT_TOO_LARGE");
    expect(toStoredBytes(path, Buffer.from("a"))).toEqual({ bytes: Uint8Array.from([0x61, 0x0a]), newlineAdded: true });
    expect(toStoredBytes(path, Buffer.from("a\n"))).toMatchObject({ newlineAdded: false });
    expect(toStoredBytes("artifacts/PLAN.md", Buffer.from("a"))).toMatchObject({ newlineAdded: false });
  });

  it("is kept only when it is valid, and what was there before is set aside", async () => {
    const dir = String((await call("new", { goal: "g", run_id: "in" }))["run_dir"]);
    expect(await repository.submit("guardrails.md", "find_mode: web\n", "in")).toMatchObject({
      ok: false,
      sha256: null,
    });
    expect(await repository.submit("guardrails.md", GUARDRAILS, "in")).toMatchObject({ ok: true, errors: [] });
    await repository.submit("guardrails.md", GUARDRAILS.replace("20", "21"), "in");
    expect(readdirSync(join(dir, "superseded"))).toEqual([
      expect.stringMatching(/^artifacts_guardrails\.md\.[0-9a-f]{12}$/),
    ]);
    expect(
      await refusal("submit", { artifact: "context_pack.json", file: repository.file("x", "{}"), run: "in" }),
    ).toMatchObject({ code: "ARTIFACT_NOT_SUBMITTABLE" });
    await call("abort", { run: "in", reason: "over" });
    expect(await repository.submit("guardrails.md", GUARDRAILS, "in").catch((thrown: unknown) => thrown)).toMatchObject(
      { code: "RUN_ENDED" },
    );
    expect(await refusal("abort", { run: "in", reason: "again" })).toMatchObject({
      code: "RUN_ENDED",
      message: "the run was stopped: aborted",
    });
  });

  it("is nothing at all when everything in it is left out", async () => {
    await call("new", { goal: "g", run_id: "left", direct: true, no_verify: true, leave_out: ["src"] });
    expect(await repository.submit("diff.patch", GOOD_PATCH, "left").catch((thrown: unknown) => thrown)).toMatchObject({
      code: "ARTIFACT_EMPTY",
      message: "everything in the patch is left out",
    });
    await call("abort", { run: "left", reason: "over" });
  });
});

describe("a verified patch", () => {
  let dir: string;
  const advance = (more: object = {}) => refusal("advance", { run: "ready", ...more });
  beforeAll(async () => {
    dir = await repository.plan("ready");
    await repository.submit("diff.patch", BAD_PATCH, "ready");
    expect(await call("advance", { run: "ready" })).toMatchObject({ code: "VERIFY_FAILED" });
    expect(await call("advance", { run: "ready", retry_verify: true })).toMatchObject({ code: "VERIFY_FAILED" });
    await repository.submit("diff.patch", GOOD_PATCH, "ready");
    expect(await call("advance", { run: "ready" })).toMatchObject({ code: "CANDIDATE_VERIFIED" });
  }, 300_000);
  afterEach(() => repository.git("checkout", "-q", "."));

  it("is not verified again, and is not rolled back before it was applied", async () => {
    expect(await advance({ retry_verify: true })).toMatchObject({ code: "RUN_ENDED" });
    expect(await refusal("rollback", { run: "ready" })).toMatchObject({ code: "RUN_NOT_PASSED" });
    expect(await advance({ apply: true, no_apply: true })).toMatchObject({ code: "USAGE" });
  });

  it("is not applied over somebody's work", async () => {
    repository.write("src/list.js", "mine\n");
    expect(await advance({ apply: true })).toMatchObject({
      code: "REPO_DIRTY",
      findings: [{ code: "REPO_DIRTY", file: "src/list.js" }],
    });
    expect(repository.read("src/list.js")).toBe("mine\n");
  });

  it("is not applied to another commit", async () => {
    repository.commit("meanwhile");
    expect(await advance({ apply: true })).toMatchObject({ code: "REPO_MOVED", findings: [{ code: "REPO_MOVED" }] });
    repository.git("reset", "-q", "--soft", "HEAD~1");
    expect(repository.manifest((path) => path.startsWith(".git/"))).toEqual(
      Object.fromEntries(Object.entries(clean).filter(([path]) => !path.startsWith(".git/"))),
    );
  });

  it("is not applied over what somebody does while it waits for the tree", async () => {
    let meanwhile = () => {};
    const { ports, close } = await openWorkflow(repository, ({ lockTree }) => ({
      lockTree: async (runId) => {
        const unlock = await lockTree(runId);
        meanwhile();
        return unlock;
      },
    }));
    const { folder } = findOwnRun(ports, "ready");
    const apply = () =>
      withSession(ports, folder, "test", (session) =>
        advanceRun(session, { maxSteps: 1, apply: true, retryVerify: false }),
      );
    meanwhile = () => repository.write("src/list.js", "mine\n");
    await expect(apply()).rejects.toMatchObject({ code: "REPO_DIRTY", details: { paths: ["src/list.js"] } });
    expect(repository.read("src/list.js")).toBe("mine\n");
    repository.git("checkout", "-q", ".");
    meanwhile = () => repository.commit("meanwhile");
    await expect(apply()).rejects.toMatchObject({ code: "REPO_MOVED" });
    await close();
    repository.git("reset", "-q", "--soft", "HEAD~1");
    expect(repository.read("src/greet.js")).not.toContain("Hello, ");
  });

  it("is not applied when the record of its verification is another's", async () => {
    const record = join(dir, "artifacts/patch_gate.json");
    const text = readFileSync(record, "utf8");
    writeFileSync(record, text.replace(/"patch_sha256": "./, '"patch_sha256": "x'));
    expect(await advance({ apply: true })).toMatchObject({ code: "APPLY_MISMATCH" });
    writeFileSync(record, text);
    expect(repository.read("src/greet.js")).not.toContain("Hello, ");
  });

  it("is applied once, taken back once, and not over an edit", async () => {
    expect(await call("advance", { run: "ready", apply: true })).toMatchObject({ code: "RUN_PASS" });
    expect(repository.read("src/greet.js")).toContain("Hello, ");
    expect(await refusal("abort", { run: "ready", reason: "x" })).toMatchObject({
      code: "RUN_ENDED",
      message: "the run has passed",
    });
    const applied = repository.read("src/greet.js");
    repository.write("src/greet.js", "edited\n");
    expect(await refusal("rollback", { run: "ready" })).toMatchObject({
      code: "ROLLBACK_CONFLICT",
      details: { paths: ["src/greet.js"] },
    });
    expect(repository.read("src/greet.js")).toBe("edited\n");
    repository.write("src/greet.js", applied);
    expect(await call("rollback", { run: "ready" })).toMatchObject({ paths: ["src/greet.js"] });
    expect(await call("rollback", { run: "ready" })).toMatchObject({ paths: ["src/greet.js"] });
    repository.write("src/greet.js", "edited\n");
    expect(await refusal("rollback", { run: "ready" })).toMatchObject({ code: "RUN_NOT_PASSED" });
  });
});

describe("validate", () => {
  it("tells what a file is by its name, or by what it is told", async () => {
    const file = repository.file("guardrails.md", GUARDRAILS);
    expect(JSON.stringify(await call("validate", { target: file }))).toContain("guardrails");
    expect(await refusal("validate", { target: repository.file("what.txt", "x") })).toMatchObject({
      code: "ARTIFACT_UNKNOWN",
    });
    expect(await refusal("validate", { target: file, kind: "nonsense" })).toMatchObject({
      code: "ARTIFACT_UNKNOWN",
      message: 'there is no kind "nonsense"',
    });
    expect(JSON.stringify(await refusal("validate", { target: repository.file("b.zip", "no zip") }))).toContain(
      "BUNDLE_UNREADABLE",
    );
  });

  it("finds what was edited behind our back", async () => {
    const dir = await repository.plan("judged", makeDraft());
    const text = async (more: object = {}) => JSON.stringify(await refusal("validate", { target: "judged", ...more }));
    expect(await text()).not.toContain("EVENTS_LEDGER_MISMATCH");
    expect(await text({ check_evidence: true })).not.toContain("EVIDENCE_MISSING");
    const events = readFileSync(join(dir, "events.jsonl"), "utf8");
    const lines = events.split("\n");
    for (const edited of [
      [
        ...lines.slice(0, 2),
        JSON.stringify({ ...(JSON.parse(lines[2]!) as object), role: "nobody" }),
        ...lines.slice(3),
      ],
      lines.slice(0, -2).concat(""),
      [...lines.slice(0, -1), lines[0]!, ""],
    ]) {
      writeFileSync(join(dir, "events.jsonl"), edited.join("\n"));
      expect(await text()).toContain("EVENTS_LEDGER_MISMATCH");
    }
    rmSync(join(dir, "events.jsonl"));
    expect(await text()).toContain("EVENTS_LEDGER_MISMATCH");
    writeFileSync(join(dir, "events.jsonl"), events);
    const results = readFileSync(join(dir, "artifacts/EXPECTED_RESULTS.md"), "utf8");
    writeFileSync(join(dir, "artifacts/EXPECTED_RESULTS.md"), results.replace("src/greet.js", "src/gone.js"));
    expect(await text({ check_evidence: true })).toContain("EVIDENCE_MISSING");
    writeFileSync(join(dir, "artifacts/EXPECTED_RESULTS.md"), results);
    writeFileSync(join(dir, "artifacts/diff.patch"), GOOD_PATCH.replaceAll("src/greet.js", "check.mjs"));
    expect(await text({ against_repo: true })).toContain("PATCH_SCOPE_DENY");
    expect(await text()).not.toContain("PATCH_SCOPE_DENY");
    await call("abort", { run: "judged", reason: "over" });
  });
});

describe("a request for files", () => {
  it("that asks for more than may be is blocked, and nothing is packed", async () => {
    const dir = String((await call("new", { goal: "g", run_id: "pack" }))["run_dir"]);
    await repository.submit("guardrails.md", GUARDRAILS, "pack");
    await call("advance", { run: "pack" });
    const small = REQUEST.replace("20000", "10");
    await repository.submit("file_request.json", small, "pack");
    expect(await call("advance", { run: "pack" })).toMatchObject({ code: "BUDGET_TOO_SMALL" });
    expect(state(dir)["context_pack"]).toMatchObject({ failed_code: "BUDGET_TOO_SMALL" });
    expect(() => readFileSync(join(dir, "artifacts/context_pack.json"))).toThrow(/ENOENT/);
    await call("abort", { run: "pack", reason: "over" });
  });
});
