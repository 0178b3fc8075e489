import { randomBytes } from "node:crypto";
import { createInterface } from "node:readline";
import { createRepoIdentity } from "../../../src/app/compose/store/repo-identity.ts";
import { findWorkspace } from "../../../src/app/compose/store/workspace.ts";

/** Opens the identity of each repository it is told the moment it is told, and says which one it got. */
createInterface({ input: process.stdin }).on("line", (root) => {
  const identity = createRepoIdentity(findWorkspace(root), { bytes: (count) => randomBytes(count) });
  process.stdout.write(`${identity.settle().repo_id}\n`);
});
process.stdout.write("ready\n");
