import { compareCodePoints, encodeUtf8 } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { ContentStore } from "../../../core/ports.ts";
import type { ViewWrite, WrittenPath } from "../ports.ts";

const LENGTH_BYTES = 4;

/**
 * The writes that make a verification view: the base first, then the candidate, whose word is the last for a path. What
 * has to go comes first and from the inside out, so that a file can take the place of a folder and the other way round.
 */
export function planWrites(freeze: readonly ViewWrite[], candidate: readonly ViewWrite[]): readonly ViewWrite[] {
  const last = new Map([...freeze, ...candidate].map((write) => [write.path, write]));
  const all = [...last.values()].sort((a, b) => compareCodePoints(a.path, b.path));
  const gone = all.filter(({ mode }) => mode === null).reverse();
  return [...gone, ...all.filter(({ mode }) => mode !== null)];
}

/** What was read back must be what was to be written, path by path, or throws VERIFY_VIEW_MISMATCH. */
export function checkWritten(planned: readonly ViewWrite[], written: readonly WrittenPath[]): void {
  const found = new Map(written.map((one) => [one.path, one]));
  for (const wanted of planned) {
    const there = found.get(wanted.path);
    if (there !== undefined && describe(there) === describe(wanted)) continue;
    throw mismatch(
      wanted.path,
      `${describe(wanted)} was written, ${there === undefined ? "nothing" : describe(there)} found`,
    );
  }
}

function describe(write: WrittenPath): string {
  if (write.mode === null) return "nothing";
  if (write.mode === "other") return "a special file";
  return write.mode === "120000" ? `a link to ${write.target}` : `${write.mode} ${write.sha256}`;
}

function mismatch(path: string, why: string): VerbatimError {
  return new VerbatimError("VERIFY_VIEW_MISMATCH", {
    message: `the verification view does not contain the candidate at ${path}: ${why}`,
    where: path,
    details: { path },
  });
}

/** The list as the gate runner reads it; bytes come from the content store, one file at a time. */
export async function* encodeWrites(
  writes: readonly ViewWrite[],
  content: Pick<ContentStore, "get">,
): AsyncGenerator<Uint8Array, void, void> {
  for (const write of writes) {
    if (write.mode === null || write.mode === "120000") {
      yield frame(write);
      continue;
    }
    const bytes = await content.get(write.sha256);
    yield frame({ path: write.path, mode: write.mode, size: bytes.length });
    if (bytes.length > 0) yield bytes;
  }
  yield new Uint8Array(LENGTH_BYTES);
}

function frame(value: object): Uint8Array {
  const text = encodeUtf8(JSON.stringify(value));
  const bytes = new Uint8Array(LENGTH_BYTES + text.length);
  new DataView(bytes.buffer).setUint32(0, text.length);
  bytes.set(text, LENGTH_BYTES);
  return bytes;
}
