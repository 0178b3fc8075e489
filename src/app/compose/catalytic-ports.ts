import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runDisk } from "../../adapters/disk/runs/run-disk.ts";
import { createTreeMemory } from "../../adapters/disk/source/tree-memory.ts";
import { isStatTrusted } from "../../adapters/disk/stat/stat-trust.ts";
import { readGitContext } from "../../adapters/git/git-context.ts";
import { treeIgnores } from "../../adapters/git/tree-ignores.ts";
import { createGuards } from "../../adapters/guards/index.ts";
import { listControlFolders } from "../../adapters/process/control-place.ts";
import { readHost } from "../../adapters/process/host.ts";
import { zlibPacker } from "../../adapters/zlib/packer.ts";
import { isJsonObject, parseJson, sortedByCodePoint, sortedUnique } from "../../core/canonical/index.ts";
import type { NewEntry, SyncCrypto } from "../../core/ports.ts";
import {
  type CatalyticPorts,
  type RunEntry,
  type RunRecords,
  readPolicy,
  type Validator,
} from "../../rooms/catalytic/index.ts";
import type { CatalyticPlaces, Composition } from "./compose.ts";
import { createStateFolder, findRunsRoot, userFolders } from "./store/workspace.ts";

/** Fills the ports of the catalytic room. Nothing is written before a run needs it. */
export function createCatalyticPorts(composition: Composition): CatalyticPorts {
  const { workspace, crypto, clock, random, progress, interrupts, env, actor, keys } = composition;
  return {
    clock,
    random,
    crypto,
    disk: runDisk,
    guards: {
      probe: (fresh) => openGuards(composition).probe(fresh),
      landlockAbi: () => openGuards(composition).landlockAbi(),
      launch: (request) => openGuards(composition).launch(request),
      endMarked: (run) => openGuards(composition).endMarked(run),
    },
    host: readHost(),
    interrupts,
    records: createRecords(composition),
    content: () => composition.content("append"),
    packer: zlibPacker,
    git: treeIgnores,
    trees: createTreeMemory({
      // Only the workspace itself is looked at again and again; copies of it go away.
      place: (root) => (root === realpathSync(workspace.root) ? join(workspace.state, "catalytic", "_tree") : null),
      context: readGitContext,
      now: () => clock.now(),
      crypto,
      isTrusted: isStatTrusted,
    }),
    progress,
    validator: readValidator(crypto),
    env,
    actor,
    user_work: join(composition.userState, "work"),
    signingKey: (name) => keys.load(name),
    notify: (text) => composition.notify(text),
    onOutput: (stream, bytes) => composition.onOutput(stream, bytes),
  };
}

function openGuards({ workspace, notify, resolveName }: Composition) {
  if (createStateFolder(workspace)) notify(`created ${workspace.folder}`);
  return createGuards(join(workspace.state, "guards.json"), workspace.state, undefined, resolveName);
}

/** Root, state and configuration of a workspace, as runs need them. */
export function toCatalyticPlaces(composition: Composition): CatalyticPlaces {
  const { workspace } = composition;
  composition.config();
  const file = existsSync(workspace.config) ? parseJson(readFileSync(workspace.config)) : {};
  return {
    root: realpathSync(workspace.root),
    state: join(realpathSync(workspace.root), ".verbatim", "state"),
    user_state: composition.userState,
    config: (isJsonObject(file) ? file["catalytic"] : undefined) ?? {},
  };
}

/** What no agent and no gate may read: the keys of the user, runs, work of other views, and the state of the workspace. */
export function toHiddenPlaces(composition: Composition): string[] {
  const { env, platform, workspace } = composition;
  const { config, state } = userFolders(env, platform);
  const runs = findRunsRoot({ env, platform }, composition.config().workflow.runs_root);
  const { runs_root } = readPolicy(toCatalyticPlaces(composition).config).policy;
  const own = [join(".verbatim", "state"), join(".verbatim", "runs"), runs_root];
  const { uid } = readHost();
  const controls = listControlFolders({ env, state, uid });
  const places = [config, state, runs, ...controls, ...own.map((path) => join(workspace.root, path))];
  return sortedUnique(places.filter((place) => existsSync(place)).map((place) => realpathSync(place)));
}

function createRecords(composition: Composition): RunRecords {
  return {
    async appendRun(entries) {
      const [first] = entries;
      if (first === undefined) return;
      const store = await composition.store("append");
      await store.transact(async ({ ledger }) => {
        const head = await ledger.head(first.stream);
        // The same entries are already there when a crash came between the append and the cleaning up.
        const rest = head === null ? entries : entries.slice(head.position + 1);
        if (rest.length > 0) await ledger.append(first.stream, rest[0]!.position, rest.map(toNewEntry));
      });
    },
    async append(stream, record) {
      const store = await composition.store("append");
      await store.transact(({ ledger }) => ledger.append(stream, "next", [{ ...record, actor: composition.actor }]));
    },
  };
}

function toNewEntry(entry: RunEntry): NewEntry {
  const { kind, actor, time, parted } = entry;
  const body = parted === undefined ? { body_text: entry.body } : { body_parts: parted };
  return { kind, actor, time, body: null, ...body };
}

let validator: Validator | undefined;

/** Version and build of this package: the hash of the list of files that it runs. */
function readValidator(crypto: SyncCrypto): Validator {
  validator ??= makeValidator(crypto);
  return validator;
}

/** The version of this program. */
export function readProgramVersion(): string {
  const about = parseJson(
    readFileSync(join(findPackage(fileURLToPath(new URL(".", import.meta.url))), "package.json")),
  );
  return isJsonObject(about) ? String(about["version"]) : "0.0.0";
}

function makeValidator(crypto: SyncCrypto): Validator {
  const root = findPackage(fileURLToPath(new URL(".", import.meta.url)));
  const version = readProgramVersion();
  // The names of chunks are made of what is in them. The types beside them are many and run nowhere.
  const chunks = join(root, "dist", "chunks");
  const files = sortedByCodePoint(
    existsSync(chunks) ? readdirSync(chunks) : readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }),
  );
  return { validator_semver: version, validator_build_id: `sha256:${crypto.sha256(files.join("\n"))}` };
}

/** The folder of this package. */
export function findPackage(start: string): string {
  for (let folder = start; ; folder = join(folder, "..")) if (existsSync(join(folder, "package.json"))) return folder;
}
