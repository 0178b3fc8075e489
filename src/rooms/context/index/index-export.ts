import { encodeUtf8 } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import type { ContextStore } from "../ports.ts";
import { sealOf } from "../sections/code-outline.ts";
import { formatSectionLines } from "../sections/section-index.ts";
import { hashOf } from "./index-image.ts";
import { parseRow, requireStored, type Stored, toVersion } from "./index-view.ts";

interface ExportPorts {
  readonly store: ContextStore;
  readonly crypto: SyncCrypto;
}

const PAGE = 256;

/** SECTION_INDEX of an index in chunks of whole lines. What was hashed when it was built must come out again. */
export async function* exportIndex(ports: ExportPorts, stored?: Stored): AsyncIterable<string> {
  const { facts, image } = stored ?? (await requireStored(ports.store));
  const hasher = ports.crypto.hasher();
  hasher.update(sealOf(facts.rules, image.paths));
  for (let at = 0; at < image.paths.length; at += PAGE) {
    const lines = await readLines(ports, { facts, image }, at, Math.min(image.paths.length, at + PAGE));
    hasher.update(lines);
    yield lines;
  }
  if (hasher.digest() !== facts.index_hash) {
    throw new VerbatimError("STORE_CORRUPT", {
      message: "the stored index does not match its hash",
      fix: { cli: "Build the index again: verbatim index build --full", others: "Build the whole index again." },
    });
  }
}

async function readLines(
  { store, crypto }: ExportPorts,
  { facts, image }: Stored,
  from: number,
  to: number,
): Promise<string> {
  return store.read(async ({ context }) => {
    let text = "";
    for (let i = from; i < to; i++) {
      const path = image.paths[i]!;
      const row = await context.file(toVersion(path, hashOf(image, i), facts.rules));
      if (row === null) throw explainMissing(facts.revision, (await context.facts())?.revision);
      text += formatSectionLines(parseRow(crypto, path, row).sections);
    }
    return text;
  });
}

function explainMissing(started: number, now: number | undefined): VerbatimError {
  if (started !== now)
    return new VerbatimError("INDEX_BUSY", { message: "the index was rebuilt while it was being written" });
  const fix = { cli: "verbatim index build --full", others: "Build the whole index again." };
  return new VerbatimError("STORE_CORRUPT", { message: "stored sections are missing", fix });
}

/** The same as bytes, for a file. */
export async function* exportBytes(ports: ExportPorts, stored: Stored): AsyncIterable<Uint8Array> {
  for await (const lines of exportIndex(ports, stored)) yield encodeUtf8(lines);
}
