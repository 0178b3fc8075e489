import { type OwnFix, VerbatimError } from "../../../core/errors/index.ts";
import { toHex } from "../../../core/hex.ts";
import { type NewWorldRecord, WORLD_RECORDS } from "../contracts/records.ts";
import type { WorldPorts, WorldWriteTransaction } from "../operations/ports.ts";
import { controlWorld } from "../people/control.ts";
import { type NewPerson, requireNewPerson } from "../people/people.ts";
import { type OpenWorld, openRow } from "../projection/reading.ts";
import { parseSettings, type Settings } from "../settings.ts";
import { parseWritten, toInstant } from "../time/instant.ts";
import { pairWriters } from "../writer/pairs.ts";
import { parseScript } from "../writer/scripted.ts";
import { appendRecord, writeRows } from "./commit.ts";
import { makeRows } from "./make-rows.ts";
import { makeOnce, type OnceKey } from "./once.ts";
import { formatState, streamOf } from "./state.ts";

const WORLD_ID = /^w_[a-z0-9][a-z0-9-]{0,62}$/;
const MINUTE = 60_000;

export interface NewWorld {
  readonly world_id: string | null;
  readonly start: string | null;
  readonly people: readonly NewPerson[];
  /** Title and whatever differs from the defaults. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** A world that is not there yet, checked. */
export interface PlannedWorld {
  readonly world_id: string;
  readonly body: NewWorldRecord<"WORLD_CREATED"> & { readonly settings: Settings };
}

/** Checks what a new world is to be. */
export function planWorld(ports: WorldPorts, wanted: NewWorld): PlannedWorld {
  const settings = parseSettings(ports.zones, { timezone: ports.system_zone, ...wanted.settings });
  if (settings.writer.script !== null) parseScript(settings.writer.script);
  const worldId = requireWorldId(wanted.world_id ?? toWorldId(settings.title));
  const clockMs =
    wanted.start === null
      ? Math.floor(ports.clock.now() / MINUTE) * MINUTE
      : toInstant(ports.zones, parseWritten(wanted.start, "/start", "optional"), settings.timezone, "/start");
  const people = new Map<string, string>();
  for (const [i, person] of wanted.people.entries()) {
    requireNewPerson({ operator_id: settings.operator_id, people }, person, `/people/${i}`);
    people.set(person.person_id, person.display_name);
  }
  const body = {
    world_id: worldId,
    world_key: toHex(ports.random.bytes(32)),
    settings,
    clock_ms: clockMs,
    people: wanted.people.map(({ person_id, display_name }) => ({ person_id, display_name })),
  };
  return { world_id: worldId, body };
}

/** Writes a planned world inside a transaction: its first record, its key, its people. */
export async function addWorld(
  ports: WorldPorts,
  tx: WorldWriteTransaction,
  { world_id, body }: PlannedWorld,
): Promise<OpenWorld> {
  // A stream without a world belongs to one that was deleted; its id is spent.
  if ((await tx.ledger.head(streamOf(world_id))) !== null) throw exists(world_id);
  await pairWriters(ports, tx, body.settings, null);
  const entry = WORLD_RECORDS.make("WORLD_CREATED", ports.actor, body);
  const [record] = await tx.ledger.append(streamOf(world_id), 0, [entry]);
  const created = WORLD_RECORDS.of("WORLD_CREATED", body);
  const rows = makeRows(ports.crypto, null, [{ record: created, position: record!.position }]);
  const number = await tx.world.addWorld(world_id, formatState(rows.effects.state));
  await writeRows(tx.world, { number }, rows);
  return openRow((await tx.world.hold(world_id))!);
}

/** Makes a world, once under a key. */
export async function createWorld(
  ports: WorldPorts,
  wanted: NewWorld,
  once: OnceKey | null = null,
): Promise<{ readonly world_id: string }> {
  const planned = planWorld(ports, wanted);
  const { world_id } = planned;
  return makeOnce(ports, once, async (tx) => ({
    world: (await addWorld(ports, tx, planned)).number,
    value: { world_id },
  }));
}

/** The id itself, or INPUT_INVALID. */
export function requireWorldId(id: string): string {
  if (WORLD_ID.test(id)) return id;
  throw new VerbatimError("INPUT_INVALID", {
    message: `${JSON.stringify(id)} is not a world id`,
    where: "/world_id",
    fix: "Write w_ followed by lower-case letters, digits and hyphens.",
  });
}

/** The id a title asks for. */
export function toWorldId(title: string): string {
  const slug = title
    .normalize("NFKD")
    .toLowerCase()
    .replace(/\p{M}+/gu, "")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 60);
  return `w_${slug === "" ? "world" : slug}`;
}

/** The refusal of an id that is taken. */
export function exists(worldId: string, fix?: OwnFix): VerbatimError {
  const message = `the id ${worldId} is taken by a world, possibly a deleted one`;
  return new VerbatimError("WORLD_EXISTS", { message, where: "/world_id", ...(fix === undefined ? {} : { fix }) });
}

/** Changes settings; the operator id is fixed for ever. */
export async function changeSettings(
  ports: WorldPorts,
  worldId: string,
  changes: Readonly<Record<string, unknown>>,
  key: string | null,
): Promise<{ readonly settings: Settings }> {
  const once = { key, body: { settings: changes } };
  return controlWorld(ports, worldId, once, async (tx, world) => {
    const before = world.state.settings;
    const settings = parseSettings(ports.zones, { timezone: ports.system_zone, ...mergeSettings(before, changes) });
    if (settings.operator_id !== before.operator_id) {
      throw new VerbatimError("OPERATOR_MISMATCH", {
        message: "the operator of a world never changes",
        where: "/operator_id",
      });
    }
    if (settings.writer.script !== null) parseScript(settings.writer.script);
    await pairWriters(ports, tx, settings, before);
    await appendRecord(ports, tx, world, "WORLD_SETTINGS_SET", { settings });
    return { settings };
  });
}

/** Objects of settings that belong to a kind: with another kind they begin with its defaults. */
const KINDS = ["writer", "time_policy"] as const;

/** Settings after a JSON Merge Patch (RFC 7396); what it takes away has its default again. */
export function mergeSettings(
  before: Readonly<Record<string, unknown>>,
  changes: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const merged = mergePatch(before, changes) as Record<string, unknown>;
  for (const name of KINDS) {
    const [was, is] = [kindOf(before[name]), kindOf(merged[name])];
    if (was !== is && isObject(changes[name])) merged[name] = mergePatch({}, changes[name]);
  }
  return merged;
}

function kindOf(value: unknown): unknown {
  return isObject(value) ? value["kind"] : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** RFC 7396: objects merge at every depth, anything else takes the place of what was there, null takes it away. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}
