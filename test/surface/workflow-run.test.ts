// A complete run with scripted roles over a sample repository: fails verification once, is fixed, passes.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { unzipSync } from "fflate";
import { afterAll, describe, expect, it } from "vitest";
import {
  BAD_PATCH,
  COMMAND,
  GOOD_PATCH,
  greetPatch,
  makeDraft,
  SampleRepository,
} from "../support/sample-repository.ts";

const repositories: SampleRepository[] = [];
const make = (...args: ConstructorParameters<typeof SampleRepository>) => {
  const repository = new SampleRepository(...args);
  repositories.push(repository);
  return repository;
};
afterAll(async () => {
  for (const repository of repositories) await repository.remove();
});

const events = (dir: string) =>
  readFileSync(join(dir, "events.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { event: string; path: string; seq: number });

/** The prompts and the evidence of a bundle, and those of the run. */
const outboxOf = (bundle: Record<string, Uint8Array>) =>
  Object.fromEntries(
    Object.entries(bundle)
      .filter(([name]) => /^outbox\/./.test(name))
      .map(([name, bytes]) => [name.slice("outbox/".length), Buffer.from(bytes).toString("utf8")]),
  );
const outboxOn = (dir: string) =>
  Object.fromEntries(
    readdirSync(join(dir, "outbox")).map((name) => [name, readFileSync(join(dir, "outbox", name), "utf8")]),
  );

describe("a complete run", () => {
  it.each([
    ["worktree", "worktree"],
    ["auto", "catalytic"],
  ])(
    "fails verification once, is fixed, passes, and changes nothing but what the patch declares (%s)",
    async (isolation, kind) => {
      const repository = make({ verify: { isolation, gates: { lite: [{ argv: COMMAND }] } } });
      const before = repository.manifest();
      const dir = await repository.plan("story");
      await repository.submit("diff.patch", BAD_PATCH, "story");
      const failed = await repository.call("advance", { run: "story" });
      expect(failed).toMatchObject({ status: "fail", code: "VERIFY_FAILED", owner: "fixer", action: "fix_patch" });
      expect(repository.manifest()).toEqual(before);

      const report = JSON.parse(readFileSync(join(dir, "artifacts/verify_report.json"), "utf8"));
      expect(report).toMatchObject({
        result: "FAIL",
        gate: "lite",
        iteration: 1,
        max_iterations: 3,
        isolation: kind,
        executed_gates: ["lite", "plan_check", "patch_check", "behavior_catalog_check"],
      });
      expect(report.failures).toHaveLength(1);
      expect(report.failures[0]).toMatchObject({ kind: "command_failed", id: "lite[0]" });
      expect(report.failures[0].message).toContain("got Hello, Ada");
      const bundle = unzipSync(readFileSync(join(dir, "failure_bundle.zip")));
      expect(Object.keys(bundle)).toEqual(
        expect.arrayContaining(["TRACE.md", "events.jsonl", "reviews/", "outbox/", "artifacts/diff.patch"]),
      );
      expect(Buffer.from(bundle["artifacts/diff.patch"]!).toString()).toBe(BAD_PATCH);
      expect(readFileSync(join(dir, "outbox/FIX_BRIEF.md"), "utf8")).toContain("Label: VERIFY_FAILED");
      expect(outboxOf(bundle)).toEqual(outboxOn(dir));

      await repository.submit("diff.patch", GOOD_PATCH, "story");
      const passed = await repository.call("advance", { run: "story" });
      expect(passed).toMatchObject({ status: "pass", state: "pass", code: "RUN_PASS" });
      const after = repository.manifest();
      const changed = Object.keys({ ...before, ...after }).filter((path) => before[path] !== after[path]);
      expect(changed).toEqual(["src/greet.js"]);
      expect(existsSync(join(dir, "worktree"))).toBe(false);

      const names = events(dir).map(({ event }) => event);
      const verify = names.filter((name) => /^(?:VERIFY|BUNDLE|APPLY|RUN)_/.test(name) && name !== "RUN_BLOCKED");
      expect(verify).toEqual([
        "RUN_CREATED",
        "VERIFY_STARTED",
        "VERIFY_FAILED",
        "BUNDLE_CREATED",
        "VERIFY_STARTED",
        "VERIFY_PASSED",
        "APPLY_STARTED",
        "APPLY_COMPLETED",
        "RUN_PASSED",
      ]);
      expect(events(dir).map(({ seq }) => seq)).toEqual(names.map((_, i) => i + 1));
      expect(await repository.call("validate", { target: "story", check_evidence: true })).toMatchObject({ ok: true });
    },
  );

  it("is rolled back byte for byte, unless somebody edited a patched file", async () => {
    const repository = make();
    const before = repository.manifest();
    await repository.plan("back");
    await repository.submit("diff.patch", GOOD_PATCH, "back");
    await repository.call("advance", { run: "back" });
    repository.write("src/greet.js", "edited\n");
    await expect(repository.call("rollback", { run: "back" })).rejects.toMatchObject({ code: "ROLLBACK_CONFLICT" });
    expect(repository.read("src/greet.js")).toBe("edited\n");
    repository.write("src/greet.js", 'export const greet = (name) => "Hello, " + name + "!";\n');
    expect(await repository.call("rollback", { run: "back" })).toMatchObject({ paths: ["src/greet.js"] });
    expect(repository.manifest()).toEqual(before);
    expect(await repository.call("status", { run: "back" })).toMatchObject({
      stop_reason: "rolled_back",
      status: "fail",
    });
  });

  it("finds an edited event log by its ledger", async () => {
    const repository = make();
    const dir = await repository.plan("log");
    const text = readFileSync(join(dir, "events.jsonl"), "utf8");
    repository.runFile("log", "events.jsonl", text.replace("RUN_CREATED", "RUN_INVENTED"));
    const result = await repository.call("validate", { target: "log" });
    expect(result["ok"]).toBe(false);
    expect(JSON.stringify(result)).toContain("EVENTS_LEDGER_MISMATCH");
  });
});

describe("what lands", () => {
  const apply = async (repository: SampleRepository, run: string, patch: string, scope: string) => {
    await repository.plan(run, makeDraft({ "Scope-Allow": scope }));
    await repository.submit("diff.patch", patch, run);
    return await repository.call("advance", { run });
  };

  it("may be a change of the ignore rules, whatever that shows or hides", async () => {
    const repository = make();
    repository.write("ignored/deep/secret.txt", "s\n");
    repository.write("notes.txt", "n\n");
    const head = "diff --git a/.gitignore b/.gitignore\n--- a/.gitignore\n+++ b/.gitignore\n@@ -1 +1 @@\n";
    const patch = `${GOOD_PATCH}${head}-ignored/\n+notes.txt\n`;
    expect(await apply(repository, "rules", patch, "src/, .gitignore")).toMatchObject({ code: "RUN_PASS" });
    expect(repository.read("ignored/deep/secret.txt")).toBe("s\n");
    expect(repository.git("status", "--short", "--ignored")).toContain("!! notes.txt");
    expect(await repository.call("rollback", { run: "rules" })).toMatchObject({ stop_reason: "rolled_back" });
    expect(repository.git("status", "--short", "--ignored")).toContain("?? notes.txt");
  });

  it("waits while a folder that becomes a file holds files nobody tracks", async () => {
    const repository = make(undefined, { "src/old/x.js": "export {};\n", ".gitignore": "*.o\n" });
    repository.write("src/old/x.o", "made\n");
    const patch = `${GOOD_PATCH}diff --git a/src/old b/src/old\nnew file mode 100644\n--- /dev/null\n+++ b/src/old\n@@ -0,0 +1 @@\n+file\ndiff --git a/src/old/x.js b/src/old/x.js\ndeleted file mode 100644\n--- a/src/old/x.js\n+++ /dev/null\n@@ -1 +0,0 @@\n-export {};\n`;
    await expect(apply(repository, "full", patch, "src/")).rejects.toMatchObject({
      code: "REPO_DIRTY",
      details: { paths: ["src/old/x.o"] },
    });
    expect(repository.git("status", "--short")).toBe("");
    rmSync(join(repository.root, "src/old/x.o"));
    expect(await repository.call("advance", { run: "full" })).toMatchObject({ code: "RUN_PASS" });
    expect(repository.read("src/old")).toBe("file\n");
  });
});

describe("the gate inside a run", () => {
  it("rejects once, keeps the candidate, and never judges the same bytes again", async () => {
    const repository = make();
    const dir = await repository.plan("gate");
    const patch = GOOD_PATCH.replaceAll("src/greet.js", "check.mjs");
    await repository.submit("diff.patch", patch, "gate");
    expect(await repository.call("advance", { run: "gate" })).toMatchObject({ code: "PATCH_REJECTED", owner: "fixer" });
    await repository.submit("diff.patch", patch, "gate");
    await repository.call("advance", { run: "gate" });
    const status = await repository.call("status", { run: "gate" });
    expect(status).toMatchObject({ rejections: { used: 1, max: 10 }, iterations: { used: 0 } });
    expect(readFileSync(join(dir, "artifacts/diff.patch"), "utf8")).toBe(patch);
    expect(readFileSync(join(dir, "reviews/review_patch.md"), "utf8")).toContain("Rule: scope_allow");
    expect(events(dir).filter(({ event }) => event === "PATCH_REJECTED")).toHaveLength(1);
  });

  it("judges a patch again before it verifies it: what the run forbids by then is rejected and runs nothing", async () => {
    const repository = make();
    const dir = await repository.plan("narrow");
    await repository.submit("diff.patch", GOOD_PATCH, "narrow");
    expect(await repository.call("advance", { run: "narrow", max_steps: 1 })).toMatchObject({ action: "verify" });
    const record = JSON.parse(readFileSync(join(dir, "RUN.json"), "utf8")) as { policy: object };
    const narrower = { ...record, policy: { ...record.policy, max_added_lines: 0 } };
    writeFileSync(join(dir, "RUN.json"), `${JSON.stringify(narrower, null, 2)}\n`);
    expect(await repository.call("advance", { run: "narrow" })).toMatchObject({ code: "PATCH_REJECTED" });
    expect(events(dir).map(({ event }) => event)).not.toContain("VERIFY_STARTED");
    expect(readFileSync(join(dir, "reviews/review_patch.md"), "utf8")).toContain("max_added_lines");
  });

  it("carries the brief and the prompt of its own failure in the bundle, also of a rejection and of a stop", async () => {
    const repository = make({ limits: { max_patch_rejections: 2 }, verify: { gates: { lite: [{ argv: COMMAND }] } } });
    const dir = await repository.plan("brief");
    const bundle = () => outboxOf(unzipSync(readFileSync(join(dir, "failure_bundle.zip"))));
    await repository.submit("diff.patch", BAD_PATCH, "brief");
    await repository.call("advance", { run: "brief" });
    expect(bundle()).toEqual(outboxOn(dir));
    await repository.submit("diff.patch", GOOD_PATCH.replaceAll("src/greet.js", "check.mjs"), "brief");
    // One step and no more: nobody has been asked by a later one.
    await repository.call("advance", { run: "brief", max_steps: 1 });
    const rejected = bundle();
    expect(rejected["FIX_BRIEF.md"]).toContain("Label: PATCH_REJECTED");
    expect(Object.keys(rejected).filter((name) => name.endsWith("_fixer_fix_patch.md"))).toHaveLength(2);
    expect(rejected).toEqual(outboxOn(dir));
    await repository.call("advance", { run: "brief" });
    expect(events(dir).filter(({ event }) => event === "BUNDLE_CREATED")).toHaveLength(2);
    const second = GOOD_PATCH.replaceAll("src/greet.js", "AGENTS.md");
    await repository.submit("diff.patch", second, "brief");
    expect(await repository.call("advance", { run: "brief" })).toMatchObject({ stop_reason: "max_patch_rejections" });
    const hash = createHash("sha256").update(second).digest("hex");
    expect(bundle()["FIX_BRIEF.md"]).toContain(hash);
  });

  it("accepts a hunk that repeats its text, and rejects it in the run because nothing changes", async () => {
    const repository = make();
    const patch = greetPatch('export const greet = (name) => "Hello " + name;');
    expect(await repository.call("patch-check", { patch })).toMatchObject({ result: { verdict: "accept" } });
    const dir = await repository.plan("same");
    await repository.submit("diff.patch", patch, "same");
    expect(await repository.call("advance", { run: "same" })).toMatchObject({ code: "PATCH_REJECTED" });
    const record = JSON.parse(readFileSync(join(dir, "artifacts/patch_gate.json"), "utf8"));
    expect(record.result).toMatchObject({ code: "PATCH_GIT_MISMATCH", rule: "changed_paths" });
  });

  it("stops on a scope violation when the plan says so, and touches nothing", async () => {
    const repository = make();
    const before = repository.manifest();
    await repository.plan("scope", makeDraft({ Stop: "scope_violation=true" }));
    await repository.submit("diff.patch", GOOD_PATCH.replaceAll("src/greet.js", "check.mjs"), "scope");
    expect(await repository.call("advance", { run: "scope" })).toMatchObject({
      state: "stopped",
      stop_reason: "stop_condition:scope_violation",
    });
    expect(repository.manifest()).toEqual(before);
    await expect(repository.submit("diff.patch", GOOD_PATCH, "scope")).rejects.toMatchObject({ code: "RUN_ENDED" });
  });

  it("stops when the same verification fails again, and when the iterations are used up", async () => {
    const repository = make();
    await repository.plan("again", makeDraft({ Stop: "repeated_failure=2" }));
    for (const word of ["A", "B"]) {
      await repository.submit("diff.patch", greetPatch(`export const greet = () => "${word}";`), "again");
      await repository.call("advance", { run: "again" });
    }
    expect(await repository.call("status", { run: "again" })).toMatchObject({
      stop_reason: "stop_condition:repeated_failure",
    });
    await repository.plan("used", makeDraft({ Budgets: "max_iterations=1, max_files=5, max_total_bytes=100000" }));
    await repository.submit("diff.patch", BAD_PATCH, "used");
    expect(await repository.call("advance", { run: "used" })).toMatchObject({ stop_reason: "max_iterations" });
  });

  it("refuses to apply over a moved or a dirty repository and keeps the verified patch", async () => {
    const repository = make();
    await repository.plan("moved");
    await repository.submit("diff.patch", GOOD_PATCH, "moved");
    await repository.call("advance", { run: "moved", no_apply: true });
    repository.write("src/list.js", "export const names = [1];\n");
    expect(await repository.call("advance", { run: "moved" })).toMatchObject({
      code: "REPO_DIRTY",
      owner: "operator",
      findings: [{ code: "REPO_DIRTY", file: "src/list.js" }],
    });
    repository.commit("meanwhile");
    const base = repository.git("rev-parse", "HEAD~1").trim();
    const head = repository.git("rev-parse", "HEAD").trim();
    expect(await repository.call("advance", { run: "moved" })).toMatchObject({
      code: "REPO_MOVED",
      findings: [
        { message: `the repository is at ${head}, but the run started at ${base}`, fix: expect.stringContaining(base) },
      ],
    });
    repository.git("checkout", "-q", "HEAD~1");
    expect(await repository.call("advance", { run: "moved" })).toMatchObject({ status: "pass" });
  });
});

describe("verification", () => {
  it("fails when a gate command writes into the real repository", async () => {
    const write = ["sh", "-c", 'echo x > "$OUT"'];
    const repository = make({ verify: { gates: { lite: [{ argv: write }] }, env_allow: ["OUT"] } });
    repository.env["OUT"] = join(repository.root, "planted.txt");
    const dir = await repository.plan("planted");
    await repository.submit("diff.patch", GOOD_PATCH, "planted");
    expect(await repository.call("advance", { run: "planted" })).toMatchObject({ code: "VERIFY_FAILED" });
    expect(readFileSync(join(dir, "artifacts/verify_report.json"), "utf8")).toContain("isolation_violation");
  });

  it("ends a command at its timeout, says when one is missing, and keeps running the other gates", async () => {
    const lite = [{ argv: ["sleep", "60"], timeout_s: 1 }];
    const repository = make({ verify: { gates: { lite, full: [{ argv: ["no-such-program"] }] } } });
    const dir = await repository.plan(
      "slow",
      makeDraft({ Gates: "lite, full, plan_check, patch_check, behavior_catalog_check" }),
    );
    await repository.submit("diff.patch", GOOD_PATCH, "slow");
    await repository.call("advance", { run: "slow" });
    const report = JSON.parse(readFileSync(join(dir, "artifacts/verify_report.json"), "utf8")) as {
      readonly failures: readonly { readonly kind: string }[];
      readonly commands: readonly { readonly exit_code: number }[];
      readonly paths: object;
    };
    expect(Object.keys(report.paths)).toEqual([
      "trace",
      "verify_report",
      "bundle",
      "stdout_log",
      "stderr_log",
      "plan",
      "patch",
    ]);
    expect(report.failures.map((one: { kind: string }) => one.kind)).toEqual(["command_timeout", "command_not_found"]);
    expect(report.commands.slice(0, 2).map((one: { exit_code: number }) => one.exit_code)).toEqual([124, 127]);
    expect(report).toMatchObject({ gate: "full", result: "FAIL" });
  });

  it("gives commands a short environment only", async () => {
    const repository = make({
      verify: { gates: { lite: [{ argv: ["sh", "-c", "env | cut -d= -f1 | sort | tr '\\n' ' '"] }] } },
    });
    repository.env["SECRET_TOKEN"] = "do-not-pass";
    const dir = await repository.plan("env");
    await repository.submit("diff.patch", GOOD_PATCH, "env");
    await repository.call("advance", { run: "env", no_apply: true });
    const log = readFileSync(join(dir, "logs/verify.stdout.log"), "utf8");
    expect(log).toContain("VERBATIM_GATE");
    expect(log).not.toContain("SECRET_TOKEN");
  });

  it("shares ignored folders with the copy and runs set-up first", async () => {
    const verify = {
      setup: [{ argv: ["sh", "-c", "echo made > made.txt"] }],
      share: [{ path: "ignored", how: "copy" }],
      gates: { lite: [{ argv: ["sh", "-c", "test -f made.txt && test -f ignored/tool && git rev-parse HEAD"] }] },
    };
    const repository = make({ verify });
    repository.write("ignored/tool", "x");
    await repository.plan("share");
    await repository.submit("diff.patch", GOOD_PATCH, "share");
    expect(await repository.call("advance", { run: "share" })).toMatchObject({ status: "pass" });
    expect(existsSync(join(repository.root, "made.txt"))).toBe(false);
  });
});

describe("direct runs", () => {
  it("write every planning artifact mechanically and stop where the patch is missing", async () => {
    const repository = make({});
    await expect(repository.call("new", { goal: "g", direct: true })).rejects.toMatchObject({
      code: "VERIFY_NOT_CONFIGURED",
    });
    repository.write("src/local.js", "export const local = 1;\n");
    const quoted = COMMAND.map((word) => `'${word}'`).join(" ");
    const created = await repository.call("new", {
      goal: 'say "hi"; $(touch pwned)\n`x`',
      direct: true,
      run_id: "d",
      verify: [quoted],
      allow: ["src"],
    });
    expect(created).toMatchObject({ state: "blocked", owner: "patchmaker", target: "artifacts/diff.patch" });
    const patch = `${GOOD_PATCH}diff --git a/src/local.js b/src/local.js\n--- a/src/local.js\n+++ b/src/local.js\n@@ -1 +1 @@\n-export const local = 1;\n+export const local = 2;\n`;
    await repository.submit("diff.patch", patch, "d");
    expect(await repository.call("advance", { run: "d" })).toMatchObject({ status: "pass" });
    expect(repository.read("src/local.js")).toBe("export const local = 2;\n");
    expect(existsSync(join(repository.root, "pwned"))).toBe(false);
    await repository.call("rollback", { run: "d" });
    expect(repository.read("src/local.js")).toBe("export const local = 1;\n");
  });

  it("take a goal that holds what looks like an id, word for word", async () => {
    const repository = make();
    const goal = "fix ruff B006 and R102, not `R001`";
    expect(
      await repository.call("new", { goal, run_id: "ids", direct: true, verify: ["true"], allow: ["src"] }),
    ).toMatchObject({ target: "artifacts/diff.patch", code: "ARTIFACT_MISSING" });
    expect(await repository.call("show", { run: "ids", artifact: "REASONS.md" })).toMatchObject({
      artifact: { text: `- R001: the goal, word for word\n  \`\`\`\n  ${goal}\n  \`\`\`\n` },
    });
  });

  it("need no behaviour when the index has no entries yet", async () => {
    const repository = make();
    repository.write("docs/behaviors/INDEX.md", "# Behaviours\n");
    expect(
      await repository.call("new", { goal: "g", run_id: "bare", direct: true, verify: ["true"], allow: ["src"] }),
    ).toMatchObject({ target: "artifacts/diff.patch", code: "ARTIFACT_MISSING" });
  });

  it("alone take flags of direct runs", async () => {
    const repository = make();
    const flags = { verify: ["true"], files: ["src/list.js"], no_verify: true, gate: "full", max_files: 3 };
    await expect(repository.call("new", { goal: "g", ...flags })).rejects.toMatchObject({
      code: "USAGE",
      message: "only a direct run accepts --verify, --file, --max-files, --no-verify, --gate",
    });
  });

  it("drop what is left out before the gate, say so in the log, and keep the whole patch", async () => {
    const repository = make();
    const created = await repository.call("new", {
      goal: "g",
      direct: true,
      run_id: "d",
      no_verify: true,
      leave_out: ["assets"],
    });
    const binary =
      "diff --git a/assets/x.png b/assets/x.png\nnew file mode 100644\nindex 0000000..f76dd23\nGIT binary patch\nliteral 1\nIcmZPo000310RR91\n\n";
    await repository.submit("diff.patch", binary + GOOD_PATCH, "d");
    expect(await repository.call("advance", { run: "d" })).toMatchObject({ status: "pass" });
    const dir = String(created["run_dir"]);
    expect(readFileSync(join(dir, "artifacts/diff.patch"), "utf8")).toBe(GOOD_PATCH);
    expect(readFileSync(join(dir, "events.jsonl"), "utf8")).toContain('"left_out":["assets/x.png"]');
    expect(existsSync(join(repository.root, "assets"))).toBe(false);
  });

  it("keep the mandatory documents out of scope and have the larger limits", async () => {
    const repository = make();
    await repository.call("new", { goal: "g", direct: true, run_id: "d", no_verify: true });
    await repository.submit(
      "diff.patch",
      "diff --git a/AGENTS.md b/AGENTS.md\n--- a/AGENTS.md\n+++ b/AGENTS.md\n@@ -1 +1 @@\n-Work in small steps.\n+Do what you want.\n",
      "d",
    );
    expect(await repository.call("advance", { run: "d" })).toMatchObject({
      stop_reason: "stop_condition:scope_violation",
    });
    const { artifact } = (await repository.call("show", { run: "d", artifact: "RUN.json" })) as {
      artifact: { text: string };
    };
    expect(JSON.parse(artifact.text).policy).toMatchObject({ max_files: 50, max_added_lines: 2000 });
  });
});

describe("run names and places", () => {
  it.each(["../x", "con", "a/b", ".hidden", "x.", "a".repeat(65)])("refuses the run id %s", async (run_id) => {
    await expect(make().call("new", { goal: "g", run_id })).rejects.toMatchObject({ code: "RUN_ID_INVALID" });
  });

  it("refuses runs inside the repository, also through a link", async () => {
    const repository = make();
    repository.env["VERBATIM_RUNS_ROOT"] = join(repository.root, "elsewhere");
    await expect(repository.call("new", { goal: "g" })).rejects.toMatchObject({ code: "RUN_DIR_INSIDE_REPO" });
    expect(existsSync(join(repository.root, "elsewhere"))).toBe(false);
  });

  it("finds a run by its prefix, and says which ones a short name could mean", async () => {
    const repository = make();
    await repository.call("new", { goal: "g", run_id: "alpha-1" });
    await repository.call("new", { goal: "g", run_id: "alpha-2" });
    expect(await repository.call("status", { run: "alpha-1" })).toMatchObject({ run_id: "alpha-1" });
    await expect(repository.call("status", { run: "alpha" })).rejects.toMatchObject({ code: "RUN_AMBIGUOUS" });
    await expect(repository.call("status", { run: "beta" })).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
    await expect(repository.call("status", {})).rejects.toMatchObject({
      code: "RUN_AMBIGUOUS",
      details: { runs: ["alpha-1", "alpha-2"] },
    });
  });

  it.each(["src/list.js/x", "./src/list.js", "x".repeat(300), "a/\u0000"])(
    "knows no run %j, whatever the system says of such a name",
    async (run) => {
      const repository = make();
      const name = run.includes("/") && !run.startsWith(".") ? join(repository.root, run) : run;
      await expect(repository.call("status", { run: name })).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
    },
  );

  it("says where RUN.json is broken and leaves everything else alone", async () => {
    const repository = make();
    await repository.call("new", { goal: "g", run_id: "broken" });
    repository.runFile("broken", "RUN.json", '{"schema_version":\n  oops');
    await expect(repository.call("status", { run: "broken" })).rejects.toMatchObject({
      code: "RUN_CORRUPT",
      where: expect.stringContaining("RUN.json:2"),
    });
  });
});

describe("submitting", () => {
  it("stores nothing that is not valid, and keeps what was there before", async () => {
    const repository = make();
    await repository.call("new", { goal: "g", run_id: "s" });
    const refused = await repository.submit("guardrails.md", "find_mode: web\n", "s");
    expect(refused).toMatchObject({ ok: false, sha256: null });
    expect(refused["errors"]).toHaveLength(4);
    await expect(repository.submit("find_result.json", "{}", "s")).rejects.toMatchObject({
      code: "ARTIFACT_NOT_SUBMITTABLE",
    });
    await expect(repository.submit("context_pack.json", "{}", "s")).rejects.toMatchObject({
      code: "ARTIFACT_NOT_SUBMITTABLE",
    });
    await expect(repository.submit("nonsense.md", "x", "s")).rejects.toMatchObject({ code: "ARTIFACT_UNKNOWN" });
    await expect(repository.submit("guardrails.md", "", "s")).rejects.toMatchObject({ code: "ARTIFACT_EMPTY" });
  });

  it("refuses a signed plan that is not the draft, and validate tells one that was edited and ids that do not resolve", async () => {
    const repository = make();
    await repository.plan("signed");
    const wider = makeDraft({ Status: "SIGNED", "Scope-Allow": "src/, docs/" });
    const differs = { code: "PLAN_DIFFERS_FROM_DRAFT", file: "artifacts/PLAN.md", line: 2 };
    expect(await repository.submit("PLAN.md", wider, "signed")).toMatchObject({ ok: false, errors: [differs] });
    repository.runFile("signed", "artifacts/PLAN.md", wider);
    repository.runFile("signed", "artifacts/REASONS.md", "- R001 and R777\n");
    const { results } = (await repository.call("validate", { target: "signed" })) as {
      results: { errors: object[] }[];
    };
    const found = results.flatMap(({ errors }) => errors);
    expect(found).toContainEqual(expect.objectContaining(differs));
    expect(found).toContainEqual(expect.objectContaining({ code: "REASON_REF_UNRESOLVED", key: "R777" }));
    expect(found).toContainEqual(expect.objectContaining({ code: "REVIEW_STALE", file: "reviews/review_contract.md" }));
  });

  it("asks both reviewers again when the results were weakened after their approval", async () => {
    const repository = make();
    await repository.plan("weak");
    await repository.call("advance", { run: "weak" });
    await repository.submit(
      "EXPECTED_RESULTS.md",
      "R001: t\nAcceptance: nothing\nEvidence: src/greet.js\nRelated-Gates: lite\n",
      "weak",
    );
    expect(await repository.call("status", { run: "weak" })).toMatchObject({
      owner: "contract_guardian",
      code: "REVIEW_STALE",
    });
    expect(await repository.call("advance", { run: "weak" })).toMatchObject({
      owner: "cost_controller",
      code: "REVIEW_STALE",
    });
  });
});

describe("a mandatory document that is named twice", () => {
  const request = {
    schema_version: "ctcp-file-request-v1",
    goal: "g",
    needs: [],
    budget: { max_files: 9, max_total_bytes: 9999 },
    reason: "r",
  };

  it.each([
    [false, true],
    [true, false],
  ])("is required if either says so (%s, then %s)", async (first, second) => {
    const mandatory_docs = [first, second].map((required) => ({ path: "LAW.md", required }));
    const repository = make({ mandatory_docs, verify: { gates: { lite: [{ argv: COMMAND }] } } });
    await expect(repository.call("pack", { file_request: request })).rejects.toMatchObject({
      code: "MANDATORY_DOC_MISSING",
      details: { missing: [{ path: "LAW.md", detail: "missing" }] },
    });
  });
});

describe("a pack outside a run", () => {
  const CONTRACTED = ["AGENTS.md", "ai_context/00_AI_CONTRACT.md", "ai_context/CTCP_FAST_RULES.md"];
  const request = (max_files = 9) => ({
    schema_version: "ctcp-file-request-v1",
    goal: "g",
    needs: [{ path: "lamp.txt", mode: "full" }],
    budget: { max_files, max_total_bytes: 9999 },
    reason: "r",
  });
  const packOf = async (repository: ReturnType<typeof make>, max_files?: number) =>
    JSON.parse(
      ((await repository.call("pack", { file_request: request(max_files) })) as { readonly text: string }).text,
    ) as {
      readonly files: readonly { readonly path: string; readonly why: string }[];
      readonly omitted: readonly object[];
    };

  it("lists documents of the contract that do not exist, and begins with those that do", async () => {
    const repository = make({ verify: { gates: { lite: [{ argv: COMMAND }] } } });
    writeFileSync(join(repository.root, "lamp.txt"), "lit\n");
    for (const path of CONTRACTED) rmSync(join(repository.root, path), { force: true });
    const none = await packOf(repository);
    expect(none.files.map(({ path }) => path)).toEqual(["lamp.txt"]);
    expect(none.omitted).toEqual(CONTRACTED.map((path) => ({ path, reason: "not_found", detail: "missing" })));
    writeFileSync(join(repository.root, "AGENTS.md"), "Be kind.\n");
    const one = await packOf(repository);
    expect(one.files).toMatchObject([{ path: "AGENTS.md", why: "mandatory_contract" }, { path: "lamp.txt" }]);
    expect(one.omitted).toHaveLength(2);
    // Artifact Contracts B.1: those that exist still come before everything and must fit.
    writeFileSync(join(repository.root, "PATCH_README.md"), "Small patches.\n");
    await expect(packOf(repository, 1)).rejects.toMatchObject({ code: "BUDGET_TOO_SMALL" });
  });

  it("fails for one that exists and cannot be used", async () => {
    const repository = make({ verify: { gates: { lite: [{ argv: COMMAND }] } } });
    rmSync(join(repository.root, "AGENTS.md"), { force: true });
    mkdirSync(join(repository.root, "AGENTS.md"));
    await expect(packOf(repository)).rejects.toMatchObject({
      code: "MANDATORY_DOC_MISSING",
      details: { missing: [{ path: "AGENTS.md", detail: "not_regular_file" }] },
    });
  });
});
