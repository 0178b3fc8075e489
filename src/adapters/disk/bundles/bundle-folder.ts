import { isUtf8 } from "node:buffer";
import { createHash, hash } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  type Stats,
  statSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { VerbatimError } from "../../../core/errors/index.ts";
import { errnoCode } from "../../../core/errors/system.ts";
import type { BundleFiles, FileFacts, ManifestRead } from "../../../rooms/jobs/ports.ts";

const MANIFEST = "bundle.json";
const SMALL = 256 * 1024;
const CHUNK = 1024 * 1024;
const LINE_FEED = 0x0a;
const LOOKED_AT = 4096;
const NO_FOLLOW = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** A path that was named as a bundle: its folder, or why it cannot be one. */
type NamedBundle = { readonly folder: string } | { readonly problem: "BUNDLE_NOT_FOUND" | "MANIFEST_NAME" };

/** A bundle is named by its folder or by the bundle.json in it. */
export function findBundle(path: string): NamedBundle {
  // The way to a bundle may be a link; nothing inside it may.
  const facts = statSync(path, { throwIfNoEntry: false });
  if (facts === undefined) return { problem: "BUNDLE_NOT_FOUND" };
  if (facts.isDirectory()) return { folder: path };
  if (basename(path) === MANIFEST) return { folder: dirname(path) };
  return { problem: "MANIFEST_NAME" };
}

type Problem = "missing" | "not-regular" | "unreadable";

/** Reads a bundle on disk. No link is followed; small files are read whole, large ones in pieces. */
export function openBundleFolder(folder: string): BundleFiles {
  const buffer = Buffer.allocUnsafe(SMALL);
  const checked = new Map<string, Problem | null>();
  const findParentProblem = (path: string): Problem | null => {
    const parent = dirname(path);
    if (parent === ".") return null;
    let known = checked.get(parent);
    if (known === undefined) {
      known = findParentProblem(parent) ?? judgeFolder(join(folder, parent));
      checked.set(parent, known);
    }
    return known;
  };
  return {
    readManifest: (limit) => readManifest(join(folder, MANIFEST), limit),
    async inspect(path) {
      const problem = findParentProblem(path);
      return problem === null ? inspectFile(join(folder, path), buffer) : { problem };
    },
    list: async () => listBelow(folder),
    async readText(path) {
      const handle = await open(join(folder, path), NO_FOLLOW);
      try {
        const bytes = await handle.readFile();
        if (isUtf8(bytes)) return bytes.toString("utf8");
      } catch (thrown) {
        throw new VerbatimError("FILE_UNREADABLE", { where: path, cause: thrown });
      } finally {
        await handle.close();
      }
      throw new VerbatimError("FILE_UNREADABLE", { message: "the artifact is not valid UTF-8", where: path });
    },
  };
}

function judgeFolder(place: string): Problem | null {
  let facts: Stats | undefined;
  try {
    facts = lstatSync(place, { throwIfNoEntry: false });
  } catch (thrown) {
    return toProblem(thrown);
  }
  if (facts === undefined) return "missing";
  if (facts.isSymbolicLink()) return "not-regular";
  return facts.isDirectory() ? null : "missing";
}

function toProblem(thrown: unknown): Problem {
  switch (errnoCode(thrown)) {
    case null:
      throw thrown;
    case "ENOENT":
    case "ENOTDIR":
    case "ENAMETOOLONG":
      return "missing";
    case "ELOOP":
    case "EISDIR":
    case "ENXIO":
      return "not-regular";
    default:
      return "unreadable";
  }
}

async function readManifest(place: string, limit: number): Promise<ManifestRead> {
  let file: number;
  try {
    file = openSync(place, NO_FOLLOW);
  } catch (thrown) {
    return { problem: toProblem(thrown) };
  }
  try {
    const facts = fstatSync(file);
    if (!facts.isFile()) return { problem: "not-regular" };
    if (facts.size > limit) return { problem: "too-large" };
    // One byte more than it has shows whether it grows meanwhile.
    let bytes = Buffer.allocUnsafe(facts.size + 1);
    for (let size = 0; ; ) {
      const count = readSync(file, bytes, size, bytes.length - size, null);
      if (count === 0) return { bytes: bytes.subarray(0, size) };
      size += count;
      if (size > limit) return { problem: "too-large" };
      if (size === bytes.length) bytes = Buffer.concat([bytes], size + CHUNK);
    }
  } catch (thrown) {
    return { problem: toProblem(thrown) };
  } finally {
    closeSync(file);
  }
}

