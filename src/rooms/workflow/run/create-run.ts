import type { JsonValue } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { formatTime } from "../../../core/time.ts";
import { checkDispatch, DISPATCH_FILE } from "../artifacts/dispatch.ts";
import { formatArtifact } from "../artifacts/json.ts";
import type { WorkflowPorts } from "../operations/ports.ts";
import type { PatchPolicy } from "../patch/patch-policy.ts";
import type { RunFolder } from "../ports.ts";
import { toRepoSlug } from "./find/repo-slug.ts";
import { isRunId, makeRunId } from "./find/run-id.ts";
import { RunLog } from "./record/run-log.ts";
import { type DirectFacts, RUN_FILE, RUN_VERSION, type RunState } from "./record/run-state.ts";
import { Run } from "./run.ts";

interface CreateOptions {
  readonly goal: string;
  readonly runId: string | null;
  readonly allowDirty: boolean;
  /** Bytes of a dispatch_config.json; null: as configured. */
  readonly dispatch: Uint8Array | null;
  readonly policy: PatchPolicy;
  readonly direct: DirectFacts | null;
}

/** Creates a run at HEAD, outside the repository. Nothing of the repository is written. */
export async function createRun(ports: WorkflowPorts, options: CreateOptions): Promise<Run> {
  const { goal, direct } = options;
  if (goal.trim() === "" || [...goal].length > 4000 || goal.includes("\0")) {
    throw new VerbatimError("USAGE", { message: "the goal must have 1 to 4000 characters and no NUL" });
  }
  const run_id = options.runId ?? makeRunId(ports.clock.now(), ports.random.bytes(3));
  if (!isRunId(run_id)) {
    throw new VerbatimError("RUN_ID_INVALID", { message: `${JSON.stringify(run_id)} is not a valid run id` });
  }
  const { commit, tree } = await ports.git.head();
  await requireTop(ports);
  const dirty = await ports.git.changedTracked();
  const untracked = direct !== null;
  if (dirty.length > 0 && !options.allowDirty && !untracked) {
    const shown = dirty.slice(0, 20);
    throw new VerbatimError("REPO_DIRTY", {
      message: `tracked files have uncommitted changes: ${shown.join(", ")}`,
      details: { paths: shown },
    });
  }
  const identity = ports.identity.settle();
  const folder = ports.runs.create(run_id);
  const objects = folder.makeFolder("objects");
  const base_tree = dirty.length > 0 || untracked ? await ports.git.writeWorkingTree(objects, untracked) : tree;
  const now = formatTime(ports.clock.now());
  const repo_slug = toRepoSlug(ports.repoName, (name) => ports.crypto.sha256(name));
  const state: RunState = {
    schema_version: RUN_VERSION,
    run_id,
    goal,
    repo_slug,
    repo_root: ports.repoRoot,
    repo_id: identity.repo_id,
    common_dir: identity.common_dir,
    base_commit: commit,
    base_tree,
    status: "running",
    stop_reason: null,
    blocked: null,
    iterations: 0,
    patch_rejections: 0,
    candidates: [],
    context_pack: {},
    reviews: {},
    artifacts: {},
    policy: options.policy,
    in_progress: null,
    created_at: now,
    updated_at: now,
    ...(direct === null ? {} : { direct }),
  };
  writeFirstFiles(
    folder,
    state,
    dirty.length > 0 || base_tree !== tree,
    options.dispatch ?? formatArtifact(ports.config.dispatch),
  );
  const run = new Run(ports, folder, state);
  const log = await RunLog.open(run);
  await log.add(direct === null ? "orchestrator" : "operator", "RUN_CREATED", "", { base_commit: commit, base_tree });
  return run;
}

// A run in a sub-folder of a work tree could not apply its patch, so it is refused before anything exists.
async function requireTop(ports: WorkflowPorts): Promise<void> {
  try {
    await ports.git.requireUsable();
  } catch (thrown) {
    if (!(thrown instanceof VerbatimError) || thrown.code !== "PATCH_ENV_INVALID") throw thrown;
    throw new VerbatimError("REPO_NOT_GIT", { message: thrown.message, where: ports.repoRoot, cause: thrown });
  }
}

function writeFirstFiles(folder: RunFolder, state: RunState, dirty: boolean, dispatch: Uint8Array | string): void {
  const { repo_slug, repo_root, base_commit, base_tree, created_at } = state;
  for (const name of ["artifacts", "reviews", "outbox", "logs", "snapshot", "superseded"]) folder.makeFolder(name);
  const reference = {
    schema_version: "verbatim-repo-ref-v1",
    repo_slug,
    repo_root,
    base_commit,
    base_tree,
    dirty,
    recorded_at: created_at,
  };
  folder.write("repo_ref.json", formatArtifact(reference));
  folder.write(DISPATCH_FILE, dispatch);
  // RUN.json comes last: a folder without it is not a run.
  folder.write(RUN_FILE, formatArtifact(state));
}

/** The dispatch of the configuration must be one a run can have, or throws CONFIG_INVALID. */
export function requireDispatch(ports: WorkflowPorts): void {
  const { errors } = checkDispatch(JSON.parse(JSON.stringify(ports.config.dispatch)) as JsonValue);
  const [first] = errors;
  if (first === undefined) return;
  throw new VerbatimError("CONFIG_INVALID", {
    message: `workflow.dispatch${first.at}: ${first.code} ${first.message}`,
    where: `verbatim.config.json /workflow/dispatch${first.at}`,
    details: {
      problems: errors.map(({ code, at, message }) => ({ code, pointer: `/workflow/dispatch${at}`, message })),
    },
  });
}
