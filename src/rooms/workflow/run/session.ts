import { encodeUtf8, type JsonValue } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { BUNDLE_FILE, formatPlaceholder, layOutBundle } from "../artifacts/bundle-layout.ts";
import type { NextStep } from "../dispatch/next-step.ts";
import type { WorkflowPorts } from "../operations/ports.ts";
import type { RunFolder } from "../ports.ts";
import { requireOwn } from "./find/find-run.ts";
import { currentCandidate } from "./record/candidates.ts";
import { writeEvidencePack } from "./record/evidence.ts";
import { RunLog } from "./record/run-log.ts";
import { type Repaired, recoverStep } from "./recovery.ts";
import { Run } from "./run.ts";

/** A run that may be changed: its lock is held, its log is open, and what a crash left is repaired. */
export class Session {
  readonly run: Run;
  readonly log: RunLog;
  readonly signal: AbortSignal;
  /** What a kill had left undone when this session began. */
  repaired: Repaired = null;
  readonly #interrupted: () => string | null;

  constructor(run: Run, log: RunLog, signal: AbortSignal, interrupted: () => string | null) {
    this.run = run;
    this.log = log;
    this.signal = signal;
    this.#interrupted = interrupted;
  }

  event(role: string, event: string, path: string, extras?: Readonly<Record<string, JsonValue>>): Promise<void> {
    return this.log.add(role, event, path, extras);
  }

  /** Rebuilds the failure bundle from what is there now, with a brief about the candidate that failed. */
  async bundle(): Promise<void> {
    const state = currentCandidate(this.run)?.state;
    if (state === "rejected" || state === "verify_failed") writeEvidencePack(this.run);
    const { sha256, size } = buildBundle(this.run);
    await this.event("orchestrator", "BUNDLE_CREATED", "failure_bundle.zip", { sha256, size });
  }

  /** Ends the run for good. The real tree was never touched, so nothing needs undoing. */
  async stop(reason: string, event: string, extras?: Readonly<Record<string, JsonValue>>): Promise<void> {
    this.run.save({ status: "fail", stop_reason: reason, blocked: null, in_progress: null });
    await this.event("orchestrator", event, "", { reason, ...extras });
    await this.bundle();
  }

  /** Writes down what the run waits for. */
  async block(step: NextStep, message: string): Promise<void> {
    const { code, owner, action, target } = step;
    const blocked = { code, message, owner: owner ?? "", action: action ?? "", target: target ?? "" };
    const same = JSON.stringify(blocked) === JSON.stringify(this.run.state.blocked);
    this.run.save({ status: code === "VERIFY_FAILED" ? "fail" : "blocked", blocked });
    if (!same) await this.event("orchestrator", "RUN_BLOCKED", blocked.target, { code, owner: blocked.owner });
  }

  /** Lets `work` change the real tree, which nobody else sees or changes meanwhile: DOMAIN_BUSY while someone does. */
  async withTree<T>(work: () => T | Promise<T>): Promise<T> {
    const unlock = await this.run.ports.lockTree(this.run.id);
    try {
      return await work();
    } finally {
      unlock();
    }
  }

  /** INTERRUPTED when someone asked us to end. */
  throwIfInterrupted(): void {
    const signal = this.#interrupted();
    if (signal !== null) {
      throw new VerbatimError("INTERRUPTED", {
        message: "interrupted; the next advance continues the run",
        details: { signal },
        ...(signal === "SIGTERM" ? { exit: 143 } : {}),
      });
    }
  }
}

/**
 * Takes the lock of a run of this repository, repairs it, and lets `work` change it. The lock is released whatever
 * happens, and so is what the folder held. RUN_OTHER_REPO.
 */
export async function withSession<T>(
  ports: WorkflowPorts,
  folder: RunFolder,
  command: string,
  work: (session: Session) => Promise<T>,
  steal = false,
): Promise<T> {
  const found = Run.load(ports, folder);
  requireOwn(found);
  const started_at = found.now();
  const lock = await ports.runs.lock(folder, { command, started_at, steal });
  const controller = new AbortController();
  let signal: string | null = null;
  const ignore = ports.interrupts.listen((name) => {
    signal ??= name;
    controller.abort();
  });
  try {
    const run = Run.load(ports, folder);
    const log = await RunLog.open(run);
    const session = new Session(run, log, controller.signal, () => signal);
    if (lock.stolen !== null) {
      await session.event("orchestrator", "LOCK_STOLEN", "run.lock", { pid: lock.stolen.pid, host: lock.stolen.host });
    }
    session.repaired = await recoverStep(session);
    try {
      return await work(session);
    } finally {
      await log.release();
    }
  } finally {
    ignore();
    lock.release();
  }
}

const LARGEST_LOG = 16 * 1024 * 1024;
const KEPT = 1024 * 1024;

/** Builds failure_bundle.zip (Artifact Contracts M) from scratch: the same run directory gives the same bytes. */
function buildBundle(run: Run): { readonly sha256: string; readonly size: number } {
  const { entries, placeholders } = layOutBundle(run.folder.list());
  const bytes = run.ports.zipper.pack(
    entries.map((name) => {
      if (name.endsWith("/")) return { name, bytes: null };
      if (placeholders.includes(name)) return { name, bytes: encodeUtf8(formatPlaceholder(name)) };
      return { name, bytes: shorten(name, run.read(name) ?? new Uint8Array()) };
    }),
  );
  run.folder.write(BUNDLE_FILE, bytes);
  return { sha256: run.ports.crypto.sha256(bytes), size: bytes.length };
}

/** A very large log is kept as its beginning and its end. */
function shorten(name: string, bytes: Uint8Array): Uint8Array {
  if (!name.startsWith("logs/") || bytes.length <= LARGEST_LOG) return bytes;
  const marker = encodeUtf8(`\n... ${bytes.length - 2 * KEPT} bytes left out of this bundle ...\n`);
  const short = new Uint8Array(2 * KEPT + marker.length);
  short.set(bytes.subarray(0, KEPT));
  short.set(marker, KEPT);
  short.set(bytes.subarray(bytes.length - KEPT), KEPT + marker.length);
  return short;
}
