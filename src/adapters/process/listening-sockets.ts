import { existsSync, lstatSync, readFileSync } from "node:fs";

/** What the kernel calls a socket that takes connections, and one to which anybody may send without a connection. */
const ACCEPTS = 0x10000;
const DATAGRAM = "0002";
const TABLE = "/proc/net/unix";

/** The places of all unix sockets of this machine that anybody can speak to and that this process can see. */
export function listListeningSockets(): string[] {
  if (!existsSync(TABLE)) return [];
  const places = parseSockets(readFileSync(TABLE, "utf8"));
  return places.filter((place) => {
    try {
      return lstatSync(place, { throwIfNoEntry: false })?.isSocket() === true;
    } catch {
      // What may not be looked at here may not be connected to either.
      return false;
    }
  });
}

/** Paths of such sockets in the kernel's table; those without a path have an abstract name. */
export function parseSockets(table: string): string[] {
  const places = table.split("\n").flatMap((line) => {
    const [, flags = "0", type, path] =
      /^[0-9a-f]+: [0-9A-F]+ [0-9A-F]+ ([0-9A-F]+) ([0-9A-F]+) [0-9A-F]+ +[0-9]+ (\/.*)$/.exec(line) ?? [];
    const isOpen = type === DATAGRAM || (Number.parseInt(flags, 16) & ACCEPTS) !== 0;
    return path !== undefined && isOpen ? [path] : [];
  });
  return [...new Set(places)];
}
