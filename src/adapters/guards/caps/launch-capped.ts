import type { CapHit, CapMechanism, CapName, HeldBy } from "../../../core/contracts/caps.ts";
import { GUARD_FACTS } from "../../../core/contracts/guards.ts";
import type { LaunchRequest, RunningCommand, WatchedCaps } from "../../../rooms/catalytic/ports.ts";
import { findTool } from "../tools.ts";
import { type ControlGroup, forgetJoined, openControlGroup } from "./control-group.ts";
import { type FolderUsage, measureFolder, measureProcesses } from "./usage.ts";

const PROCESSES_MS = 500;
const DISK_MS = 2000;
/** A large folder is looked at less often: looking takes at most a tenth of the time. */
const DISK_SHARE = 10;

/**
 * Launches a command that may use only so much. What the kernel can hold it holds; the rest is looked at again and again.
 * A command that takes more is ended, and what it left can be read as after any other end.
 */
export async function launchCapped<T extends Capped, R extends Ended>(
  request: T,
  launch: (request: T & Pick<LaunchRequest, "limits">) => Promise<R>,
  open: typeof openControlGroup = openControlGroup,
): Promise<R> {
  const { caps } = request;
  if (caps === undefined) return launch(request);
  const group = open(caps);
  try {
    const before = await measureFolder(request.work);
    const held = findMechanisms(request, group);
    caps.onHeld(held);
    const limits = {
      groups: group?.procs ?? [],
      starter: group?.starter ?? [],
      processes: held.processes === "rlimit" ? caps.processes : null,
      file: caps.disk,
      // They are memory too, and there are several.
      temporary: Math.min(caps.disk, Math.floor(caps.memory / 2)),
    };
    const running = await launch({ ...request, limits });
    const watch = new CapsWatch(running, { caps, held, group, work: request.work, before });
    const close = async () => {
      await watch.close();
      await group?.remove();
    };
    const closed = running.ended.then(close, close);
    return { ...running, ended: Promise.all([running.ended, closed]).then(([ending]) => ending) };
  } catch (thrown) {
    forgetJoined();
    await group?.remove();
    throw thrown;
  }
}

/** What is asked of a command that has caps, whoever starts it. */
type Capped = Pick<LaunchRequest, "guard" | "work" | "caps">;
type Ended = Pick<RunningCommand, "pid" | "end"> & { readonly ended: Promise<unknown> };

/** The first way that this machine, this user and this guard have for each cap. */
function findMechanisms({ guard }: Capped, group: ControlGroup | null): HeldBy {
  const isLinux = process.platform === "linux";
  const inGroup = (cap: "memory" | "processes"): CapMechanism | null =>
    group?.holds.includes(cap) === true ? `cgroup${group.version}` : null;
  // Root ignores the limit of the kernel, and without a user namespace everything else of this user would count.
  const isCounted =
    GUARD_FACTS[guard].class === "namespace" && process.getuid?.() !== 0 && findTool("prlimit") !== null;
  const watched = isLinux ? "watch" : "none";
  return {
    memory: inGroup("memory") ?? watched,
    processes: inGroup("processes") ?? (isCounted ? "rlimit" : watched),
    disk: "watch",
  };
}

interface Watched {
  readonly caps: WatchedCaps;
  readonly held: HeldBy;
  readonly group: ControlGroup | null;
  readonly work: string;
  readonly before: FolderUsage;
}

/** Looks at what a command uses until it ends, and ends it when it is too much. */
class CapsWatch {
  readonly #running: Ended;
  readonly #of: Watched;
  #isHit = false;
  #isClosed = false;
  readonly #timer: NodeJS.Timeout;
  #diskTimer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();

  constructor(running: Ended, of: Watched) {
    this.#running = running;
    this.#of = of;
    this.#timer = setInterval(() => this.#lookAtProcesses(), PROCESSES_MS);
    this.#waitForDisk(DISK_MS);
  }

  /** The last look: what was too much in the last moment was too much. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    clearTimeout(this.#diskTimer);
    await this.#looking;
    this.#lookAtGroup();
    await this.#lookAtDisk();
  }

  #lookAtProcesses(): void {
    this.#lookAtGroup();
    const { held, caps } = this.#of;
    const names = (["memory", "processes"] as const).filter((cap) => ["watch", "rlimit"].includes(held[cap]));
    if (names.length === 0) return;
    const used = measureProcesses(this.#running.pid, caps.memory);
    for (const cap of names) if (used[cap] >= caps[cap]) this.#hit(cap, used[cap]);
  }

  #lookAtGroup(): void {
    for (const cap of this.#of.group?.holds ?? []) {
      const used = this.#of.group?.findHit(cap) ?? null;
      if (used !== null) this.#hit(cap, used);
    }
  }

  #waitForDisk(ms: number): void {
    this.#diskTimer = setTimeout(() => {
      const begun = performance.now();
      this.#looking = this.#lookAtDisk().then(() => {
        if (!this.#isClosed) this.#waitForDisk(Math.max(DISK_MS, (performance.now() - begun) * DISK_SHARE));
      });
    }, ms);
  }

  async #lookAtDisk(): Promise<void> {
    const { caps, work, before } = this.#of;
    const now = await measureFolder(work);
    const added = now.bytes - before.bytes;
    // A file that the kernel did not let grow any more.
    const full = now.largest > before.largest && now.largest >= caps.disk ? now.largest : 0;
    const used = Math.max(added, full);
    if (used >= caps.disk) this.#hit("disk", used);
  }

  /** The first one counts. */
  #hit(cap: CapName, used: number): void {
    if (this.#isHit) return;
    this.#isHit = true;
    const hit: CapHit = { cap, limit: this.#of.caps[cap], used };
    this.#of.caps.onHit(hit);
    if (!this.#isClosed) this.#running.end();
  }
}
