import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openWorkspace } from "../../src/index.ts";
import { makeFolder } from "../support/cli.ts";
import { DatabaseSync } from "../support/raw-sqlite.ts";

/** One message, three rooms: READ is an expansion, WRITE passes the patch gate, EXECUTE is a catalytic run. */

const PATCH = [
  "diff --git a/docs/rules.md b/docs/rules.md",
  "--- a/docs/rules.md",
  "+++ b/docs/rules.md",
  "@@ -1,4 +1,4 @@",
  " # Rules",
  " ",
  "-Oil the gears on Monday.",
  "+Oil the gears on Tuesday.",
  " Wind the clock at noon.",
  "",
].join("\n");

const JOBSPEC = {
  schema_version: "cmp01-jobspec-1",
  run_id: "count",
  job_id: "count",
  intent: "count the bytes of the rules",
  determinism: "deterministic",
  catalytic_domains: [".verbatim/scratch"],
  durable_output_roots: [".verbatim/out"],
  outputs: { durable_paths: [".verbatim/out/count.txt"] },
  command: ["sh", "-c", "echo work > .verbatim/scratch/t; wc -c < docs/rules.md > .verbatim/out/count.txt"],
};

const BUDGETS = { max_symbols: 10, max_sections: 5, max_bytes_expanded: 10_000, max_expands_per_step: 3 };

function toEnv(root: string) {
  const base = join(root, "..");
  return { PATH: process.env["PATH"], HOME: base, XDG_STATE_HOME: join(base, "state"), XDG_CONFIG_HOME: base };
}

async function openSample() {
  const base = makeFolder();
  const root = join(base, "lamp");
  mkdirSync(join(root, "docs"), { recursive: true });
  mkdirSync(join(root, "jobs"));
  writeFileSync(join(root, "docs", "rules.md"), "# Rules\n\nOil the gears on Monday.\nWind the clock at noon.\n");
  writeFileSync(join(root, "jobs", "count.json"), JSON.stringify(JOBSPEC));
  const config = { context: { sources: ["docs/*.md", "jobs/*.json"] }, workflow: { patch: { allow_roots: ["docs"] } } };
  writeFileSync(join(root, "verbatim.config.json"), JSON.stringify(config));
  for (const args of [
    ["init", "-q"],
    ["add", "-A"],
    ["-c", "user.name=Mira", "-c", "user.email=mira@lamp.example", "commit", "-qm", "start"],
  ]) {
    execFileSync("git", args, { cwd: root });
  }
  const workspace = openWorkspace(root, { env: toEnv(root) });
  await workspace.call("context.index-build", {});
  await workspace.call("context.symbol-add", { symbol_id: "@DOC/RULES", file: "docs/rules.md", slice: "head(3)" });
  await workspace.call("context.symbol-add", { symbol_id: "@JOB/COUNT", file: "jobs/count.json", slice: "head(1)" });
  return { root, workspace };
}

async function submit(
  workspace: Awaited<ReturnType<typeof openSample>>["workspace"],
  root: string,
  ops: readonly object[],
) {
  const file = join(root, ".verbatim", "message.json");
  const message = {
    intent: "look after the lamp",
    refs: ["@DOC/RULES", "@JOB/COUNT"],
    ops,
    budgets: BUDGETS,
    required_outputs: [],
  };
  writeFileSync(file, JSON.stringify(message));
  return (await workspace.call("jobs.submit", { file })) as { readonly job_id: string; readonly state: string };
}

