import { realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { createBaselines } from "../../../adapters/disk/durable/baseline-files.ts";
import { readGuarded } from "../../../adapters/disk/guarded/guarded-file.ts";
import { runDisk } from "../../../adapters/disk/runs/run-disk.ts";
import { createRepoFiles } from "../../../adapters/disk/source/repo-files.ts";
import { readHost } from "../../../adapters/process/host.ts";
import { decodeUtf8 } from "../../../core/canonical/index.ts";
import type {
  CommandFacts,
  RegistryFacts,
  RepositoryFacts,
  VerificationPlace,
  VerifyPorts,
} from "../../../rooms/workflow/index.ts";
import type { Composition } from "../compose.ts";

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
    registries: () => readRegistries(composition),
  };
}

const MOST_SETTINGS = 256 * 1024;

/** The user's settings about registries. The repository's are those of the real tree, which no candidate has reached yet. */
function readRegistries({ workspace, env }: Composition): RegistryFacts {
  const { home } = readHost();
  const read = (place: string) => {
    const facts = statSync(place, { throwIfNoEntry: false });
    const bytes = facts?.isFile() === true ? readGuarded(realpathSync(place), MOST_SETTINGS) : null;
    return bytes === null ? null : decodeUtf8(bytes);
  };
  return {
    env,
    home: (path) => (home === null ? null : read(join(home, path))),
    base: (path) => read(join(workspace.root, path)),
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
