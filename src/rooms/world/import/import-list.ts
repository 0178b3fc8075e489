import { z } from "zod";
import { isJsonObject, type JsonObject, parseJson } from "../../../core/canonical/index.ts";
import type { LedgerReader } from "../../../core/ports.ts";
import { readAncestors, toRecord } from "../history/lineage.ts";
import { streamOf } from "../history/state.ts";
import type { WorldPorts } from "../operations/ports.ts";

/** What a record says of its import; those of the first rules leave most of it out. */
const said = z.object({
  version: z.string().default(""),
  source_sha256: z.string(),
  people: z.array(z.object({ person_id: z.string(), display_name: z.string() })).default([]),
  not_imported: z.array(z.string()).default([]),
  lost: z.array(z.object({ what: z.string(), count: z.int(), where: z.string() })).default([]),
});

/** A file that was imported into a world or into one it was forked from, numbered from 1. */
export interface ListedImport extends Omit<z.infer<typeof said>, "version"> {
  readonly number: number;
  readonly format: string;
  readonly entries: number;
}

const PAGE = 200;

/** Imports that a world got from its ancestors; what is in files of exports is read there. */
export async function readImportsBefore(
  ports: Pick<WorldPorts, "store" | "content">,
  worldId: string,
): Promise<readonly JsonObject[]> {
  const [first] = await ports.store.read((tx) => tx.ledger.readStream(streamOf(worldId), 0, 1));
  if (first?.kind !== "WORLD_FORKED") return [];
  const ancestors = await readAncestors(ports, toRecord(first, worldId, null));
  return ancestors.filter(({ kind }) => kind === "WORLD_IMPORTED").map(({ body }) => body);
}

/** The imports of a world, oldest first. */
export async function listImports(
  ports: Pick<WorldPorts, "store" | "content">,
  worldId: string,
): Promise<readonly ListedImport[]> {
  const before = await readImportsBefore(ports, worldId);
  const own = await ports.store.read((tx) => readOwn(tx.ledger, worldId));
  return number([...before, ...own]);
}

/** The number of the import of these bytes; null where there is none. */
export async function findImport(
  ledger: LedgerReader,
  worldId: string,
  before: readonly JsonObject[],
  source: string,
): Promise<number | null> {
  const known = number([...before, ...(await readOwn(ledger, worldId))]);
  return known.find(({ source_sha256 }) => source_sha256 === source)?.number ?? null;
}

async function readOwn(ledger: LedgerReader, worldId: string): Promise<JsonObject[]> {
  const bodies: JsonObject[] = [];
  let below: number | undefined;
  for (;;) {
    const page = await ledger.browse({
      streams: [streamOf(worldId)],
      kinds: ["WORLD_IMPORTED"],
      limit: PAGE,
      ...(below === undefined ? {} : { before: below }),
    });
    for (const { entry } of page) bodies.push(parseJson(entry.body) as JsonObject);
    if (page.length < PAGE) return bodies.reverse();
    below = page.at(-1)!.index;
  }
}

/** Several records of one file are one import. */
function number(bodies: readonly JsonObject[]): ListedImport[] {
  const imports: ListedImport[] = [];
  for (const body of bodies) {
    const { part } = body;
    const entries = countEntries(body);
    const last = imports.at(-1);
    if (isJsonObject(part) && part["number"] !== 1 && last !== undefined) {
      imports[imports.length - 1] = { ...last, entries: last.entries + entries };
      continue;
    }
    const { version: format, ...rest } = said.parse(body);
    imports.push({ number: imports.length + 1, format, entries, ...rest });
  }
  return imports;
}

function countEntries({ write_bundle }: JsonObject): number {
  const entries = isJsonObject(write_bundle) ? write_bundle["entries"] : null;
  return Array.isArray(entries) ? entries.length : 0;
}
