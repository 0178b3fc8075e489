import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openWorkspace } from "../../src/index.ts";
import { makeFolder } from "../support/cli.ts";

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
  const env = { PATH: process.env["PATH"], HOME: base, XDG_STATE_HOME: join(base, "state"), XDG_CONFIG_HOME: base };
  const workspace = openWorkspace(root, { env });
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
