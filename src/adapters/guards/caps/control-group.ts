import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { accessSync, constants, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { Caps } from "../../../core/contracts/caps.ts";
import { errnoCode } from "../../../core/errors/system.ts";
import { findGroupPlaces, type GroupPlaces } from "./group-places.ts";
import { forgetScopes, openUserScope } from "./user-scope.ts";

/** What of the caps a control group holds. */
type GroupCap = "memory" | "processes";

/** A control group made for one command. */
export interface ControlGroup {
  readonly version: 1 | 2;
  readonly holds: readonly GroupCap[];
  /** Whoever writes 0 to each of these files is in it. */
  readonly procs: readonly string[];
  /** What the launcher has to be started by, or it could not go in; mostly nothing. */
  readonly starter: readonly string[];
  /** How much was used at most, where that was too much; null: it was not. */
  findHit(cap: GroupCap): number | null;
  remove(): Promise<void>;
}

const OWN = /\/verbatim-[0-9]+-[0-9a-f]{12}\//;
const NAME = /^verbatim-([0-9]+)-[0-9a-f]{12}$/;
/** Why a group cannot be made here, which is nobody's fault: another program holds the limits, or nobody does. */
const NOT_HERE = ["EACCES", "EPERM", "EROFS", "ENOENT", "EBUSY", "EINVAL", "ENOSPC", "EAGAIN", "EOPNOTSUPP", "ENODEV"];
const REMOVAL_MS = 2000;

/** Makes a group that really takes a process in; null where this machine gives us none. */
export function openControlGroup(caps: Caps, places = readPlaces()): ControlGroup | null {
  if (places === null) return null;
  return tryGroup((made) => makeUnified(caps, places, made)) ?? tryGroup((made) => makeFirst(caps, places, made));
}

/** The same for a launcher that can be started by another program: then the user's systemd may be asked for a group. */
export function openAnyGroup(caps: Caps): ControlGroup | null {
  return openControlGroup(caps) ?? makeScoped(caps);
}

function makeScoped(caps: Caps): ControlGroup | null {
  const mount = readPlaces()?.unified.at(-1);
  const scope = mount === undefined ? null : openUserScope(caps, mount);
  if (scope === null) return null;
  return {
    version: 2,
    holds: ["memory", "processes"],
    procs: [scope.procs],
    starter: scope.starter,
    findHit: (cap) => findHitIn(scope.limited, cap, caps),
    // It goes with the last of its processes.
    remove: async () => undefined,
  };
}

function readPlaces(): GroupPlaces | null {
  if (process.platform !== "linux") return null;
  return findGroupPlaces(readFileSync("/proc/self/mountinfo", "utf8"), readFileSync("/proc/self/cgroup", "utf8"));
}

/** `made` names every folder as soon as it is there, so that none is left when the next step fails. */
function tryGroup(make: (made: string[]) => ControlGroup | null): ControlGroup | null {
  const made: string[] = [];
  try {
    const group = make(made);
    if (group === null || isJoinable(group)) return group;
    for (const folder of made) removeOnce(folder);
    return null;
  } catch (thrown) {
    for (const folder of made) removeOnce(folder);
    if (NOT_HERE.includes(errnoCode(thrown) ?? "")) return null;
    throw thrown;
  }
}

/** Where a process went in before: a launcher whose command cannot go in later refuses to start it. */
const joined = new Set<string>();

/** The next group is tried again: a command could not be started in one. */
export function forgetJoined(): void {
  joined.clear();
  forgetScopes();
}

/** The probe: a process of its own goes in, and is gone. */
function isJoinable({ procs }: ControlGroup): boolean {
  const key = procs.map((place) => place.replace(OWN, "/")).join("\0");
  if (joined.has(key)) return true;
  const { status } = spawnSync("/bin/sh", ["-c", 'for p; do echo 0 > "$p" || exit 1; done', "sh", ...procs], {
    stdio: "ignore",
  });
  if (status === 0) joined.add(key);
  return status === 0;
}

/**
 * The second version: below the nearest group whose children are limited and which we may write, our own or a delegated
 * one above it. The limits are on a group around the one of the command: what the command sees as the top, should it
 * mount the file system of the groups itself, is its own, and the limits are outside.
 */
function makeUnified(caps: Caps, { unified }: GroupPlaces, made: string[]): ControlGroup | null {
  for (const at of unified) {
    const given = readText(`${at}/cgroup.subtree_control`)?.split(/\s+/) ?? [];
    const holds = [
      ...(given.includes("memory") ? (["memory"] as const) : []),
      ...(given.includes("pids") ? (["processes"] as const) : []),
    ];
    if (holds.length === 0 || !isWritable(at) || !isWritable(`${at}/cgroup.procs`)) continue;
    const group = makeFolder(at);
    made.push(group);
    if (holds.includes("memory")) {
      writeFileSync(`${group}/memory.max`, String(caps.memory));
      writeMaybe(`${group}/memory.swap.max`, "0");
      writeMaybe(`${group}/memory.oom.group`, "1");
    }
    if (holds.includes("processes")) writeFileSync(`${group}/pids.max`, String(caps.processes));
    mkdirSync(`${group}/in`);
    return {
      version: 2,
      holds,
      procs: [`${group}/in/cgroup.procs`],
      starter: [],
      findHit: (cap) => findHitIn(group, cap, caps),
      remove: () => removeGroups([group]),
    };
  }
  return null;
}

function findHitIn(group: string, cap: GroupCap, caps: Caps): number | null {
  if (cap === "memory") {
    const used = readNumber(`${group}/memory.peak`) ?? readNumber(`${group}/memory.current`) ?? caps.memory;
    return countOf(`${group}/memory.events`, "oom_kill") > 0 ? used : null;
  }
  return countOf(`${group}/pids.events`, "max") > 0 ? (readNumber(`${group}/pids.peak`) ?? caps.processes) : null;
}

/** The first version, which only root may use: one group for each controller, below our own. */
function makeFirst(caps: Caps, { memory, pids }: GroupPlaces, made: string[]): ControlGroup | null {
  if (process.getuid?.() !== 0 || (memory === null && pids === null)) return null;
  const take = (at: string | null) => {
    if (at === null || !isWritable(at)) return null;
    const group = makeFolder(at);
    made.push(group);
    return group;
  };
  const memoryGroup = take(memory);
  if (memoryGroup !== null) {
    writeMaybe(`${memoryGroup}/memory.use_hierarchy`, "1");
    writeFileSync(`${memoryGroup}/memory.limit_in_bytes`, String(caps.memory));
    writeMaybe(`${memoryGroup}/memory.memsw.limit_in_bytes`, String(caps.memory));
  }
  const pidsGroup = take(pids);
  if (pidsGroup !== null) writeFileSync(`${pidsGroup}/pids.max`, String(caps.processes));
  if (made.length === 0) return null;
  for (const group of made) mkdirSync(`${group}/in`);
  // The kernel counts where the process is, not where the limit is.
  const isHit = (group: string, file: string, name: string) =>
    countOf(`${group}/${file}`, name) + countOf(`${group}/in/${file}`, name) > 0;
  return {
    version: 1,
    holds: [
      ...(memoryGroup === null ? [] : (["memory"] as const)),
      ...(pidsGroup === null ? [] : (["processes"] as const)),
    ],
    procs: made.map((group) => `${group}/in/cgroup.procs`),
    starter: [],
    findHit(cap) {
      if (cap === "processes")
        return pidsGroup !== null && isHit(pidsGroup, "pids.events", "max") ? caps.processes : null;
      if (memoryGroup === null || !isHit(memoryGroup, "memory.oom_control", "oom_kill")) return null;
      return readNumber(`${memoryGroup}/memory.max_usage_in_bytes`) ?? caps.memory;
    },
    remove: () => removeGroups(made),
  };
}

/** A group of ours. Those of tools that were killed are removed on the way, where nothing is in them. */
function makeFolder(at: string): string {
  for (const name of readdirSync(at)) {
    const owner = NAME.exec(name)?.[1];
    if (owner !== undefined && readText(`/proc/${owner}/stat`) === null) removeOnce(`${at}/${name}`);
  }
  const group = `${at}/verbatim-${process.pid}-${randomBytes(6).toString("hex")}`;
  mkdirSync(group);
  return group;
}

/** A group goes when the last of its processes is really gone, which may take a moment; what stays is removed later. */
async function removeGroups(groups: readonly string[]): Promise<void> {
  for (const end = Date.now() + REMOVAL_MS; ; ) {
    if (groups.map(removeOnce).every(Boolean) || Date.now() > end) return;
    await pause(10);
  }
}

function removeOnce(group: string): boolean {
  try {
    for (const place of [`${group}/in`, group]) if (readText(`${place}/cgroup.procs`) !== null) rmdirSync(place);
    return true;
  } catch (thrown) {
    if (["EBUSY", "ENOENT", "EACCES", "EPERM", "ENOTEMPTY"].includes(errnoCode(thrown) ?? "")) return false;
    throw thrown;
  }
}

function isWritable(place: string): boolean {
  try {
    accessSync(place, constants.W_OK);
    return true;
  } catch (thrown) {
    if (NOT_HERE.includes(errnoCode(thrown) ?? "")) return false;
    throw thrown;
  }
}

/** Files that not every kernel has. */
function writeMaybe(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: "r+" });
  } catch (thrown) {
    if (!NOT_HERE.includes(errnoCode(thrown) ?? "")) throw thrown;
  }
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch (thrown) {
    if ([...NOT_HERE, "ESRCH"].includes(errnoCode(thrown) ?? "")) return null;
    throw thrown;
  }
}

function readNumber(file: string): number | null {
  const number = Number(readText(file)?.trim() || Number.NaN);
  return Number.isSafeInteger(number) ? number : null;
}

function countOf(file: string, name: string): number {
  const line = readText(file)
    ?.split("\n")
    .find((one) => one.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1) ?? 0);
}
