import { encodeUtf8, parseObject, toCanonicalFile } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import { containsOrInside, isInside } from "../declare/path-rules.ts";
import type { CatalyticPorts, Host, RunDisk } from "../ports.ts";
import { type Lock, type LockOwner, type LockState, lockState, readOwner } from "./lock-state.ts";
import { locksOf } from "./places.ts";

/** A lock file: the lock, the root its path belongs to, and whether a halted run left it. */
interface LockFile extends Lock {
  readonly root: string;
  readonly halted?: boolean;
}

interface LockSeen {
  readonly lock: LockFile;
  readonly state: LockState;
}

type LockPorts = Pick<CatalyticPorts, "disk" | "host" | "crypto">;

const MUTEX_TRIES = 500;
const MUTEX_PAUSE_MS = 10;

/** Locks paths for a run: DOMAIN_BUSY or DOMAIN_HALTED when another run has a path that overlaps. */
export async function acquireLocks(
  ports: LockPorts,
  state: string,
  claim: {
    readonly run_id: string;
    readonly root: string;
    readonly paths: readonly string[];
    readonly shared: boolean;
  },
): Promise<void> {
  ports.disk.makeFolders(locksOf(state));
  await withMutex(ports, state, () => {
    const others = listLocks(ports.disk, ports.host, state).filter(({ lock }) => lock.run_id !== claim.run_id);
    for (const path of claim.paths) {
      const other = others.find(({ lock }) => conflicts(lock, claim, path));
      if (other !== undefined) throw busy(other.lock, path);
    }
    for (const path of claim.paths) {
      const lock = { run_id: claim.run_id, path, root: claim.root, shared: claim.shared, ...ownerOf(ports.host) };
      ports.disk.createFile(lockPlace(ports.crypto, state, claim.run_id, path), toCanonicalFile(lock));
    }
  });
}

function conflicts(lock: LockFile, claim: { readonly root: string; readonly shared: boolean }, path: string): boolean {
  if (lock.root !== claim.root || (lock.shared === true && claim.shared)) return false;
  // A view does not hold the state folder, so runs inside it and views do not disturb each other.
  const [inner, isView] = lock.shared === true ? [path, true] : [lock.path, claim.shared];
  if (isView && isInside(inner, ".verbatim")) return false;
  const bare = (one: string) => (one === "." ? "" : one);
  return containsOrInside(bare(lock.path), bare(path));
}

function busy(lock: LockFile, path: string): VerbatimError {
  const halted = lock.halted === true;
  return new VerbatimError(halted ? "DOMAIN_HALTED" : "DOMAIN_BUSY", {
    message: `${path} overlaps ${lock.path}, which run ${lock.run_id} ${halted ? "left halted" : `holds (pid ${lock.pid})`}`,
    where: path,
    fix: halted
      ? `See: verbatim catalytic show ${lock.run_id}. Decide: verbatim catalytic recover ${lock.run_id} --retry | --accept-current --by NAME --reason TEXT`
      : `See: verbatim catalytic show ${lock.run_id}`,
    details: { run_id: lock.run_id, path: lock.path, pid: lock.pid },
  });
}

/** Gives the locks of a run back. */
export function releaseLocks(ports: LockPorts, state: string, runId: string): void {
  for (const [place, lock] of readLocks(ports.disk, state)) if (lock.run_id === runId) ports.disk.removeFile(place);
}

/** Keeps the locks of a run that waits for a person. */
export function haltLocks(ports: LockPorts, state: string, runId: string): void {
  for (const [place, lock] of readLocks(ports.disk, state)) {
    if (lock.run_id === runId) ports.disk.replaceFile(place, toCanonicalFile({ ...lock, halted: true }), "folder");
  }
}

/** Every lock and whether its owner lives. */
export function listLocks(disk: RunDisk, host: Host, state: string): LockSeen[] {
  return [...readLocks(disk, state).values()].map((lock) => ({ lock, state: lockState(lock, host) }));
}

/** The owner this process is. */
export function ownerOf(host: Host): LockOwner {
  const { host: name, boot_id, pid_ns, pid, pid_start } = host;
  return { host: name, boot_id, pid_ns, pid, pid_start };
}

function readLocks(disk: RunDisk, state: string): Map<string, LockFile> {
  const folder = locksOf(state);
  const found = new Map<string, LockFile>();
  for (const name of disk.list(folder) ?? []) {
    if (!name.endsWith(".json")) continue;
    const place = `${folder}/${name}`;
    const value = readLock(disk.read(place));
    if (value !== null) found.set(place, value);
  }
  return found;
}

function readLock(bytes: Uint8Array | null): LockFile | null {
  const value = parseObject(bytes);
  if (value === null) return null;
  const { run_id, path, root, shared, halted } = value;
  if (typeof run_id !== "string" || typeof path !== "string") return null;
  return {
    run_id,
    path,
    root: typeof root === "string" ? root : "",
    ...readOwner(value),
    ...(typeof shared === "boolean" ? { shared } : {}),
    ...(typeof halted === "boolean" ? { halted } : {}),
  };
}

function lockPlace(crypto: SyncCrypto, state: string, runId: string, path: string): string {
  return `${locksOf(state)}/${crypto.sha256(`${runId}\n${path}`).slice(0, 32)}.json`;
}

/** A short turn in which nobody else takes or gives locks. A mutex whose owner died is taken away. */
async function withMutex<T>(ports: LockPorts, state: string, act: () => T): Promise<T> {
  const { disk, host } = ports;
  const place = `${locksOf(state)}/.mutex`;
  const own = encodeUtf8(JSON.stringify(ownerOf(host)));
  for (let tries = 0; ; tries++) {
    if (disk.createFile(place, own)) break;
    const bytes = disk.read(place);
    const owner = parseObject(bytes);
    if (owner !== null && lockState(readOwner(owner), host) === "stale") disk.removeFile(place);
    if (tries === MUTEX_TRIES) {
      throw new VerbatimError("DOMAIN_BUSY", {
        message: "another process is holding the locks",
        where: place,
        fix: "Remove the file if no run is in progress.",
      });
    }
    await host.pause(MUTEX_PAUSE_MS);
  }
  try {
    return act();
  } finally {
    disk.removeFile(place);
  }
}
