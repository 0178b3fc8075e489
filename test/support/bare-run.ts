import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { zipper } from "../../src/adapters/disk/bundles/zip.ts";
import { createRunFolders } from "../../src/adapters/disk/runs/run-folders.ts";
import { createRepoFiles } from "../../src/adapters/disk/source/repo-files.ts";
import { createRepoReader } from "../../src/adapters/disk/source/repo-reader.ts";
import { type AppStore, openStore } from "../../src/app/compose/store/store.ts";
import { resolveWorkflow } from "../../src/core/contracts/config/index.ts";
import type { WorkflowPorts } from "../../src/rooms/workflow/operations/ports.ts";
import type { RunFolder, RunFolders } from "../../src/rooms/workflow/ports.ts";
import { RunLog } from "../../src/rooms/workflow/run/record/run-log.ts";
import type { RunState } from "../../src/rooms/workflow/run/record/run-state.ts";
import { Run } from "../../src/rooms/workflow/run/run.ts";
import { Session } from "../../src/rooms/workflow/run/session.ts";

/** The time of everything that a bare run writes. */
export const BARE_TIME = "2026-01-01T00:00:00.000Z";

const OWNER = "0".repeat(32);

/** Run directories and a store without a repository: for what a run writes down itself, which needs no git. */
export interface BareRuns {
  readonly runs: RunFolders;
  readonly store: AppStore;
  readonly repoRoot: string;
  readonly ports: WorkflowPorts;
  /** A run whose RUN.json has these members beside the usual ones. */
  make(id: string, state?: Partial<RunState>): Run;
  /** The same run as it is on disk now. */
  again(run: Run, folder?: RunFolder): Run;
  /** A session of a run that nobody interrupts, without its lock. */
  session(run: Run): Promise<Session>;
  remove(): Promise<void>;
}

export async function openBareRuns(more: object = {}): Promise<BareRuns> {
  const base = mkdtempSync(join(tmpdir(), "verbatim-bare-run-"));
  const repoRoot = join(base, "repo");
  mkdirSync(repoRoot);
  const identity = { repo_id: OWNER, root: repoRoot, common_dir: null };
  const port = { current: () => identity, settle: () => identity, livesAt: () => false };
  const runs = createRunFolders({ runsRoot: join(base, "runs"), slug: "repo", repoRoot, identity: port });
  const clock = { now: () => Date.parse(BARE_TIME) };
  const ids = { uuid: () => "00000000-0000-4000-8000-000000000000" };
  const store = await openStore({ path: join(base, "store.db"), url: undefined, crypto: nodeCrypto, clock, ids });
  const ports = {
    store,
    runs,
    identity: port,
    repoRoot,
    crypto: nodeCrypto,
    clock,
    zipper,
    config: resolveWorkflow({ mandatory_docs: [] }),
    pause: async () => undefined,
    reader: createRepoReader(repoRoot),
    repoFiles: createRepoFiles(repoRoot),
    interrupts: { listen: () => () => undefined },
    lockTree: () => Promise.resolve(() => undefined),
    ...more,
  } as unknown as WorkflowPorts;
  return {
    runs,
    store,
    repoRoot,
    ports,
    make(id, state = {}) {
      const run = new Run(ports, runs.create(id), { ...toState(id, repoRoot), ...state });
      run.save({});
      return run;
    },
    again: (run, folder = run.folder) => Run.load(ports, folder),
    session: async (run) => new Session(run, await RunLog.open(run), new AbortController().signal, () => null),
    async remove() {
      await store.close();
      rmSync(base, { recursive: true });
    },
  };
}

function toState(run_id: string, repo_root: string): RunState {
  return {
    schema_version: "verbatim-run-v1",
    run_id,
    goal: " Greet\n everybody ",
    repo_slug: "repo",
    repo_root,
    repo_id: OWNER,
    common_dir: null,
    base_commit: "a".repeat(40),
    base_tree: "b".repeat(40),
    status: "running",
    stop_reason: null,
    blocked: null,
    iterations: 0,
    patch_rejections: 0,
    candidates: [],
    context_pack: {},
    reviews: {},
    artifacts: {},
    policy: { allow_roots: ["."], deny_prefixes: [], deny_suffixes: [], max_files: 5, max_added_lines: 50 },
    in_progress: null,
    created_at: BARE_TIME,
    updated_at: BARE_TIME,
  };
}
