import { toJson } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { toWriteBundle } from "../beat/bundle.ts";
import { appendRecord } from "../history/commit.ts";
import { makeOnce } from "../history/once.ts";
import { addWorld, type PlannedWorld, planWorld } from "../history/worlds.ts";
import type { WorldPorts, WorldWriteTransaction } from "../operations/ports.ts";
import type { Cast } from "../people/cast.ts";
import { controlWorld } from "../people/control.ts";
import { MAX_PEOPLE } from "../people/people.ts";
import { loadWorld, type OpenWorld } from "../projection/reading.ts";
import { formatInstant } from "../time/instant.ts";
import type { CardOptions } from "./card.ts";
import type { ImportPlan } from "./lines.ts";
import { readImport } from "./read.ts";

interface Imported extends ImportPlan {
  readonly world_id: string;
  /** Null for a preview, and when there was nothing to write. */
  readonly bundle_id: string | null;
  readonly source_sha256: string | null;
}

/** Shows what a file would write, or writes it: one write bundle, one record, all or nothing. */
export async function importFile(
  ports: WorldPorts,
  worldId: string,
  bytes: Uint8Array,
  options: CardOptions & { readonly preview: boolean },
  key: string | null = null,
): Promise<Imported> {
  if (options.preview) {
    const plan = await ports.store.read(async (tx) =>
      readImport((await loadWorld(tx.world, worldId)).cast, bytes, options, ports.inflater),
    );
    return { ...plan, world_id: worldId, bundle_id: null, source_sha256: null };
  }
  await ports.store.read(async (tx) =>
    readImport((await loadWorld(tx.world, worldId)).cast, bytes, options, ports.inflater),
  );
  const source = await ports.content.put(bytes);
  const { expand_names, lore, enter } = options;
  const once = { key, body: { import: source, expand_names, lore, enter } };
  return controlWorld(ports, worldId, once, (tx, world) => writeImport(ports, tx, world, bytes, source, options));
}

/** Makes a world of what a file holds, in one transaction; nothing that is there already is touched. */
export async function importAsNew(
  ports: WorldPorts,
  bytes: Uint8Array,
  options: CardOptions & { readonly preview: boolean },
  wanted: { readonly world_id: string | null; readonly title: string | null },
  key: string | null,
): Promise<Imported> {
  const empty = (title: string) =>
    planWorld(ports, { world_id: wanted.world_id, start: null, people: [], settings: { title } });
  const first = empty(wanted.title ?? "Imported");
  const plan = readImport(castOfNew(first), bytes, options, ports.inflater);
  const planned = wanted.title === null && plan.title !== null ? empty(plan.title) : first;
  if (options.preview) return { ...plan, world_id: planned.world_id, bundle_id: null, source_sha256: null };
  const source = await ports.content.put(bytes);
  const { expand_names, lore, enter } = options;
  const once = { key, body: { new: source, ...wanted, expand_names, lore, enter } };
  return makeOnce<Imported>(ports, once, async (tx) => {
    const world = await addWorld(ports, tx, planned);
    // What was written is made of JSON values only, which the compiler cannot see through the spread.
    return {
      world: world.number,
      value: toJson({ ...(await writeImport(ports, tx, world, bytes, source, options)) }) as never,
    };
  });
}

/** A new world as its file will find it: the operator alone is there. */
function castOfNew({ body: { settings } }: PlannedWorld): Cast {
  const { operator_id, operator_name, visibility_default, writer_lint } = settings;
  return { operator_id, operator_name, people: new Map(), present: [operator_id], visibility_default, writer_lint };
}

/** One write bundle, one record. */
async function writeImport(
  ports: WorldPorts,
  tx: WorldWriteTransaction,
  world: OpenWorld,
  bytes: Uint8Array,
  source: string,
  options: CardOptions,
): Promise<Imported> {
  const plan = readImport(world.cast, bytes, options, ports.inflater);
  if (world.cast.people.size + plan.people.length > MAX_PEOPLE) {
    throw new VerbatimError("IMPORT_TOO_LARGE", { message: `a world can have at most ${MAX_PEOPLE} people` });
  }
  const bundle = toWriteBundle(ports.crypto, world.state, {
    request_id: `sys:import:${ports.ids.uuid()}`,
    created_at_world: formatInstant(ports.zones, world.state.clock_ms, world.state.zone),
    proposed_by: { engine: "ENGINE_1_INVOCATION", actor: ports.actor },
    lines: plan.lines,
  });
  const record = {
    version: plan.version,
    source_sha256: source,
    people: plan.people,
    present: plan.present_after,
    write_bundle: bundle,
    not_imported: plan.not_imported,
  };
  await appendRecord(ports, tx, world, "WORLD_IMPORTED", record);
  const world_id = world.state.world_id;
  return { ...plan, world_id, bundle_id: bundle?.bundle_id ?? null, source_sha256: source };
}
