import { closeSync, fstatSync, mkdirSync, openSync, readSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { KeptTree } from "../../rooms/catalytic/ports.ts";
import { errnoCode } from "./errors.ts";
import { DIGEST, type Hidden, type TreeTable, WIDTH } from "./tree-table.ts";

const VERSION = "verbatim-tree-1";
/** Version line, then the length of the header in ten digits. */
const HEAD = VERSION.length + 1 + 10 + 1;

/** A table as it was kept, with what was made of the tree. */
export interface TreeFile {
  /** Whatever the answers depend on besides the tree: another one, and nothing of this is used. */
  readonly context: string;
  readonly root: string;
  readonly hidden: Hidden;
  readonly table: TreeTable;
  /** What was made of the tree, by the rules it was made with; empty when a file was too fresh to be sure of it. */
  readonly kept: ReadonlyMap<string, KeptTree>;
  readonly notes: Readonly<Record<string, string>>;
}

interface Header extends Omit<TreeFile, "table" | "kept" | "context"> {
  readonly context: string;
  readonly entries: number;
  readonly folders: number;
  readonly targets: readonly (readonly [number, string])[];
  readonly kept: readonly (Omit<KeptTree, "tree" | "manifest" | "inputs"> & {
    readonly key: string;
    readonly sizes: readonly [number, number, number];
  })[];
  readonly texts: readonly [folders: number, names: number];
}

/** Writes a table beside its place and renames it. It is a cache: losing it costs time, so it is not made durable. */
export function writeTreeFile(place: string, file: TreeFile): void {
  const { table, kept, context, root, hidden, notes } = file;
  const folders = Buffer.from(table.folders.join("\n\0"));
  const names = Buffer.from(table.names.join("\n\0"));
  const texts: string[] = [];
  const header: Header = {
    context,
    root,
    hidden,
    notes,
    entries: table.stats.length / WIDTH,
    folders: table.folders.length,
    targets: [...table.targets],
    texts: [folders.length, names.length],
    kept: [...kept].map(([key, { tree, manifest, inputs, ...rest }]) => {
      texts.push(tree, manifest, inputs);
      return { ...rest, key, sizes: [tree.length, manifest.length, inputs.length] };
    }),
  };
  const head = Buffer.from(JSON.stringify(header));
  // Numbers are read in place, so they must lie at a multiple of eight.
  const pad = Buffer.alloc((8 - ((HEAD + head.length) % 8)) % 8, " ");
  const length = String(head.length + pad.length).padStart(10, "0");
  const temporary = `${place}.${process.pid}.tmp`;
  mkdirSync(dirname(place), { recursive: true });
  const fd = openSync(temporary, "w", 0o600);
  try {
    const parts = [Buffer.from(`${VERSION}\n${length}\n`), head, pad, table.stats, table.first, table.digests];
    for (const part of [...parts, folders, names, ...texts.map((text) => Buffer.from(text, "latin1"))]) {
      writeAll(fd, Buffer.from(part.buffer, part.byteOffset, part.byteLength));
    }
    renameSync(temporary, place);
  } finally {
    closeSync(fd);
    rmSync(temporary, { force: true });
  }
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
}

/** Reads what was kept, or null when there is nothing or it is not whole. */
export function readTreeFile(place: string): TreeFile | null {
  const bytes = readShared(place);
  if (bytes === null || bytes.length < HEAD || bytes.toString("latin1", 0, VERSION.length + 1) !== `${VERSION}\n`)
    return null;
  const length = Number(bytes.toString("latin1", VERSION.length + 1, HEAD - 1));
  const header = parseHeader(bytes.toString("utf8", HEAD, HEAD + length));
  if (header === null) return null;
  const { entries, folders, texts, kept, targets, ...rest } = header;
  let at = HEAD + length;
  const take = (size: number) => {
    at += size;
    return at - size;
  };
  const sizes = kept.flatMap((one) => one.sizes);
  const whole = entries * (WIDTH * 8 + DIGEST) + (folders + 1) * 4 + texts[0] + texts[1];
  if (bytes.length !== sizes.reduce((sum, size) => sum + size, at + whole)) return null;
  const stats = new BigInt64Array(bytes.buffer, take(entries * WIDTH * 8), entries * WIDTH);
  const first = new Uint32Array(bytes.buffer, take((folders + 1) * 4), folders + 1);
  const digests = bytes.subarray(take(entries * DIGEST), at);
  const table: TreeTable = {
    stats,
    first,
    digests,
    folders: bytes.toString("utf8", take(texts[0]), at).split("\n\0"),
    names: bytes.toString("utf8", take(texts[1]), at).split("\n\0"),
    targets: new Map(targets),
  };
  const trees = kept.map(({ key, sizes: [tree, manifest, inputs], ...more }) => {
    const [a, b, c] = [tree, manifest, inputs].map((size) => bytes.toString("latin1", take(size), at));
    return [key, { ...more, tree: a!, manifest: b!, inputs: c! }] as const;
  });
  if (table.folders.length !== folders || table.names.length !== folders) return null;
  return { ...rest, table, kept: new Map(trees) };
}

function parseHeader(text: string): Header | null {
  try {
    return JSON.parse(text) as Header;
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return null;
    throw thrown;
  }
}

/** A whole file in memory that threads can share, or null. */
function readShared(place: string): Buffer | null {
  let fd: number;
  try {
    fd = openSync(place, "r");
  } catch (thrown) {
    if (errnoCode(thrown) === "ENOENT") return null;
    throw thrown;
  }
  try {
    const bytes = Buffer.from(new SharedArrayBuffer(fstatSync(fd).size));
    let got = 0;
    while (got < bytes.length) {
      const count = readSync(fd, bytes, got, bytes.length - got, null);
      if (count === 0) return null;
      got += count;
    }
    return bytes;
  } finally {
    closeSync(fd);
  }
}
