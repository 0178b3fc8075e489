import { type BigIntStats, lstatSync, readdirSync, readlinkSync } from "node:fs";
import { decodeUtf8 } from "../../core/canonical/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import { errnoCode } from "../../core/errors/system.ts";
import type { Fingerprint, FingerprintScan, ScanOptions } from "../../rooms/catalytic/ports.ts";
import { escapeBytes } from "./tree-snapshot.ts";

const TURN_MS = 25;

/**
 * The stat of everything below a root that is not skipped, packed into one text per path. Names that are not UTF-8 are
 * shown with `\xHH`, which only the command could make use of and which is a difference all the same.
 */
export async function scanFingerprints(root: string, options: ScanOptions): Promise<FingerprintScan> {
  const packed = new Map<string, string>();
  const notUtf8 = new Set<string>();
  const pending: { readonly path: string; readonly place: Buffer }[] = [];
  let turn = performance.now();
  const add = (path: string, place: Buffer) => {
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
    add(start === "" ? "." : start, Buffer.from(start === "" ? root : `${root}/${start}`));
  }
  isDeep = options.shallow !== true;
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const prefix = folder.path === "." ? "" : `${folder.path}/`;
    for (const name of list(folder.place)) {
      const text = name.every((byte) => byte < 0x80) ? name.toString("latin1") : decodeUtf8(name);
      const path = prefix + (text ?? escapeBytes(name));
      if (options.skip(path)) continue;
      if (text === null) notUtf8.add(path);
      add(path, Buffer.concat([folder.place, SLASH, name]));
    }
    if (performance.now() - turn < TURN_MS) continue;
    await new Promise((resolve) => setImmediate(resolve));
    turn = performance.now();
  }
  return { packed, not_utf8: notUtf8 };
}

const SLASH = Buffer.from("/");

function list(place: Buffer): Buffer[] {
  try {
    return readdirSync(place, { encoding: "buffer" });
  } catch (thrown) {
    // A folder nobody may list cannot be compared; its own stat still is.
    if (["EACCES", "ENOENT", "ENOTDIR"].includes(errnoCode(thrown) ?? "")) return [];
    throw thrown;
  }
}

function lstatOrNull(place: Buffer): BigIntStats | null {
  try {
    return lstatSync(place, { bigint: true });
  } catch (thrown) {
    if (errnoCode(thrown) === "ENOENT" || errnoCode(thrown) === "ENAMETOOLONG") return null;
    throw thrown;
  }
}

function pack(facts: BigIntStats, place: Buffer): string {
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
