import { z } from "zod";
import { parseJson } from "../canonical/index.ts";
import { VerbatimError } from "../errors/index.ts";
import { defineOperation, LOCAL_SURFACES, READER } from "../operation.ts";
import type { LedgerReader } from "../ports.ts";
import { BROWSE_OPERATIONS } from "./browse-operations.ts";
import { ledgerCheckpoint } from "./checkpoint-operation.ts";
import { formatEntry } from "./entry.ts";
import { type LedgerPorts, MAX_FILE } from "./operation-ports.ts";
import { parseProof } from "./proof.ts";
import { verifyConsistency, verifyInclusion } from "./proof-check.ts";
import { proveConsistency, proveInclusion } from "./prove.ts";
import { ledgerVerify } from "./verify-operation.ts";

const PAGE = 512;
const count = z.int().min(0);
const hash = z.string().regex(/^[0-9a-f]{64}$/);
const stream = z.string().min(1);

const entrySchema = z.strictObject({
  index: count.describe("Global index over all streams."),
  stream,
  position: count,
  previous: hash,
  kind: z.string(),
  time: z.string(),
  actor: z.string(),
  body: z.unknown().describe("The body of the entry, any JSON value."),
  body_hash: hash,
  hash,
});

export const ledgerShow = defineOperation({
  name: "ledger.show",
  summary: "Shows the ledger entries of one stream, or of all.",
  effect: "read",
  who: READER,
  input: z.strictObject({
    stream: stream.optional().describe("Only this stream; positions are used instead of global indexes."),
    from: count.default(0).describe("First position of the stream, or first global index."),
    limit: z.int().min(1).max(1000).default(50).describe("Maximum number of entries."),
  }),
  output: z.strictObject({ total: count, entries: z.array(entrySchema) }),
  run: async ({ store }: LedgerPorts, input) =>
    store.read(async ({ ledger }) => {
      const total = await ledger.size();
      const found = await readEntries(ledger, input.stream, input.from, input.limit);
      return {
        total,
        entries: found.map(({ index, entry }) => ({ ...entry, index, body: parseJson(entry.body) })),
      };
    }),
});

async function readEntries(ledger: LedgerReader, name: string | undefined, from: number, limit: number) {
  if (name === undefined) return ledger.readAll(from, limit);
  const entries = await ledger.readStream(name, from, limit);
  return Promise.all(
    entries.map(async (entry) => ({ entry, index: (await ledger.findByHash(entry.hash))?.index ?? 0 })),
  );
}

export const ledgerExport = defineOperation({
  name: "ledger.export",
  summary: "Writes entries as canonical JSON Lines, in global order or in the order of one stream.",
  effect: "read",
  who: READER,
  input: z.strictObject({ stream: stream.optional().describe("Only this stream.") }),
  output: z.strictObject({ entries: count }),
  run: async ({ store }: LedgerPorts, input) =>
    store.read(async ({ ledger }) => {
      if (input.stream === undefined) return { entries: await ledger.size() };
      return { entries: ((await ledger.head(input.stream))?.position ?? -1) + 1 };
    }),
  async *lines({ store }: LedgerPorts, input) {
    // Each page is its own read: entries are never changed, so pages fit together however long the export takes.
    for (let next = 0; ; ) {
      const page = await store.read(({ ledger }) =>
        input.stream === undefined
          ? ledger.readAll(next, PAGE).then((found) => found.map(({ entry }) => entry))
          : ledger.readStream(input.stream, next, PAGE),
      );
      for (const entry of page) yield formatEntry(entry);
      if (page.length < PAGE) return;
      next += page.length;
    }
  },
});

const inclusionProof = z.strictObject({
  entry_hash: hash,
  index: count,
  tree_size: count,
  path: z.array(hash),
  root_hash: hash,
});
const consistencyProof = z.strictObject({
  first_size: count,
  second_size: count,
  first_root: hash,
  second_root: hash,
  path: z.array(hash),
});

export const ledgerProve = defineOperation({
  name: "ledger.prove",
  summary: "Proves that an entry is in the ledger.",
  effect: "read",
  who: READER,
  input: z.strictObject({
    entry: hash.describe("Hash of the entry."),
    size: z.int().min(1).optional().describe("Size of the tree to prove against (default: the whole ledger)."),
  }),
  output: inclusionProof,
  run: async ({ store, crypto }: LedgerPorts, input) =>
    store.read(async ({ ledger }) => {
      const found = await ledger.findByHash(input.entry);
      if (found === null) throw new VerbatimError("LEDGER_ENTRY_UNKNOWN", { details: { entry: input.entry } });
      const size = checkSize(input.size, await ledger.size());
      const hashes = (from: number, limit: number) => ledger.readHashes(from, limit);
      const proof = await proveInclusion(crypto, hashes, found.index, size);
      return { ...proof, path: [...proof.path] };
    }),
});

export const ledgerProveConsistency = defineOperation({
  name: "ledger.prove-consistency",
  summary: "Proves that the ledger only grew between two sizes.",
  effect: "read",
  who: READER,
  input: z.strictObject({
    from: count.describe("The smaller size."),
    to: count.optional().describe("The larger size (default: the whole ledger)."),
  }),
  output: consistencyProof,
  run: async ({ store, crypto }: LedgerPorts, input) =>
    store.read(async ({ ledger }) => {
      const to = checkSize(input.to, await ledger.size());
      const hashes = (from: number, limit: number) => ledger.readHashes(from, limit);
      const proof = await proveConsistency(crypto, hashes, checkSize(input.from, to), to);
      return { ...proof, path: [...proof.path] };
    }),
});

function checkSize(asked: number | undefined, most: number): number {
  const size = asked ?? most;
  if (size <= most) return size;
  throw new VerbatimError("LEDGER_RANGE_INVALID", {
    message: `the size ${size} is larger than ${most}`,
    details: { size, most },
  });
}

export const ledgerCheckProof = defineOperation({
  name: "ledger.check-proof",
  summary: "Checks a proof offline, without a ledger.",
  effect: "read",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({
    file: z.string().describe("File with the proof; - reads standard input."),
    root: hash.optional().describe("Root that the proof must lead to, for example from a signed checkpoint."),
  }),
  output: z.strictObject({
    ok: z.boolean(),
    kind: z.enum(["inclusion", "consistency"]),
    root_hash: hash,
    tree_size: count,
  }),
  async run({ files, crypto }: Pick<LedgerPorts, "files" | "crypto">, input) {
    const { kind, proof } = parseProof(
      parseJson(await files.read(input.file, MAX_FILE), { file: input.file }),
      input.file,
    );
    const valid = kind === "inclusion" ? await verifyInclusion(crypto, proof) : await verifyConsistency(crypto, proof);
    const root_hash = kind === "inclusion" ? proof.root_hash : proof.second_root;
    const tree_size = kind === "inclusion" ? proof.tree_size : proof.second_size;
    return { ok: valid && (input.root === undefined || input.root === root_hash), kind, root_hash, tree_size };
  },
});

/** All operations of the ledger. */
export const LEDGER_OPERATIONS = [
  ledgerShow,
  ledgerExport,
  ledgerVerify,
  ledgerCheckpoint,
  ledgerProve,
  ledgerProveConsistency,
  ledgerCheckProof,
  ...BROWSE_OPERATIONS,
] as const;
