import { copyFileSync, existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Run } from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { outputFile, outputFolder, outputPart, partBegins, type Stream } from "./output-log.ts";

/** Bytes of a stream by their place in all that was printed. */
export interface RecordedRange {
  readonly bytes: Buffer;
  /** Where they begin; later than what was asked for where that is no longer kept. */
  readonly first: number;
  /** Bytes of the whole stream as far as it was printed. */
  readonly size: number;
}

/** At most so many bytes of a stream from a place on, without a gap among them; null: there is no such stream. */
export function readRecorded(
  outside: Pick<AgentPorts, "readPart">,
  { folder }: Pick<Run, "folder">,
  n: number,
  stream: Stream,
  from: number,
  most: number,
): RecordedRange | null {
  // A part that makes room while it is looked for is gone the next time.
  for (let tries = 0; ; tries++) {
    const pieces = listPieces(outside, folder.dir, n, stream);
    if (pieces === null) return null;
    const size = Math.max(...pieces.map((piece) => piece.from + piece.size));
    const at = pieces.findIndex((piece) => from < piece.from + piece.size);
    const begin = pieces[at];
    if (begin === undefined) return { bytes: Buffer.alloc(0), first: size, size };
    const first = Math.max(from, begin.from);
    const found: Buffer[] = [];
    let next = first;
    for (const piece of pieces.slice(at)) {
      if (piece.from > next || next - first >= most) break;
      const part = outside.readPart(folder.dir, piece.file, next - piece.from, most - (next - first));
      if (part === null) break;
      found.push(part.bytes);
      next += part.bytes.length;
    }
    if (next > first || tries > 2) return { bytes: Buffer.concat(found), first, size: Math.max(size, next) };
  }
}

interface Piece {
  readonly file: string;
  readonly from: number;
  readonly size: number;
}

/** The files of a stream in their order. */
function listPieces(outside: Pick<AgentPorts, "readPart">, dir: string, n: number, stream: Stream): Piece[] | null {
  const names = listParts(dir, n, stream).map((from) => ({ file: outputPart(n, stream, from), from }));
  const pieces = [{ file: outputFile(n, stream), from: 0 }, ...names].flatMap(({ file, from }): Piece[] => {
    const size = outside.readPart(dir, file, 0, 0)?.size;
    return size === undefined ? [] : [{ file, from, size }];
  });
  return pieces.length === 0 ? null : pieces;
}

/** Where the later parts of a stream begin. */
function listParts(dir: string, n: number, stream: Stream): number[] {
  const folder = join(dir, outputFolder(n));
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.flatMap((name) => partBegins(name, stream) ?? []).sort((a, b) => a - b);
}

/** Every file that holds what an attempt printed. */
export function listOutputFiles({ folder }: Pick<Run, "folder">, n: number, stream: Stream): string[] {
  const parts = listParts(folder.dir, n, stream).map((from) => outputPart(n, stream, from));
  return [outputFile(n, stream), ...parts];
}

/**
 * The recorded log of an ended attempt in place of what was written down meanwhile, where it has all of it. Of what became too
 * long that one has only the beginning, and what was written down has the newest as well.
 */
export function takeRecorded({ folder }: Pick<Run, "folder">, n: number, stream: Stream, recorded: string): void {
  if (!existsSync(recorded)) return;
  const parts = listParts(folder.dir, n, stream);
  const head = join(folder.dir, outputFile(n, stream));
  const [first] = parts;
  // A part that made room has left a gap behind the first file.
  if (first !== undefined && (statSync(head, { throwIfNoEntry: false })?.size ?? 0) < first) return;
  copyFileSync(recorded, head);
  for (const from of parts) rmSync(join(folder.dir, outputPart(n, stream, from)));
}
