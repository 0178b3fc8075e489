import { LIMITS, unzip, ZipRefused } from "./zip.ts";

/** Something that was dropped or chosen, with its path below what was dropped. */
export interface Dropped {
  readonly path: string;
  readonly file: File;
}

/** Why there is nothing to verify. */
export class NotABundle extends Error {
  readonly code: "NO_MANIFEST" | "SEVERAL_MANIFESTS" | "SEVERAL_SIGNATURES" | "UNREADABLE";

  constructor(code: NotABundle["code"]) {
    super(code);
    this.code = code;
  }
}

export interface Gathered {
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly folders: ReadonlySet<string>;
  readonly attestation: Uint8Array | null;
}

const MANIFEST = "bundle.json";
const SIGNATURE = /\.dsse\.json$/;

/** The files of the one bundle in what was dropped, by their paths in it, and the signature beside it. */
export async function gather(
  dropped: readonly Dropped[],
  emptyFolders: readonly string[],
  say: (stage: "reading" | "unpacking") => void,
): Promise<Gathered> {
  if (dropped.length > LIMITS.files) throw new ZipRefused("TOO_MANY_FILES");
  let total = 0;
  for (const { file } of dropped) total += file.size;
  if (total > LIMITS.bytes) throw new ZipRefused("TOO_LARGE");
  say("reading");
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  const folders = new Set(emptyFolders);
  for (const { path, file } of dropped) files.set(path, await read(file));
  const all = new Map<string, Uint8Array>(files);
  const archives = [...files.keys()].filter((path) => /\.zip$/i.test(path) && !path.includes("/"));
  if (archives.length === 1 && !files.has(MANIFEST)) {
    say("unpacking");
    const inside = await unzip(files.get(archives[0]!)!);
    all.delete(archives[0]!);
    for (const [path, bytes] of inside.files) all.set(path, bytes);
    for (const path of inside.folders) folders.add(path);
  }
  return pick(all, folders);
}

async function read(file: File): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return new Uint8Array(await file.arrayBuffer());
  } catch {
    throw new NotABundle("UNREADABLE");
  }
}

/** The bundle is where the manifest is that lies highest; what is outside of that folder is not part of it. */
function pick(files: ReadonlyMap<string, Uint8Array>, folders: ReadonlySet<string>): Gathered {
  const depth = (path: string) => path.split("/").length;
  const manifests = [...files.keys()].filter((path) => path === MANIFEST || path.endsWith(`/${MANIFEST}`));
  const highest = Math.min(...manifests.map(depth));
  const [manifest, ...others] = manifests.filter((path) => depth(path) === highest);
  if (manifest === undefined) throw new NotABundle("NO_MANIFEST");
  if (others.length > 0) throw new NotABundle("SEVERAL_MANIFESTS");
  const root = manifest.slice(0, -MANIFEST.length);
  const beside = [...files.keys()].filter((path) => SIGNATURE.test(path) && (root === "" || !path.startsWith(root)));
  // Where the bundle itself was dropped file by file, the signature lies among its files and is none of them.
  const own = root === "" ? beside.filter((path) => !path.includes("/")) : beside;
  if (own.length > 1) throw new NotABundle("SEVERAL_SIGNATURES");
  const inside = [...files].filter(([path]) => path.startsWith(root) && path !== own[0]);
  return {
    files: new Map(inside.map(([path, bytes]) => [path.slice(root.length), bytes])),
    folders: new Set(
      [...folders].flatMap((path) =>
        path.startsWith(root) && path.length > root.length ? [path.slice(root.length)] : [],
      ),
    ),
    attestation: own[0] === undefined ? null : files.get(own[0])!,
  };
}
