import { readFileSync } from "node:fs";

/** Runs the hooks of a commit in a view of its tree, for `node --input-type=commonjs -e`. */
export const COMMIT_HOOKS_SCRIPT = readFileSync(new URL("./scripts/commit-hooks.cjs", import.meta.url), "utf8");
