import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, type Stats } from "node:fs";
import { dirname, resolve } from "node:path";

/** What the kernel calls a socket that takes connections, and one to which anybody may send without a connection. */
const ACCEPTS = 0x10000;
const DATAGRAM = "0002";
const TABLE = "/proc/net/unix";
/** Address, references, protocol, flags, type, state, inode, and the name, which may hold line feeds. */
const ROW = /^[0-9a-f]+: [0-9A-F]+ [0-9A-F]+ ([0-9A-F]+) ([0-9A-F]+) [0-9A-F]+ +([0-9]+)(?: (.+))?$/s;
const NEXT_ROW = /\n(?=[0-9a-f]+: [0-9A-F]{8} [0-9A-F]{8} )/;

/** A socket that anybody can speak to, by the name that it was given; one without a first slash is below a working folder. */
export interface OpenSocket {
  readonly name: string;
  readonly inode: string;
}

/** The places of all unix sockets of this machine that anybody can speak to and that this process can see. */
export function listListeningSockets(): string[] {
  if (!existsSync(TABLE)) return [];
  const sockets = parseSockets(readFileSync(TABLE, "utf8"));
  const absolute = sockets.filter(({ name }) => name.startsWith("/")).map(({ name }) => name);
  return [...new Set([...absolute, ...placeRelative(sockets)].flatMap(listNames))];
}

/** What the kernel's table says; sockets with an abstract name have no place. */
export function parseSockets(table: string): OpenSocket[] {
  const found = table
    .trimEnd()
    .split(NEXT_ROW)
    .flatMap((row) => {
      const [, flags = "0", type, inode = "", name] = ROW.exec(row) ?? [];
      const isOpen = type === DATAGRAM || (Number.parseInt(flags, 16) & ACCEPTS) !== 0;
      return name !== undefined && !name.startsWith("@") && isOpen ? [{ name, inode }] : [];
    });
  return found;
}

/** The table has names as they were given. What a process gave without a first slash lies where that process stands. */
function placeRelative(sockets: readonly OpenSocket[]): string[] {
  const relative = new Map(sockets.filter(({ name }) => !name.startsWith("/")).map((one) => [one.inode, one.name]));
  if (relative.size === 0) return [];
  return list("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .flatMap((pid) => {
      const links = list(`/proc/${pid}/fd`).map((fd) => readLink(`/proc/${pid}/fd/${fd}`));
      const names = links.flatMap((link) => relative.get(/^socket:\[([0-9]+)\]$/.exec(link ?? "")?.[1] ?? "") ?? []);
      const folder = names.length === 0 ? null : readLink(`/proc/${pid}/cwd`);
      return folder === null ? [] : names.map((name) => resolve(folder, name));
    });
}

/** Every name of a socket next to where it was bound: it may have been renamed since, or have several. */
function listNames(place: string): string[] {
  const own = look(place);
  const isSocket = own?.isSocket() === true;
  if (isSocket && own.nlink === 1) return [place];
  const folder = dirname(place);
  const beside = list(folder).map((name) => resolve(folder, name));
  return beside.filter((one) => look(one)?.isSocket() === true);
}

/** What may not be looked at here may not be connected to either. */
function look(place: string): Stats | null {
  try {
    return lstatSync(place, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readLink(place: string): string | null {
  try {
    return readlinkSync(place);
  } catch {
    return null;
  }
}
