import { z } from "zod";
import { defineRecords } from "../../../core/contracts/records.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { LOCAL_SURFACES } from "../../../core/operation.ts";
import type { LedgerReader } from "../../../core/ports.ts";
import { WORLD_RECORDS } from "../contracts/records.ts";
import { readRecords } from "../history/lineage.ts";
import type { WorldPorts, WorldReadTransaction, WorldWriteTransaction } from "../operations/ports.ts";
import type { Settings } from "../settings.ts";
import type { WriterDown } from "./failures.ts";
import { DEFAULT_ADDRESS, listWriters, type WriterSettings } from "./writer-settings.ts";

/** A variable with a key, and the only origin it may be sent to. */
export interface WriterPair {
  readonly variable: string;
  readonly origin: string;
}

const PAIR_RECORDS = defineRecords({ WRITER_PAIRED: z.object({ variable: z.string(), origin: z.string() }) });
const STREAM = "world/_writers";
const PAGE = 500;
/** What Verbatim itself is set up with is nobody else's key. */
const OWN = /^VERBATIM_/i;

/** The pair of a writer; null for one without a key. */
export function pairOf(writer: WriterSettings): WriterPair | null {
  if (writer.kind === "scripted" || writer.api_key_env === null) return null;
  const address = writer.base_url ?? DEFAULT_ADDRESS[writer.kind];
  return { variable: writer.api_key_env, origin: URL.canParse(address) ? new URL(address).origin : address };
}

/**
 * Pairs the keys of new settings with where they are sent. Only whoever may type commands names a new pair; anybody
 * else could have a key sent to an address of their own.
 */
export async function pairWriters(
  ports: Pick<WorldPorts, "actor">,
  tx: WorldWriteTransaction,
  settings: Settings,
  before: Settings | null,
): Promise<void> {
  const old = before === null ? [] : listWriters(before).map(({ writer }) => pairOf(writer));
  for (const { writer, where } of listWriters(settings)) {
    const pair = pairOf(writer);
    if (pair === null) continue;
    if (OWN.test(pair.variable)) throw forbidden(`${pair.variable} is a setting of Verbatim and never a key`, where);
    if (await isPaired(tx.ledger, pair)) continue;
    if (isTyped(ports.actor)) {
      await tx.ledger.append(STREAM, "next", [PAIR_RECORDS.make("WRITER_PAIRED", ports.actor, { ...pair })]);
    } else if (!old.some((one) => one !== null && isSame(one, pair))) {
      throw forbidden(`the key in ${pair.variable} is not paired with ${pair.origin}`, where);
    }
  }
}

/** What a beat says of a key that may not be sent. */
export function toForbidden({ variable, origin }: WriterPair): WriterDown {
  return { code: "WRITER_PAIR_FORBIDDEN", message: `the key in ${variable} is not paired with ${origin}` };
}

function forbidden(message: string, where: string): VerbatimError {
  return new VerbatimError("WRITER_PAIR_FORBIDDEN", { message, where: `${where}/api_key_env` });
}

/** Whether a key may be sent. A world of an earlier version says so itself, where its own owner typed the pair. */
export async function mayBeSent(
  ports: Pick<WorldPorts, "store">,
  worldId: string | null,
  pair: WriterPair,
): Promise<boolean> {
  if (OWN.test(pair.variable)) return false;
  return ports.store.read(
    async (tx) => (await isPaired(tx.ledger, pair)) || (worldId !== null && (await wasTyped(tx, worldId, pair))),
  );
}

async function isPaired(ledger: LedgerReader, pair: WriterPair): Promise<boolean> {
  for (let from = 0; ; from += PAGE) {
    const page = await ledger.readStream(STREAM, from, PAGE);
    if (page.some((entry) => isSame(PAIR_RECORDS.read(entry).body, pair))) return true;
    if (page.length < PAGE) return false;
  }
}

/** Records that came with an import were not written here and count for nothing. */
async function wasTyped(tx: WorldReadTransaction, worldId: string, pair: WriterPair): Promise<boolean> {
  const records = await readRecords(tx.ledger, worldId);
  for (const { kind, body, entry } of records) {
    if (!isTyped(entry.actor)) continue;
    const record = WORLD_RECORDS.check(kind, body);
    if (typeof record === "string" || !("settings" in record.body)) continue;
    const { settings } = record.body;
    if (listWriters(settings).some(({ writer }) => isPairOf(writer, pair))) return true;
  }
  const first = records[0]?.kind === "WORLD_FORKED" ? WORLD_RECORDS.check("WORLD_FORKED", records[0].body) : "";
  if (typeof first === "string" || first.kind !== "WORLD_FORKED" || first.body.source_sha256 !== null) return false;
  return wasTyped(tx, first.body.parent_world_id, pair);
}

function isPairOf(writer: WriterSettings, pair: WriterPair): boolean {
  const own = pairOf(writer);
  return own !== null && isSame(own, pair);
}

function isSame(a: WriterPair, b: WriterPair): boolean {
  return a.variable === b.variable && a.origin === b.origin;
}

function isTyped(actor: string): boolean {
  return LOCAL_SURFACES.some((surface) => surface === actor);
}
