// @ts-check
// A gate of your own: a command that looks at the tree as the change leaves it, and says no by its exit code.
import { openWorkspace } from "verbatim-agent";
import { check, makeSample } from "./sample.mjs";

// The rule: programs of the harbour print nothing. The gate is part of the call and not a file of the repository, because an
// agent could change a file, and with it what judges the agent.
const GATE = "! grep -n 'console[.]' src/*.mjs";

const sample = makeSample();
const workspace = openWorkspace(sample.repository, { env: sample.env });

/** @param {string} line */
function run(line) {
  return workspace.agent.run({
    goal: "make hourOf read both digits",
    command: ["/bin/sh", "-c", 'printf "%s\\n" "$1" > src/clock.mjs', "sh", line],
    verify: ["node check.mjs"],
    verify_sh: [GATE],
  });
}

try {
  const loud = await run("export const hourOf = (time) => (console.log(time), Number(time.slice(0, 2)));");
  check(loud.outcome === "verify_failed", "a change that prints is refused");
  const exits = loud.verify?.commands.map(({ exit_code }) => exit_code) ?? [];
  check(exits[0] === 0 && exits[1] === 1, "the repository's own check passes, and it is the gate that says no");

  const quiet = await run("export const hourOf = (time) => Number(time.slice(0, 2));");
  check(quiet.outcome === "verified", "a change that keeps the rule passes both");
} finally {
  await workspace.close();
  sample.remove();
}
