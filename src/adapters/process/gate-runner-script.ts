import { readFileSync } from "node:fs";

/** Says that a list of writes comes on standard input, to be carried out before the first gate. */
export const WRITES_FIRST = "--writes";

/** The gate runner, for `node --input-type=commonjs -e`. */
export const GATE_RUNNER_SCRIPT = readFileSync(new URL("./scripts/gate-runner.cjs", import.meta.url), "utf8");
