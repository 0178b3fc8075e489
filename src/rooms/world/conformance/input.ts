import type { JsonObject, JsonValue } from "../../../core/canonical/index.ts";
import { given } from "../../../core/conformance-input.ts";
import { fromHex } from "../../../core/hex.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import type { LedgerEntry } from "../contracts/context.ts";
import type { View } from "../knowledge/gate.ts";
import type { Cast } from "../people/cast.ts";
import type { Graphemes, Zones } from "../ports.ts";

/** What the areas of the room need besides their input. */
export interface WorldAreaPorts {
  readonly crypto: SyncCrypto;
  readonly zones: Zones;
  readonly graphemes: Graphemes;
}

/** One area: a vector's input and what it must answer. */
export type Area = (input: JsonObject, ports: WorldAreaPorts) => JsonValue | Promise<JsonValue>;

/** The people and settings of a vector's world. */
export function readCast(input: JsonObject): Cast {
  const world = given<
    Omit<Cast, "people"> & {
      readonly people: Readonly<Record<string, string>>;
    }
  >(input["world"]);
  return { ...world, people: new Map(Object.entries(world.people)) };
}

/** The view of a vector. */
export function readView(input: JsonObject): View {
  return given<View>(input["view"]);
}

/** The ledger of a vector. */
export function readEntries(input: JsonObject, name = "entries"): readonly LedgerEntry[] {
  return given<readonly LedgerEntry[]>(input[name] ?? []);
}

/** The key of a vector's world. */
export function readKey(input: JsonObject) {
  return { world_id: String(input["world_id"]), key: fromHex(String(input["world_key_hex"])) ?? new Uint8Array() };
}
