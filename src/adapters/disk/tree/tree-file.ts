import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, mkdirSync, openSync, readSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { errnoCode } from "../../../core/errors/system.ts";
import type { KeptFiles } from "../durable/kept-files.ts";
import { PRIVATE_FILE, PRIVATE_FOLDER } from "../guarded/private-modes.ts";
import { DIGEST, type Hidden, type TreeTable, toRows, WIDTH } from "./tree-table.ts";

const VERSION = "verbatim-tree-3";
const ID = 32;
/** Version line, a line with the id, then the length of the header in ten digits. */
const HEAD = VERSION.length + 1 + ID + 1 + 10 + 1;
const ROW = 64;

/** Where the parts of a table are in its file, for a reader outside Node. */
export interface TableSource {
  /** The open file as other processes can reach it, whatever is at its place by then. */
  readonly place: string;
  /** Another file has another one. */
  readonly id: string;
  /** When the look began whose table this is, in milliseconds since 1970. */
  readonly taken: number;
  readonly entries: number;
  readonly folders: number;
  readonly at: {
    readonly id: number;
    readonly rows: number;
    readonly first: number;
    readonly dirs: number;
    readonly ends: number;
    readonly texts: number;
    readonly folder_size: number;
    readonly name_size: number;
  };
}

/** What a file says about a tree besides its table. */
interface TreeFacts {
  /** Whatever the answers depend on besides the tree: another one, and nothing of this is used. */
  readonly context: string;
  readonly root: string;
  readonly hidden: Hidden;
  readonly taken: number;
  /** The stat of the root itself, packed. */
  readonly top: string;
  /** What was made of the tree, by the rules it was made with. */
  readonly kept: Readonly<Record<string, KeptFiles>>;
  /** Files that were too fresh to be sure of what was made of them. */
  readonly unsure: readonly string[];
  readonly notes: Readonly<Record<string, string>>;
}

/** A table as it was kept. It stays readable when another takes its place, until it is closed. */
export interface TreeFile extends TreeFacts {
  readonly source: TableSource;
  load(): TreeTable;
  /** The table of the root and what is directly in it. */
  loadTop(): TreeTable;
  close(): void;
}

interface Header extends TreeFacts {
  readonly entries: number;
  readonly folders: number;
  readonly targets: readonly (readonly [number, string])[];
  readonly texts: readonly [folders: number, names: number];
}

/** Writes a table next to its place and renames it. It is a cache: losing it costs time, so it is not made durable. */
export function writeTreeFile(place: string, facts: TreeFacts, table: TreeTable): TreeFile {
  const folders = table.folders.map((path) => Buffer.from(path));
  const names = table.names.map((list) => Buffer.from(list));
  const ends = Uint32Array.from([...endsOf(folders), ...endsOf(names)]);
  const header: Header = {
    ...facts,
    entries: table.stats.length / WIDTH,
    folders: folders.length,
    targets: [...table.targets],
    texts: [sizeOf(folders), sizeOf(names)],
  };
  const head = Buffer.from(JSON.stringify(header));
  const id = randomBytes(ID / 2).toString("hex");
  // Numbers are read in place, so they must be at a multiple of eight.
  const pad = Buffer.alloc((8 - ((HEAD + head.length) % 8)) % 8, " ");
  const length = String(head.length + pad.length).padStart(10, "0");
  const temporary = `${place}.${id}.tmp`;
  mkdirSync(dirname(place), { recursive: true, mode: PRIVATE_FOLDER });
  const fd = openSync(temporary, "w+", PRIVATE_FILE);
  try {
    const { rows, dirs } = toRows(table);
    const parts = [Buffer.from(`${VERSION}\n${id}\n${length}\n`), head, pad, table.stats, rows, table.digests];
    for (const part of [...parts, table.first, dirs, ends, Buffer.concat(folders), Buffer.concat(names)]) {
      writeAll(fd, Buffer.from(part.buffer, part.byteOffset, part.byteLength));
    }
    renameSync(temporary, place);
  } catch (thrown) {
    closeSync(fd);
    rmSync(temporary, { force: true });
    throw thrown;
  }
  return toFile(fd, id, HEAD + head.length + pad.length, header);
}

function endsOf(texts: readonly Buffer[]): number[] {
  let end = 0;
  return texts.map((text) => {
    end += text.length;
    return end;
  });
}

