import { type OwnFix, VerbatimError } from "../../../core/errors/index.ts";
import { toHex } from "../../../core/hex.ts";
import { WORLD_RECORDS } from "../contracts/records.ts";
import type { WorldPorts } from "../operations/ports.ts";
import { controlWorld } from "../people/control.ts";
import { type NewPerson, requireNewPerson } from "../people/people.ts";
import { parseSettings, type Settings } from "../settings.ts";
import { parseWritten, toInstant } from "../time/instant.ts";
import { parseScript } from "../writer/scripted.ts";
import { appendRecord, writeRows } from "./commit.ts";
import { makeRows } from "./make-rows.ts";
import { formatState, streamOf } from "./state.ts";

const WORLD_ID = /^w_[a-z0-9][a-z0-9-]{0,62}$/;
const MINUTE = 60_000;

interface NewWorld {
  readonly world_id: string | null;
  readonly start: string | null;
  readonly people: readonly NewPerson[];
  /** Title and whatever differs from the defaults. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** Makes a world: its first record, its key, its people. */
export async function createWorld(ports: WorldPorts, wanted: NewWorld): Promise<{ readonly world_id: string }> {
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
  await ports.store.transact(async (tx) => {
    // A stream without a world belongs to one that was deleted; its id is spent.
    if ((await tx.ledger.head(streamOf(worldId))) !== null) throw exists(worldId);
    const entry = WORLD_RECORDS.make("WORLD_CREATED", ports.actor, body);
    const [record] = await tx.ledger.append(streamOf(worldId), 0, [entry]);
    const created = WORLD_RECORDS.of("WORLD_CREATED", body);
    const rows = makeRows(ports.crypto, null, [{ record: created, position: record!.position }]);
    const number = await tx.world.addWorld(worldId, formatState(rows.effects.state));
    await writeRows(tx.world, { number }, rows);
  });
  return { world_id: worldId };
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
    const settings = parseSettings(ports.zones, mergeSettings(before, changes));
    if (settings.operator_id !== before.operator_id) {
      throw new VerbatimError("OPERATOR_MISMATCH", {
        message: "the operator of a world never changes",
        where: "/operator_id",
      });
    }
    if (settings.writer.script !== null) parseScript(settings.writer.script);
    await appendRecord(ports, tx, world, "WORLD_SETTINGS_SET", { settings });
    return { settings };
  });
}

/** Groups of settings whose members change one by one; a writer or a policy is replaced whole. */
const GROUPS = ["tools", "context", "pocket"] as const;

function mergeSettings(before: Settings, changes: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...before, ...changes };
  for (const group of GROUPS) {
    const change = changes[group];
    const isObject = typeof change === "object" && change !== null && !Array.isArray(change);
    if (isObject) merged[group] = { ...before[group], ...change };
  }
  return merged;
}
