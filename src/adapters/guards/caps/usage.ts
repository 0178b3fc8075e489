import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { errnoCode } from "../../../core/errors/system.ts";

/** What everything below a process uses, by the word of /proc. */
export interface ProcessUsage {
  /** Threads, which is what the kernel counts as well. */
  readonly processes: number;
  readonly memory: number;
}

/** Offsets in /proc/PID/stat behind the name, which may hold anything. */
const PARENT = 1;
const THREADS = 17;
const RESIDENT = 21;
const PAGE_SIZE_ENTRY = 6n;
let pageSize: number | undefined;

/**
 * Looks once at every process of the machine; what is gone meanwhile is not there. Memory that processes share counts once
 * for each; only where the sum comes to `most` it is shared out, which takes longer.
 */
export function measureProcesses(top: number, most: number): ProcessUsage {
  pageSize ??= readPageSize();
  const children = new Map<number, { readonly pid: number; readonly threads: number; readonly pages: number }[]>();
  for (const name of readdirSync("/proc")) {
    const text = /^[0-9]+$/.test(name) ? readStat(name) : null;
    if (text === null) continue;
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const one = { pid: Number(name), threads: Number(fields[THREADS]), pages: Number(fields[RESIDENT]) };
    const parent = Number(fields[PARENT]);
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [one]);
    else siblings.push(one);
  }
  const found = [...(children.get(top) ?? [])];
  for (let i = 0; i < found.length; i++) found.push(...(children.get(found[i]!.pid) ?? []));
  const sum = (of: "threads" | "pages") => found.reduce((total, one) => total + one[of], 0);
  const processes = sum("threads");
  const resident = sum("pages") * pageSize;
  if (resident < most) return { processes, memory: resident };
  return { processes, memory: found.reduce((total, { pid, pages }) => total + readShare(pid, pages * pageSize!), 0) };
}

/** The share of one process in what it has in memory, or all of that where the kernel does not tell us. */
function readShare(pid: number, resident: number): number {
  try {
    const share = /^Pss:\s+([0-9]+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1];
    return share === undefined ? resident : Number(share) * 1024;
  } catch (thrown) {
    if (["EACCES", "EPERM"].includes(errnoCode(thrown) ?? "")) return resident;
    if (["ENOENT", "ESRCH"].includes(errnoCode(thrown) ?? "")) return 0;
    throw thrown;
  }
}

function readStat(pid: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch (thrown) {
    if (["ENOENT", "ESRCH", "EACCES"].includes(errnoCode(thrown) ?? "")) return null;
    throw thrown;
  }
}

/** From the vector that the kernel hands to every program. */
function readPageSize(): number {
  const vector = readFileSync("/proc/self/auxv");
  for (let at = 0; at + 16 <= vector.length; at += 16) {
    if (vector.readBigUInt64LE(at) === PAGE_SIZE_ENTRY) return Number(vector.readBigUInt64LE(at + 8));
  }
  return 4096;
}

/** What a folder takes on disk, and the size of its largest file. */
export interface FolderUsage {
  readonly bytes: number;
  readonly largest: number;
}

const NOTHING_THERE = ["ENOENT", "ENOTDIR", "EACCES", "ELOOP"];
/** What a name takes although nothing is in it: a disk may be full of names. */
const LEAST_BYTES = 4096;
/** After so many entries others get their turn. */
const SLICE = 500;

/** Adds up a folder without following links. What is gone or closed to us meanwhile does not count. */
export async function measureFolder(folder: string): Promise<FolderUsage> {
  const linked = new Set<string>();
  const todo = [folder];
  let [bytes, largest, looked] = [0, 0, 0];
  for (let at = todo.pop(); at !== undefined; at = todo.pop()) {
    for (const name of list(at)) {
      if (++looked % SLICE === 0) await nextTurn();
      const place = `${at}/${name}`;
      const facts = look(place);
      if (facts === null) continue;
      if (facts.isDirectory()) todo.push(place);
      else if (facts.isFile()) {
        const id = `${facts.dev}:${facts.ino}`;
        if (facts.nlink > 1 && linked.has(id)) continue;
        if (facts.nlink > 1) linked.add(id);
        largest = Math.max(largest, facts.size);
      }
      bytes += Math.max(facts.blocks * 512, LEAST_BYTES);
    }
  }
  return { bytes, largest };
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (thrown) {
    if (NOTHING_THERE.includes(errnoCode(thrown) ?? "")) return [];
    throw thrown;
  }
}

function look(place: string) {
  try {
    return lstatSync(place);
  } catch (thrown) {
    if (NOTHING_THERE.includes(errnoCode(thrown) ?? "")) return null;
    throw thrown;
  }
}
