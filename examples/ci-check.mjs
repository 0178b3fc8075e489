// @ts-check
// A check for CI: what a branch changes passes the patch gate, and every bundle in evidence/ still verifies.
//
//     node ci-check.mjs origin/main        in a repository: prints what is wrong and ends with 1
//     node ci-check.mjs                    shows it on a sample
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "verbatim-agent";
import { buildBundle } from "./build-a-bundle.mjs";
import { check, makeSample, put } from "./sample.mjs";

/**
 * Everything that is wrong with what HEAD has and `base` has not.
 *
 * @param {string} folder
 * @param {string} base
 * @param {NodeJS.ProcessEnv} [env]
 */
export async function findProblems(folder, base, env = process.env) {
  const workspace = openWorkspace(folder, { env });
  try {
    const range = [`${base}...HEAD`, "--", ".", ":!evidence"];
    const patch = execFileSync("git", ["diff", "--no-color", "--no-ext-diff", "--no-renames", ...range], {
      cwd: folder,
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
    });
    const found = [];
    if (patch !== "") {
      // The branch is checked out, so git has nothing left to try: no_git.
      const { result } = await workspace.workflow.patchCheck({ patch, no_git: true });
      if (result.verdict === "reject") found.push(`${result.path ?? "the change"}: ${result.code}: ${result.rule}`);
    }
    const evidence = join(folder, "evidence");
    for (const name of existsSync(evidence) ? readdirSync(evidence) : []) {
      const report = await workspace.jobs.bundleVerify({ path: join(evidence, name), strict: true });
      for (const { code, message } of report.problems) found.push(`evidence/${name}: ${code}: ${message}`);
    }
    return found;
  } finally {
    await workspace.close();
  }
}

async function showOnSample() {
  const sample = makeSample();
  const workspace = openWorkspace(sample.repository, { env: sample.env });
  /** @param {string} message */
  const commit = (message) => sample.git("add", "--all") + sample.git("commit", "--quiet", "--message", message);
  try {
    mkdirSync(join(sample.repository, "evidence"));
    await buildBundle(workspace, join(sample.repository, "evidence/low-water"));
    commit("what we rely on");
    sample.git("checkout", "--quiet", "-b", "branch");
    put(join(sample.repository, "docs/tides.md"), "# Tides\n\nLow water is at noon, high water at six.\n");
    commit("shorter");
    const good = await findProblems(sample.repository, "main", sample.env);
    check(good.length === 0, "a branch that keeps the rules passes");

    put(join(sample.repository, "verbatim.config.json"), "{}\n");
    const [artifact] = readdirSync(join(sample.repository, "evidence/low-water/artifacts"));
    put(join(sample.repository, "evidence/low-water/artifacts", artifact ?? ""), "Low water is at midnight.\n");
    commit("more than it says");
    const bad = await findProblems(sample.repository, "main", sample.env);
    for (const line of bad) console.log(`    ${line}`);
    check(bad[0]?.startsWith("verbatim.config.json: "), "a branch that changes the rules themselves does not");
    check(bad[1]?.includes("ARTIFACT_HASH_MISMATCH"), "and a bundle that somebody changed is found");
  } finally {
    await workspace.close();
    sample.remove();
  }
}

const base = process.argv[2];
if (base === undefined) await showOnSample();
else {
  const found = await findProblems(process.cwd(), base);
  for (const line of found) console.log(line);
  process.exitCode = found.length === 0 ? 0 : 1;
}
