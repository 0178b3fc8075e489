import { type JsonObject, sortedUnique } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { ContentStore, SyncCrypto } from "../../../core/ports.ts";
import type { ReceiptRow, StepRow } from "../ports.ts";
import { toArtifactId } from "./bundle-hash.ts";
import { toArtifactPath } from "./bundle-paths.ts";

/** Where the files of a bundle go, one by one. */
export interface BundleSink {
  write(path: string, bytes: Uint8Array): Promise<void>;
}

/** A committed step and its receipt. */
export interface FinishedStep {
  readonly row: StepRow;
  readonly receipt: ReceiptRow;
}

interface Artifact extends JsonObject {
  artifact_id: string;
  sha256: string;
  bytes: number;
}

const LINE_FEED = 0x0a;

/** What an artifact will hold: a pair of ref and slice, and the content that the receipts name for it. */
interface Source {
  readonly kind: "SYMBOL_SLICE" | "SECTION_SLICE";
  readonly ref: string;
  readonly slice: string;
  readonly content_hash: string;
  readonly size: number;
}

// Durable writes wait for the disk, so several are under way; contents that are not small go one by one.
const WRITTEN_AT_ONCE = 8;
const SMALL = 256 * 1024;

/** One artifact for each pair of ref and slice, in order of their ids. */
export async function writeArtifacts(
  ports: { readonly content: ContentStore; readonly crypto: SyncCrypto },
  reads: readonly FinishedStep[],
  sink: BundleSink,
): Promise<Artifact[]> {
  const sources = await findSources(ports.crypto, reads);
  const made = new Map<string, Artifact>();
  const write = async ([artifact_id, { kind, ref, slice, content_hash }]: readonly [string, Source]) => {
    const bytes = withNewline(await ports.content.get(content_hash));
    const path = toArtifactPath(artifact_id);
    await sink.write(path, bytes);
    const sha256 = ports.crypto.sha256(bytes);
    made.set(artifact_id, { artifact_id, kind, ref, slice, path, sha256, bytes: bytes.length });
  };
  const small = [...sources].filter(([, { size }]) => size <= SMALL);
  const writeRest = async () => {
    for (let one = small.pop(); one !== undefined; one = small.pop()) await write(one);
  };
  const ends = await Promise.allSettled(
    Array.from({ length: WRITTEN_AT_ONCE }, () => writeRest().finally(() => small.splice(0))),
  );
  // Nobody writes any more when the folder is cleared away after a failure.
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  for (const one of sources) if (one[1].size > SMALL) await write(one);
  return sortedUnique(made.keys()).map((id) => made.get(id)!);
}

/** Every pair once, by the id of its artifact. */
async function findSources(crypto: SyncCrypto, reads: readonly FinishedStep[]): Promise<Map<string, Source>> {
  const sources = new Map<string, Source>();
  for (const { row, receipt } of reads) {
    const { symbol_or_section_id: ref, slice, content_hash } = receipt.receipt.expanded[0]!;
    const artifact_id = await toArtifactId(crypto, ref, slice);
    const known = sources.get(artifact_id);
    if (known === undefined) {
      const kind = row.step.op === "READ_SYMBOL" ? "SYMBOL_SLICE" : "SECTION_SLICE";
      sources.set(artifact_id, { kind, ref, slice, content_hash, size: row.resolved.bytes ?? 0 });
    } else if (known.ref !== ref || known.slice !== slice) throw collision(artifact_id, known, ref, slice);
    else if (known.content_hash !== content_hash) {
      throw new VerbatimError("BUNDLE_CONTENT_CONFLICT", { details: { ref, slice } });
    }
  }
  return sources;
}

function collision(artifact_id: string, known: Source, ref: string, slice: string): VerbatimError {
  const pairs = [
    { ref: known.ref, slice: known.slice },
    { ref, slice },
  ];
  return new VerbatimError("BUNDLE_ARTIFACT_ID_COLLISION", { details: { artifact_id, pairs } });
}

// Bundle Protocol 3.3: one line feed is appended when there is none.
function withNewline(content: Uint8Array): Uint8Array {
  if (content.at(-1) === LINE_FEED) return content;
  const bytes = new Uint8Array(content.length + 1);
  bytes.set(content);
  bytes[content.length] = LINE_FEED;
  return bytes;
}
