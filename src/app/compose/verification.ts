import { join } from "node:path";
import { createBaselines } from "../../adapters/disk/baseline-files.ts";
import { createRepoFiles } from "../../adapters/disk/repo-files.ts";
import { runDisk } from "../../adapters/disk/run-disk.ts";
import type { CommandFacts, RepositoryFacts, VerificationPlace, VerifyPorts } from "../../rooms/workflow/index.ts";
import type { Composition } from "./compose.ts";

/** What a verification needs besides the place it happens in. */
export async function createVerifyPorts(composition: Composition, place: VerificationPlace): Promise<VerifyPorts> {
  const { workspace, clock, crypto } = composition;
  return {
    place,
    content: await composition.content("append"),
    files: createRepoFiles(workspace.root),
    baselines: createBaselines(join(workspace.state, "agent", "baselines")),
    clock,
    crypto,
  };
}

/** What can be asked about verify commands before an agent starts. */
export function createCommandFacts({ workspace, env }: Composition): CommandFacts & RepositoryFacts {
  const files = createRepoFiles(workspace.root);
  const look = (path: string) => {
    const there = files.look(path);
    return there !== null && typeof there === "object" ? there.bytes : null;
  };
  return {
    findProgram: (word) => runDisk.findExecutable(word, workspace.root, env["PATH"] ?? "/usr/bin:/bin"),
    isThere: (path) => runDisk.stat(join(workspace.root, path)) !== null,
    read: look,
  };
}
