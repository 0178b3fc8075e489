// @ts-check
// Runs two agents and decides by code which of their changes lands.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "verbatim-agent";
import { check, makeSample } from "./sample.mjs";

// An agent is any command. These two stand for one that does what it was asked to, and one that does more than that.
const FIX = "echo 'export const hourOf = (time) => Number(time.slice(0, 2));' > src/clock.mjs";
const CAREFUL = ["/bin/sh", "-c", FIX];
const EAGER = ["/bin/sh", "-c", `${FIX}; echo '# My harbour' > README.md`];

const sample = makeSample();
const workspace = openWorkspace(sample.repository, { env: sample.env });

/** @param {string[]} command */
function run(command) {
  return workspace.agent.run({ goal: "make hourOf read both digits", command, verify: ["node check.mjs"] });
}

/**
 * The decision: a change that is verified, small and inside src/ lands; every other one is thrown away.
 *
 * @param {import("verbatim-agent").Output<"agent.run">} found
 */
async function decide({ run_id, outcome, changes }) {
  const isSmall = changes.added_lines <= 20;
  const isInSource = changes.files.every(({ path }) => path.startsWith("src/"));
  if (outcome === "verified" && isSmall && isInSource) return workspace.agent.apply({ run: run_id });
  return workspace.agent.discard({ run: run_id });
}

try {
  const eager = await run(EAGER);
  check(eager.outcome === "verified", "the change of the eager agent passes the repository's own check");
  check((await decide(eager)).outcome === "discarded", "it is thrown away all the same, because it leaves src/");

  const careful = await run(CAREFUL);
  check(careful.proof?.accepted, "the tree is proved to be untouched while the agent worked");
  check((await decide(careful)).outcome === "applied", "the change of the careful agent is applied");
  const text = readFileSync(join(sample.repository, "src/clock.mjs"), "utf8");
  check(text.includes("slice(0, 2)"), "src/clock.mjs has the change");

  await workspace.agent.undo({ run: careful.run_id });
  check(sample.git("status", "--porcelain", "--", "src") === "", "undo puts it back byte for byte");
} finally {
  await workspace.close();
  sample.remove();
}
