import { VerbatimError } from "../../../core/errors/index.ts";
import { toWriteBundle } from "../beat/bundle.ts";
import { appendRecord } from "../history/commit.ts";
import type { WorldPorts } from "../operations/ports.ts";
import { controlWorld } from "../people/control.ts";
import { MAX_PEOPLE } from "../people/people.ts";
import { loadWorld } from "../projection/reading.ts";
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
  return controlWorld(ports, worldId, once, async (tx, world) => {
    const plan = readImport(world.cast, bytes, options, ports.inflater);
    if (world.cast.people.size + plan.people.length > MAX_PEOPLE) {
      throw new VerbatimError("IMPORT_TOO_LARGE", { message: `a world can have at most ${MAX_PEOPLE} people` });
    }
    const bundle = toWriteBundle(ports.crypto, world.state, {
      request_id: "import",
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
    return { ...plan, world_id: worldId, bundle_id: bundle?.bundle_id ?? null, source_sha256: source };
  });
}
