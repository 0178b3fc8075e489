import { type BigIntStats, lstatSync, readdirSync, readlinkSync } from "node:fs";
import { decodeUtf8 } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { errnoCode } from "../../../core/errors/system.ts";
import type { Fingerprint, FingerprintScan, ScanOptions } from "../../../rooms/catalytic/ports.ts";
import { escapeBytes } from "../tree/tree-snapshot.ts";

const TURN_MS = 25;

/**
 * The stat of everything below a root that is not skipped, packed into one text per path. Names that are not UTF-8 are
 * shown with `\xHH`, which only the command could make use of and which is a difference all the same.
 */
export async function scanFingerprints(root: string, options: ScanOptions): Promise<FingerprintScan> {
  const packed = new Map<string, string>();
  const notUtf8 = new Set<string>();
  const pending: { readonly path: string; readonly place: Place }[] = [];
  let turn = performance.now();
  const add = (path: string, place: Place) => {
    const facts = lstatOrNull(place);
    if (facts === null) return;
    packed.set(path, pack(facts, place));
    if (packed.size > options.max_entries) {
      throw new VerbatimError("TRIPWIRE_TOO_LARGE", {
        message: `more than ${options.max_entries} entries outside the domains`,
        details: { limit: options.max_entries },
      });
    }
    if (facts.isDirectory() && isDeep) pending.push({ path, place });
  };
  let isDeep = true;
  for (const start of options.from) {
    add(start === "" ? "." : start, start === "" ? root : `${root}/${start}`);
  }
  isDeep = options.shallow !== true;
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const prefix = folder.path === "." ? "" : `${folder.path}/`;
    for (const { text, shown, place } of listPlaces(folder.place)) {
      const path = prefix + shown;
      if (options.skip(path)) continue;
      if (text === null) notUtf8.add(path);
      add(path, place);
    }
    if (performance.now() - turn < TURN_MS) continue;
    await new Promise((resolve) => setImmediate(resolve));
    turn = performance.now();
  }
  return { packed, not_utf8: notUtf8 };
}

/** A path as text, which costs less, or as bytes below a name that is not text. */
type Place = string | Buffer;

interface Named {
  /** Null: not UTF-8. */
  readonly text: string | null;
  readonly shown: string;
  readonly place: Place;
}

const SLASH = Buffer.from("/");
/** What Node puts in the place of bytes that are not UTF-8. */
const REPLACED = "\ufffd";

function listPlaces(folder: Place): Named[] {
  const names = typeof folder === "string" ? orNone(() => readdirSync(folder)) : null;
  if (names?.some((name) => name.includes(REPLACED)) === false) {
    return names.map((name) => ({ text: name, shown: name, place: `${folder as string}/${name}` }));
  }
  const bytes = Buffer.from(folder);
  return list(bytes).map((name) => {
    const text = decodeUtf8(name);
    return { text, shown: text ?? escapeBytes(name), place: Buffer.concat([bytes, SLASH, name]) };
  });
}

function list(place: Buffer): Buffer[] {
  return orNone(() => readdirSync(place, { encoding: "buffer" }));
}

/** A folder nobody may list cannot be compared; its own stat still is. */
function orNone<T>(read: () => T[]): T[] {
  try {
    return read();
  } catch (thrown) {
    if (["EACCES", "ENOENT", "ENOTDIR"].includes(errnoCode(thrown) ?? "")) return [];
    throw thrown;
  }
}

const LSTAT = { bigint: true, throwIfNoEntry: false } as const;

function lstatOrNull(place: Place): BigIntStats | null {
  try {
    return lstatSync(place, LSTAT) ?? null;
  } catch (thrown) {
    if (errnoCode(thrown) === "ENAMETOOLONG") return null;
    throw thrown;
  }
}

function pack(facts: BigIntStats, place: Place): string {
  const type = facts.isFile() ? "file" : facts.isDirectory() ? "dir" : facts.isSymbolicLink() ? "symlink" : "other";
  const target = type === "symlink" ? `|${readlinkSync(place, { encoding: "latin1" })}` : "";
  const size = type === "dir" ? 0n : facts.size;
  return `${type}|${facts.ino}|${facts.mode & 0o7777n}|${facts.uid}|${facts.gid}|${size}|${facts.mtimeNs}|${facts.ctimeNs}|${facts.nlink}${target}`;
}

/** A packed fingerprint as its fields. */
export function unpackFingerprint(packed: string): Fingerprint {
  const [type, ino, mode, uid, gid, size, mtime, ctime, nlink, ...target] = packed.split("|") as string[];
  return {
    type: type as Fingerprint["type"],
    ino: ino!,
    mode: Number(mode).toString(8).padStart(4, "0"),
    uid: Number(uid),
    gid: Number(gid),
    size: Number(size),
    mtime_ns: mtime!,
    ctime_ns: ctime!,
    nlink: Number(nlink),
    target: type === "symlink" ? target.join("|") : null,
  };
}

/** The real place of a path that a scan showed: names that are not UTF-8 are found again by how they are shown. */
export function findShown(base: string, shown: string): Buffer | null {
  let place = Buffer.from(base);
  for (const component of shown.split("/")) {
    const name = list(place).find((one) => (decodeUtf8(one) ?? escapeBytes(one)) === component);
    if (name === undefined) return null;
    place = Buffer.concat([place, SLASH, name]);
  }
  return place;
}
