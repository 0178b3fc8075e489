import { spawnSync } from "node:child_process";
import { GOOD_PATCH, GUARDRAILS, makeDraft, REASONS, REQUEST, RESULTS } from "../../test/support/sample-repository.ts";
import type { FrozenFiles } from "./files.ts";
import { freezeRun, type SampleWorkspace } from "./runs.ts";
import { sha256 } from "./table.ts";

const NOTES = "# Rules\n\nBe kind.\n\n## Limits\n\nAt most five boats.\n\n## Tides\n\nLow at noon.\n";
const CONTEXT = { context: { sources: ["docs/**/*.md"] } };

async function addNotes({ app, put }: SampleWorkspace): Promise<unknown> {
  put("docs/rules.md", NOTES);
  put("docs/log.md", "# Log\n\nNine boats came in.\n");
  const built = await app.call("context.index-build", {});
  await app.call("context.symbol-add", { symbol_id: "@NOTES/RULES", file: "docs/rules.md", slice: "head(3)" });
  await app.call("context.symbol-add", {
    symbol_id: "@NOTES/TIDES",
    heading: "docs/rules.md#Rules/Tides",
    slice: "tail(1)",
  });
  return built;
}

/** An index, two symbols, and an expansion of each. */
export async function freezeContext(): Promise<FrozenFiles> {
  return freezeRun(
    "context",
    CONTEXT,
    async (workspace) => {
      const { app } = workspace;
      const build = await addNotes(workspace);
      const refs = ["@NOTES/RULES", "@NOTES/TIDES"];
      const expand = await app.call("context.expand", { refs });
      await app.call("context.index-export", { out: "out/sections.jsonl" });
      const symbols = await app.call("context.symbol-list", {});
      const search = await app.call("context.search", { query: "boats" });
      return { build, expand, symbols, search };
    },
    ["sample/out"],
  );
}

/** A job that reads twice, with its receipts and its bundle. */
export async function freezeJob(): Promise<FrozenFiles> {
  return freezeRun(
    "job",
    CONTEXT,
    async (workspace) => {
      const { app } = workspace;
      await addNotes(workspace);
      const refs = ["@NOTES/RULES", "@NOTES/TIDES"];
      const ops = refs.map((target, i) => ({ type: "READ", target, params: { output: `out-${i}` } }));
      const budgets = { max_symbols: 9, max_sections: 9, max_bytes_expanded: 999, max_expands_per_step: 9 };
      const message = { intent: "read the rules", refs, ops, budgets, required_outputs: ["out-0", "out-1"] };
      const run_id = "3f0c9a52-7b1e-4c60-9d2a-5e8f1b7c6d40";
      const plan = await app.call("jobs.plan", { message, run_id });
      const submit = (await app.call("jobs.submit", { message, run_id })) as { readonly job_id: string };
      const { job_id } = submit;
      const receipts = await app.call("jobs.receipts", { job_id });
      const built = await app.call("jobs.bundle-build", { job_id, out: "out/bundle", with_receipts: true });
      const verified = await app.call("jobs.bundle-verify", { path: "out/bundle" });
      return { plan, submit, receipts, built, verified };
    },
    ["sample/out"],
  );
}

/** A command that changes a file and leaves an output; under the guard that every machine has. */
export async function freezeCatalytic(): Promise<FrozenFiles> {
  return freezeRun(
    "catalytic",
    { catalytic: { guard: "audit" } },
    async ({ app, put }) => {
      put(".verbatim/scratch/d/boats.txt", "nine\n");
      const script = "echo ten > .verbatim/scratch/d/boats.txt; echo counted > .verbatim/out/count.txt; echo said";
      const run = await app.call("catalytic.run", {
        command: ["sh", "-c", script],
        domain: [".verbatim/scratch/d"],
        out: [".verbatim/out/count.txt"],
        intent: "count the boats",
        run_id: "run-1",
        job_id: "job-1",
      });
      const verify = await app.call("catalytic.verify", { run: "run-1" });
      return { run, verify };
    },
    ["sample/.verbatim/runs", "sample/.verbatim/out"],
  );
}

/** A run from its goal to a patch that its gate and its check let through. */
export async function freezeWorkflow(): Promise<FrozenFiles> {
  const check = ["sh", "-c", "grep -q 'Hello, ' src/greet.js"];
  const config = {
    workflow: { mandatory_docs: [], verify: { isolation: "worktree", gates: { lite: [{ argv: check }] } } },
  };
  return freezeRun(
    "workflow",
    config,
    async ({ app, put, base }) => {
      put("src/greet.js", 'export const greet = (name) => "Hello " + name;\n');
      commitAll(`${base}/sample`);
      const run = "story";
      const submit = async (artifact: string, text: string) => {
        put("../given", text);
        await app.call("workflow.submit", { artifact, file: `${base}/given`, run });
      };
      const advance = () => app.call("workflow.advance", { run });
      const created = await app.call("workflow.new", { goal: "greet politely", run_id: run });
      await submit("guardrails.md", GUARDRAILS);
      await advance();
      await submit("file_request.json", REQUEST);
      await advance();
      await submit("PLAN_draft.md", makeDraft());
      await submit("REASONS.md", REASONS);
      await submit("EXPECTED_RESULTS.md", RESULTS);
      await advance();
      await submit("review_cost.md", `Draft-SHA256: ${sha256(makeDraft())}\nVerdict: APPROVE\n`);
      await app.call("workflow.submit", { artifact: "PLAN.md", from_draft: true, run });
      await submit("diff.patch", GOOD_PATCH);
      const passed = await advance();
      const status = await app.call("workflow.status", { run });
      return { created, passed, status };
    },
    ["runs", "sample/src"],
  );
}

/** The same commit everywhere: nobody's settings, and a day that does not move. */
function commitAll(root: string): void {
  const day = "2025-01-02T03:04:05Z";
  const env = {
    PATH: process.env["PATH"],
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: "Mira",
    GIT_AUTHOR_EMAIL: "mira@example.org",
    GIT_AUTHOR_DATE: day,
    GIT_COMMITTER_NAME: "Mira",
    GIT_COMMITTER_EMAIL: "mira@example.org",
    GIT_COMMITTER_DATE: day,
  };
  for (const args of [
    ["init", "-q", "-b", "main"],
    ["add", "-A"],
    ["commit", "-q", "-m", "base"],
  ]) {
    const { status, stderr } = spawnSync("git", args, { cwd: root, env, encoding: "utf8" });
    if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
  }
}

/** A world in which something is said three times, and its exports. */
export async function freezeWorld(): Promise<FrozenFiles> {
  return freezeRun(
    "world",
    {},
    async ({ app }) => {
      const world = "w_harbour";
      const person = ["ANA=Ana", "BEN=Ben"];
      const start = "2026-01-01T07:30:00+00:00";
      const made = await app.call("world.new", { title: "Harbour", world_id: world, timezone: "UTC", start, person });
      await app.call("world.presence", { world, present: ["GEORGE", "ANA"] });
      const beats: unknown[] = [];
      for (const [i, text] of ["The lamp is lit.", "Where is the boat?", "Good night."].entries()) {
        beats.push(await app.call("world.say", { world, text, request_id: `r-${i + 1}` }));
      }
      await app.call("world.export", { world, out: "out/world.jsonl" });
      await app.call("world.export", { world, kind: "viewer", viewer: "ANA", out: "out/ana.jsonl" });
      const verified = await app.call("world.verify", { world });
      return { made, beats, verified };
    },
    ["sample/out"],
  );
}
