import { closeSync, fsyncSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { VerbatimError } from "../../../core/errors/index.ts";
import { errnoCode, toDiskError } from "../../../core/errors/system.ts";
import type { LockFacts, RunFolders, RunLock } from "../../../rooms/workflow/ports.ts";
import { PRIVATE_FILE } from "../guarded/private-modes.ts";

const PATIENCE_MS = 2000;
const PAUSE_MS = 50;

/** Takes run.lock. A dead owner on this host is taken over; a living one is waited for, then RUN_LOCKED. */
export const lockRun: RunFolders["lock"] = async (run, { command, started_at, steal }) => {
  const place = join(run.dir, "run.lock");
  const facts: LockFacts = { pid: process.pid, host: hostname(), command, started_at };
  let stolen: LockFacts | null = null;
  for (let waited = 0; ; waited += PAUSE_MS) {
    if (create(place, facts)) return { stolen, release: () => release(place, facts) } satisfies RunLock;
    const owner = readOwner(place);
    if (owner !== null && (steal || isDead(owner))) {
      // Whoever renames it away first has taken it over; everyone else tries again.
      if (takeOver(place, owner)) stolen = owner;
      continue;
    }
    if (waited >= PATIENCE_MS) throw locked(place, owner);
    await wait(PAUSE_MS);
  }
};

function create(place: string, facts: LockFacts): boolean {
  try {
    const file = openSync(place, "wx", PRIVATE_FILE);
    try {
      writeSync(file, `${JSON.stringify(facts)}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    return true;
  } catch (thrown) {
    if (errnoCode(thrown) === "EEXIST") return false;
    throw toDiskError(thrown, place);
  }
}

function readOwner(place: string): LockFacts | null {
  try {
    const text = readFileSync(place, "utf8");
    // An owner that was killed while it wrote its name left nothing that could be honoured.
    return text.endsWith("\n")
      ? (JSON.parse(text) as LockFacts)
      : { pid: 0, host: hostname(), command: "", started_at: "" };
  } catch (thrown) {
    if (errnoCode(thrown) === "ENOENT") return null;
    throw thrown;
  }
}

function isDead(owner: LockFacts): boolean {
  if (owner.host !== hostname()) return false;
  if (owner.pid === 0) return true;
  try {
    process.kill(owner.pid, 0);
    return false;
  } catch (thrown) {
    return errnoCode(thrown) === "ESRCH";
  }
}

function takeOver(place: string, owner: LockFacts): boolean {
  const current = readOwner(place);
  if (current === null || current.pid !== owner.pid || current.started_at !== owner.started_at) return false;
  removeLock(place);
  return true;
}

function release(place: string, facts: LockFacts): void {
  const owner = readOwner(place);
  if (owner?.pid === facts.pid && owner.started_at === facts.started_at) removeLock(place);
}

function removeLock(place: string): void {
  try {
    rmSync(place, { force: true });
  } catch (thrown) {
    throw toDiskError(thrown, place);
  }
}

function locked(place: string, owner: LockFacts | null): VerbatimError {
  const who =
    owner === null
      ? "another process"
      : `process ${owner.pid} on ${owner.host} (${owner.command}, since ${owner.started_at})`;
  return new VerbatimError("RUN_LOCKED", {
    message: `${who} is working on this run`,
    where: place,
    details: { owner },
  });
}
