import { randomBytes } from "node:crypto";
import { createRepoIdentity } from "../../../src/app/compose/repo-identity.ts";
import { findWorkspace } from "../../../src/app/compose/workspace.ts";

/** Opens the identity of a repository the moment it is told to, and says which one it got. */
const workspace = findWorkspace(process.argv[2]!);
process.stdin.once("data", () => {
  const identity = createRepoIdentity(workspace, { bytes: (count) => randomBytes(count) });
  process.stdout.write(`${identity.settle().repo_id}\n`, () => process.exit());
});
process.stdout.write("ready\n");