describe("a message that reads, writes and executes", () => {
  it("commits all three, keeps the proof and the receipts, and bundles what was read before the write", async () => {
    const { root, workspace } = await openSample();
    await using _ = workspace;
    const job = await submit(workspace, root, [
      { type: "READ", target: "@DOC/RULES", params: {} },
      { type: "WRITE", target: "@DOC/RULES", params: { patch: PATCH } },
      { type: "EXECUTE", target: "@JOB/COUNT", params: { output: "count" } },
    ]);
    expect(job.state).toBe("SUCCEEDED");
    expect(readFileSync(join(root, "docs", "rules.md"), "utf8")).toContain("Tuesday");
    expect(readFileSync(join(root, ".verbatim", "out", "count.txt"), "utf8").trim()).toBe("59");
    const out = join(root, ".verbatim", "bundle");
    await expect(workspace.call("jobs.bundle-build", { job_id: job.job_id, out })).rejects.toMatchObject({
      code: "BUNDLE_HAS_OTHER_STEPS",
      message: expect.stringMatching(/: step \d \((WRITE|EXECUTE)\), step \d \((WRITE|EXECUTE)\)$/),
    });
    await workspace.call("jobs.bundle-build", { job_id: job.job_id, out, reads_only: true });
    const report = (await workspace.call("jobs.bundle-verify", { path: out, strict: true })) as { ok: boolean };
    expect(report.ok).toBe(true);
    const artifact = execFileSync("sh", ["-c", "cat artifacts/*.txt"], { cwd: out, encoding: "utf8" });
    expect(artifact).toBe("# Rules\n\nOil the gears on Monday.\n");
    expect(await workspace.call("ledger.verify", {})).toMatchObject({ ok: true });
  });

  it("has nothing to bundle when it read nothing", async () => {
    const { root, workspace } = await openSample();
    await using _ = workspace;
    const { job_id, state } = await submit(workspace, root, [{ type: "EXECUTE", target: "@JOB/COUNT", params: {} }]);
    expect(state).toBe("SUCCEEDED");
    const out = join(root, ".verbatim", "bundle");
    await expect(workspace.call("jobs.bundle-build", { job_id, out, reads_only: true })).rejects.toMatchObject({
      code: "BUNDLE_NO_READ_STEPS",
      exit: 1,
    });
    expect(existsSync(out)).toBe(false);
  });

  it("is not bundled when somebody made its receipts contradict each other about one slice", async () => {
    const { root, workspace } = await openSample();
    const read = { type: "READ", target: "@DOC/RULES", params: {} };
    const { job_id } = await submit(workspace, root, [read, read]);
    await workspace.close();
    const database = new DatabaseSync(join(root, ".verbatim/state/store.db"));
    for (const row of database.prepare("select name from sqlite_master where type = 'trigger'").all())
      database.exec(`drop trigger "${(row as { name: string }).name}"`);
    const other = `"content_hash":"${"0".repeat(64)}"`;
    const { receipt } = database.prepare("select receipt from jobs_receipt where ordinal = 2").get() as {
      receipt: string;
    };
    const forged = receipt.replace(/"content_hash":"[0-9a-f]{64}"/, other);
    expect(forged).not.toBe(receipt);
    database.prepare("update jobs_receipt set receipt = ? where ordinal = 2").run(forged);
    database.close();
    await using again = openWorkspace(root, { env: toEnv(root) });
    const out = join(root, ".verbatim", "bundle");
    await expect(again.call("jobs.bundle-build", { job_id, out })).rejects.toMatchObject({
      code: "BUNDLE_CONTENT_CONFLICT",
      details: { ref: "@DOC/RULES" },
    });
    expect(existsSync(out)).toBe(false);
  });

  it("fails the step, and only says no, when the patch gate refuses", async () => {
    const { root, workspace } = await openSample();
    await using _ = workspace;
    const before = readFileSync(join(root, "docs", "rules.md"), "utf8");
    const job = submit(workspace, root, [
      { type: "WRITE", target: "@DOC/RULES", params: { patch: PATCH.replaceAll("docs/rules.md", ".git/config") } },
    ]);
    const outcome = await job.then(
      ({ state }) => state,
      (thrown: unknown) => (thrown as { code: string }).code,
    );
    expect(["FAILED", "JOB_FAILED"]).toContain(outcome);
    expect(readFileSync(join(root, "docs", "rules.md"), "utf8")).toBe(before);
  });
});