/** Size, hash, last byte and UTF-8 come from one read of the same open file. */
async function inspectFile(place: string, buffer: Buffer): Promise<FileFacts> {
  let file: number;
  try {
    file = openSync(place, NO_FOLLOW);
  } catch (thrown) {
    return { problem: toProblem(thrown) };
  }
  let large = false;
  try {
    const facts = fstatSync(file);
    if (!facts.isFile()) return { problem: "not-regular" };
    if (facts.size < SMALL) {
      let size = 0;
      for (let count = -1; count !== 0 && size < SMALL; size += count) {
        count = readSync(file, buffer, size, SMALL - size, null);
      }
      if (size < SMALL) return toFacts(buffer.subarray(0, size));
    }
    large = true;
  } catch (thrown) {
    return { problem: toProblem(thrown) };
  } finally {
    closeSync(file);
  }
  return large ? inspectLarge(place) : { problem: "unreadable" };
}

function toFacts(bytes: Buffer): FileFacts {
  return {
    sha256: hash("sha256", bytes, "hex"),
    bytes: bytes.length,
    newline: bytes.at(-1) === LINE_FEED,
    utf8: isUtf8(bytes),
    ...(hasCrlf(bytes) ? { crlf: true } : {}),
  };
}

/** A look at the beginning is enough: a checkout that changes line ends changes all of them. */
function hasCrlf(bytes: Buffer): boolean {
  return bytes.subarray(0, LOOKED_AT).includes("\r\n");
}

/** In pieces, so memory does not grow with the file; a character cut by a piece goes to the next one. */
async function inspectLarge(place: string): Promise<FileFacts> {
  try {
    const handle = await open(place, NO_FOLLOW);
    try {
      const running = createHash("sha256");
      const buffer = Buffer.allocUnsafe(CHUNK + 3);
      let carried = 0;
      let bytes = 0;
      let utf8 = true;
      let last = -1;
      let crlf: true | undefined;
      for (;;) {
        const { bytesRead } = await handle.read(buffer, carried, CHUNK, null);
        if (bytesRead === 0) break;
        running.update(buffer.subarray(carried, carried + bytesRead));
        if (bytes === 0 && hasCrlf(buffer.subarray(0, bytesRead))) crlf = true;
        bytes += bytesRead;
        const end = carried + bytesRead;
        last = buffer[end - 1]!;
        const whole = end - incompleteTail(buffer, end);
        utf8 &&= isUtf8(buffer.subarray(0, whole));
        buffer.copy(buffer, 0, whole, end);
        carried = end - whole;
      }
      const facts = { bytes, newline: last === LINE_FEED, utf8: utf8 && carried === 0 };
      return { sha256: running.digest("hex"), ...facts, ...(crlf ? { crlf } : {}) };
    } finally {
      await handle.close();
    }
  } catch (thrown) {
    return { problem: toProblem(thrown) };
  }
}

/** Bytes at the end that begin a character whose rest is still to come. */
function incompleteTail(buffer: Buffer, end: number): number {
  for (let back = 1; back <= 3 && back <= end; back++) {
    const byte = buffer[end - back]!;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? back : 0;
  }
  return 0;
}

function listBelow(folder: string): string[] {
  const found: string[] = [];
  const waiting = [""];
  for (let prefix = waiting.pop(); prefix !== undefined; prefix = waiting.pop()) {
    for (const entry of readdirSync(join(folder, prefix), { withFileTypes: true })) {
      const path = `${prefix}${entry.name}`;
      if (entry.isDirectory()) {
        found.push(`${path}/`);
        waiting.push(`${path}/`);
      } else found.push(path);
    }
  }
  return found;
}
