// @ts-check
// Does a job, makes a portable bundle of it, and verifies the bundle before and after somebody changes a byte.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "verbatim-agent";
import { check, makeSample, put } from "./sample.mjs";

const MESSAGE = {
  intent: "read what is said about low water",
  refs: ["@TIDES/LOW_WATER"],
  ops: [{ type: "READ", target: "@TIDES/LOW_WATER", params: { output: "low-water" } }],
  budgets: { max_symbols: 1, max_sections: 1, max_bytes_expanded: 1000, max_expands_per_step: 1 },
  required_outputs: ["low-water"],
};

/**
 * A bundle of one finished job, in the folder `out`.
 *
 * @param {import("verbatim-agent").Workspace} workspace
 * @param {string} out
 */
export async function buildBundle(workspace, out) {
  await workspace.context.indexBuild({});
  const symbol_id = "@TIDES/LOW_WATER";
  await workspace.context.symbolAdd({ symbol_id, heading: "docs/tides.md#Tides/Low water", slice: "lines[0:3]" });
  const { job_id } = await workspace.jobs.submit({ message: MESSAGE });
  return workspace.jobs.bundleBuild({ job_id, out });
}

async function main() {
  const sample = makeSample();
  const workspace = openWorkspace(sample.repository, { env: sample.env });
  const out = join(sample.base, "low-water");
  try {
    const built = await buildBundle(workspace, out);
    check(built.artifacts === 1, "the bundle has one artifact");

    const report = await workspace.jobs.bundleVerify({ path: out, strict: true });
    check(report.ok, "the bundle verifies, without the repository");
    for (const sentence of report.proves) console.log(`    proves: ${sentence}`);

    const [artifact] = readdirSync(join(out, "artifacts"));
    put(join(out, "artifacts", artifact ?? ""), "Low water is at midnight.\n");
    const changed = await workspace.jobs.bundleVerify({ path: out });
    const codes = changed.problems.map(({ code }) => code);
    check(!changed.ok && codes.includes("ARTIFACT_HASH_MISMATCH"), "a changed byte is found");
  } finally {
    await workspace.close();
    sample.remove();
  }
}

if (process.argv[1]?.endsWith("build-a-bundle.mjs")) await main();
