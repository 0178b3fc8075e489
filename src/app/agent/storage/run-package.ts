import { z } from "zod";
import {
  encodeUtf8,
  formatCanonical,
  isHash,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from "../../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { isGitName, parseRepoPath } from "../../../core/paths/index.ts";
import type { ContentStore, NewEntry } from "../../../core/ports.ts";
import {
  appendToRun,
  formatArtifact,
  isRunId,
  RUN_FILE,
  type Run,
  streamOf,
  toRepoSlug,
  WORKFLOW_RECORDS,
  type WorkflowPorts,
} from "../../../rooms/workflow/index.ts";
import { LAYER_FOLDER } from "../work/open-files.ts";

const VERSION = "verbatim-run-package-v1";
const HEAD = "PACKAGE.json";
const MOST_BYTES = 256 * 1024 * 1024;
const PAGE = 500;
const HASHES = /[0-9a-f]{64}/g;
/** What only the machine that worked has a use for: the layer of the view, sessions of the agent, locks. */
const LEFT_OUT = [`${LAYER_FOLDER}/`, "agent/supervisor.json", "run.lock"];
const SESSIONS = /^agent\/attempts\/[^/]+\/home\//;

const head = z.strictObject({
  schema_version: z.literal(VERSION),
  run_id: z.string(),
  entries: z.array(z.strictObject({ kind: z.string(), actor: z.string(), body: z.unknown() })).min(1),
});

/** The record of a run as one archive: its folder, its entries in the ledger, and the payloads that they name. */
export async function packRun(run: Run, content: ContentStore): Promise<Uint8Array> {
  const paths = run.folder
    .list()
    .filter((path) => !SESSIONS.test(path) && !LEFT_OUT.some((one) => path === one || path.startsWith(one)));
  const files = paths.map((path) => ({ name: `run/${path}`, bytes: run.read(path) ?? new Uint8Array() }));
  const entries = await readEntries(run);
  const text = formatCanonical({ schema_version: VERSION, run_id: run.id, entries: entries as JsonValue });
  const named = new Set<string>(text.match(HASHES) ?? []);
  for (const { name, bytes } of files) {
    if (!name.endsWith(".json")) continue;
    for (const hash of Buffer.from(bytes).toString("latin1").match(HASHES) ?? []) named.add(hash);
  }
  const payloads: { name: string; bytes: Uint8Array }[] = [];
  for (const hash of [...named].sort((a, b) => (a < b ? -1 : 1))) {
    if (await content.has(hash)) payloads.push({ name: `content/${hash}`, bytes: await content.get(hash) });
  }
  const size = [...files, ...payloads].reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (size > MOST_BYTES) throw refuse(`the record of the run has ${size} bytes, more than ${MOST_BYTES}`);
  return run.ports.zipper.pack([{ name: HEAD, bytes: encodeUtf8(text) }, ...files, ...payloads]);
}

async function readEntries({ id, ports }: Run): Promise<{ kind: string; actor: string; body: JsonValue }[]> {
  return await ports.store.read(async ({ ledger }) => {
    const found = [];
    for (let from = 0; ; from += PAGE) {
      const page = await ledger.readStream(streamOf(id), from, PAGE);
      for (const { kind, actor, body } of page) found.push({ kind, actor, body: parseJson(body) });
      if (page.length < PAGE) return found;
    }
  });
}

/**
 * Makes a run of this checkout out of an archive that a worker made: the same files and entries, under the identity of
 * the checkout. What is here already stays as it is. PACKAGE_INVALID.
 */
export async function unpackRun(
  ports: WorkflowPorts,
  content: ContentStore,
  runId: string,
  bytes: Uint8Array,
): Promise<void> {
  const found = ports.zipper.unpack(bytes, MOST_BYTES);
  if (found === null) throw refuse("it is no archive, or larger than it may be");
  const { run_id, entries } = parseHead(found.get(HEAD));
  if (run_id !== runId || !isRunId(run_id)) throw refuse(`it is of the run ${JSON.stringify(run_id)}`);
  for (const [name, payload] of found) {
    const hash = /^content\/(.*)$/.exec(name)?.[1];
    if (hash === undefined) continue;
    if (!isHash(hash) || ports.crypto.sha256(payload) !== hash) throw refuse(`${name} has other bytes`);
    await content.put(payload);
  }
  const identity = ports.identity.settle();
  const files = [...found].flatMap(([name, file]) => {
    if (!name.startsWith("run/") || name.endsWith("/")) return [];
    return [[parsePath(name.slice("run/".length)), file] as const];
  });
  const state = files.find(([path]) => path === RUN_FILE);
  if (state === undefined) throw refuse(`it has no ${RUN_FILE}`);
  let folder = ports.runs.open(runId);
  if (folder === null) {
    folder = ports.runs.create(runId);
    folder.makeFolder("objects");
    await folder.writeAll(files.filter(([path]) => path !== RUN_FILE));
    const own = {
      ...parseState(state[1]),
      repo_slug: toRepoSlug(ports.repoName, (name) => ports.crypto.sha256(name)),
      repo_root: ports.repoRoot,
      repo_id: identity.repo_id,
      common_dir: identity.common_dir,
    };
    // Last: a run is there when this is.
    folder.write(RUN_FILE, formatArtifact(own));
  }
  const isKnown = (await ports.store.read(({ ledger }) => ledger.head(streamOf(runId)))) !== null;
  if (isKnown) return;
  const { dir } = folder;
  const repo = { id: identity.repo_id, root: ports.repoRoot, common_dir: identity.common_dir };
  const own = entries.map(({ kind, actor, body }): NewEntry => {
    const moved = kind === "AGENT_STARTED" ? { ...(body as object), repo, run_dir: dir } : body;
    const checked = WORKFLOW_RECORDS.check(kind, moved as JsonValue);
    if (typeof checked === "string") throw refuse(`an entry is not one: ${checked}`);
    return { kind, actor, body: moved as JsonValue };
  });
  await appendToRun(ports.store, runId, own);
}

/** RUN.json as it was; whoever opens the run holds it to its contract. */
function parseState(bytes: Uint8Array): JsonObject {
  try {
    const state = parseJson(bytes, { file: RUN_FILE });
    if (isJsonObject(state)) return state;
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
  }
  throw refuse(`${RUN_FILE} is not what it should be`);
}

function parseHead(bytes: Uint8Array | undefined): z.infer<typeof head> {
  if (bytes === undefined) throw refuse(`it has no ${HEAD}`);
  try {
    const parsed = head.safeParse(parseJson(bytes, { file: HEAD }));
    if (parsed.success) return parsed.data;
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
  }
  throw refuse(`${HEAD} is not what it should be`);
}

function parsePath(path: string): string {
  try {
    const plain = parseRepoPath(path);
    if (!path.split("/").some(isGitName)) return plain;
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
  }
  throw refuse(`it has a file ${JSON.stringify(path.slice(0, 200))}`);
}

function refuse(why: string): VerbatimError {
  return new VerbatimError("PACKAGE_INVALID", { message: `the record of the run cannot be used: ${why}` });
}
