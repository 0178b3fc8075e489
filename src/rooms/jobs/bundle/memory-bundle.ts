import { decodeUtf8, findIllFormed } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { Crypto } from "../../../core/ports.ts";
import type { BundleFiles, FileFacts } from "./bundle-files.ts";

/** Files in memory, by clean relative path: what a page got by dropping a folder, or what a test made. */
export interface MemoryTree {
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Paths of links; where they lead does not matter, because nothing follows them. */
  readonly links?: ReadonlySet<string>;
  /** Folders that hold nothing. */
  readonly folders?: ReadonlySet<string>;
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** A bundle that is in memory already. */
export function openMemoryBundle(crypto: Crypto, tree: MemoryTree): BundleFiles {
  const { files, links = new Set<string>(), folders = new Set<string>() } = tree;
  const parents = new Set([...files.keys(), ...links, ...[...folders].map((path) => `${path}/x`)].flatMap(listParents));
  const findProblem = (path: string): "missing" | "not-regular" | null => {
    if (links.has(path) || listParents(path).some((parent) => links.has(parent))) return "not-regular";
    if (parents.has(path)) return "not-regular";
    // A file where a folder is needed means there is nothing below it.
    return files.has(path) ? null : "missing";
  };
  return {
    async readManifest(limit) {
      const problem = findProblem("bundle.json");
      if (problem !== null) return { problem };
      const bytes = files.get("bundle.json")!;
      return bytes.length > limit ? { problem: "too-large" } : { bytes };
    },
    async inspect(path): Promise<FileFacts> {
      const problem = findProblem(path);
      if (problem !== null) return { problem };
      const bytes = files.get(path)!;
      return {
        sha256: await crypto.sha256(bytes),
        bytes: bytes.length,
        newline: bytes.at(-1) === LINE_FEED,
        utf8: findIllFormed(bytes) === -1,
        ...(hasCrlf(bytes) ? { crlf: true } : {}),
      };
    },
    list: async () => [...files.keys(), ...links, ...[...parents].map((path) => `${path}/`)],
    async readText(path) {
      const text = decodeUtf8(files.get(path) ?? new Uint8Array());
      if (text === null)
        throw new VerbatimError("FILE_UNREADABLE", { message: "the artifact is not valid UTF-8", where: path });
      return text;
    },
  };
}

function hasCrlf(bytes: Uint8Array): boolean {
  const end = bytes.indexOf(LINE_FEED);
  return end > 0 && bytes[end - 1] === CARRIAGE_RETURN;
}

function listParents(path: string): string[] {
  const segments = path.split("/");
  return segments.slice(1).map((_, i) => segments.slice(0, i + 1).join("/"));
}