function sizeOf(texts: readonly Buffer[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
}

function toFile(fd: number, id: string, start: number, header: Header): TreeFile {
  const { context, root, hidden, taken, top, kept, unsure, notes } = header;
  const source = toSource(fd, id, start, header);
  let isOpen = true;
  return {
    ...{ context, root, hidden, taken, top, kept, unsure, notes, source },
    load: () => loadTable(fd, source, header, start),
    loadTop: () => loadTop(fd, source, header, start),
    close() {
      if (isOpen) closeSync(fd);
      isOpen = false;
    },
  };
}

function toSource(fd: number, id: string, start: number, header: Header): TableSource {
  const { entries, folders, taken, texts } = header;
  const rows = start + entries * WIDTH * 8;
  const first = rows + entries * (ROW + DIGEST);
  const dirs = first + (folders + 1) * 4;
  const ends = dirs + folders * 4;
  const at = { id: VERSION.length + 1, rows, first, dirs, ends, texts: ends + folders * 8 };
  const place = `/proc/${process.pid}/fd/${fd}`;
  return { place, id, taken, entries, folders, at: { ...at, folder_size: texts[0], name_size: texts[1] } };
}

/** Opens what was kept, or null when there is nothing or it is not whole. */
export function openTreeFile(place: string): TreeFile | null {
  let fd: number;
  try {
    fd = openSync(place, "r");
  } catch (thrown) {
    if (errnoCode(thrown) === "ENOENT") return null;
    throw thrown;
  }
  const file = readFacts(fd);
  if (file === null) closeSync(fd);
  return file;
}

function readFacts(fd: number): TreeFile | null {
  const head = readPart(fd, 0, HEAD)?.toString("latin1");
  if (head === undefined || !head.startsWith(`${VERSION}\n`)) return null;
  const id = head.slice(VERSION.length + 1, VERSION.length + 1 + ID);
  const length = Number(head.slice(HEAD - 11, HEAD - 1));
  const header = parseHeader(readPart(fd, HEAD, length));
  if (header === null) return null;
  const file = toFile(fd, id, HEAD + length, header);
  const { texts, folder_size, name_size } = file.source.at;
  return fstatSync(fd).size === texts + folder_size + name_size ? file : null;
}

function loadTable(fd: number, source: TableSource, { targets }: Header, start: number): TreeTable {
  const { entries, folders, at } = source;
  const bytes = readPart(fd, 0, at.texts + at.folder_size + at.name_size);
  if (bytes === null) throw new Error("a tree file is shorter than it was");
  const ends = new Uint32Array(bytes.buffer, at.ends, folders * 2);
  const split = (from: number, first: number) =>
    Array.from({ length: folders }, (_, i) =>
      bytes.toString("utf8", from + (i === 0 ? 0 : ends[first + i - 1]!), from + ends[first + i]!),
    );
  return {
    stats: new BigInt64Array(bytes.buffer, start, entries * WIDTH),
    first: new Uint32Array(bytes.buffer, at.first, folders + 1),
    digests: bytes.subarray(at.rows + entries * ROW, at.first),
    folders: split(at.texts, 0),
    names: split(at.texts + at.folder_size, folders),
    targets: new Map(targets),
  };
}

function loadTop(fd: number, { folders, at }: TableSource, { targets }: Header, start: number): TreeTable {
  const take = (from: number, size: number) => {
    const bytes = readPart(fd, from, size);
    if (bytes === null) throw new Error("a tree file is shorter than it was");
    return bytes;
  };
  const first = new Uint32Array(take(at.first, 8).buffer, 0, 2);
  const count = first[1]!;
  const end = take(at.ends + folders * 4, 4).readUInt32LE(0);
  return {
    stats: new BigInt64Array(take(start, count * WIDTH * 8).buffer, 0, count * WIDTH),
    first,
    digests: new Uint8Array(count * DIGEST),
    folders: [""],
    names: [take(at.texts + at.folder_size, end).toString("utf8")],
    targets: new Map(targets.filter(([entry]) => entry < count)),
  };
}

function parseHeader(bytes: Buffer | null): Header | null {
  if (bytes === null) return null;
  try {
    return JSON.parse(bytes.toString("utf8")) as Header;
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return null;
    throw thrown;
  }
}

/** Part of a file in memory that threads can share, or null when there is not so much. */
function readPart(fd: number, from: number, size: number): Buffer | null {
  if (!Number.isSafeInteger(size) || fstatSync(fd).size < from + size) return null;
  const bytes = Buffer.from(new SharedArrayBuffer(size));
  let got = 0;
  while (got < size) {
    const count = readSync(fd, bytes, got, size - got, from + got);
    if (count === 0) return null;
    got += count;
  }
  return bytes;
}
