import { toJson } from "../../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { toWriteBundle } from "../beat/bundle.ts";
import { MAX_IMPORT_ENTRIES } from "../contracts/write-bundle.ts";
import { appendRecord } from "../history/commit.ts";
import { makeOnce } from "../history/once.ts";
import { addWorld, type PlannedWorld, planWorld } from "../history/worlds.ts";
import type { WorldPorts, WorldWriteTransaction } from "../operations/ports.ts";
import type { Cast } from "../people/cast.ts";
import { controlWorld } from "../people/control.ts";
import { MAX_PEOPLE } from "../people/people.ts";
import { loadWorld, type OpenWorld, openRow } from "../projection/reading.ts";
import { formatInstant } from "../time/instant.ts";
import { findImport, readImportsBefore } from "./import-list.ts";
import type { ImportOptions, ImportPlan, Lost } from "./lines.ts";
import { type CleanPicture, cleanPicture } from "./picture.ts";
import { readImport } from "./read.ts";
import { importTooLarge } from "./refusals.ts";

interface Imported extends Omit<ImportPlan, "picture"> {
  readonly world_id: string;
  /** Null for a preview, and when there was nothing to write. */
  readonly bundle_id: string | null;
  readonly source_sha256: string | null;
}

export interface ImportRequest extends ImportOptions {
  readonly preview: boolean;
  /** Whether a file may come a second time. */
  readonly again?: boolean;
}

/** Shows what a file would write, or writes it: one transaction, all or nothing. */
export async function importFile(
  ports: WorldPorts,
  worldId: string,
  bytes: Uint8Array,
  options: ImportRequest,
  key: string | null = null,
): Promise<Imported> {
  const planned = await ports.store
    .read(async (tx) => readImport((await loadWorld(tx.world, worldId)).cast, bytes, options, ports.inflater))
    .catch((thrown: unknown) => {
      // With a key this may be the same request again, and then it is that import whose name is there.
      const isOwn = key !== null && isVerbatimError(thrown) && thrown.code === "IMPORT_PERSON_MATCHES";
      if (isOwn && !options.preview) return null;
      throw thrown;
    });
  if (options.preview) return shown(planned!, worldId, null, null);
  const source = await ports.content.put(bytes);
  const before = options.rules === 2 ? await readImportsBefore(ports, worldId) : [];
  const { preview: _, ...how } = options;
  const picture = await keepPicture(ports, planned);
  return controlWorld(ports, worldId, { key, body: { import: source, ...toBody(how) } }, async (tx, world) => {
    if (options.rules === 2 && options.again !== true) {
      const number = await findImport(tx.ledger, worldId, before, source);
      if (number !== null) {
        throw new VerbatimError("IMPORT_ALREADY", {
          message: `the same file is import ${number} of this world`,
          details: { import: number },
        });
      }
    }
    return writeImport(ports, tx, world, bytes, { source, picture }, options);
  });
}

/** What a key stands for: options that were not there when the key was made are not part of it. */
function toBody({ expand_names, lore, enter, rules, greeting, person, again }: Omit<ImportRequest, "preview">): object {
  return {
    expand_names,
    lore,
    enter,
    ...(rules === 2 ? { rules } : {}),
    ...(greeting === undefined ? {} : { greeting }),
    ...(person === undefined ? {} : { person }),
    ...(again === true ? { again } : {}),
  };
}

/** Makes a world of what a file holds, in one transaction; nothing that is there already is touched. */
export async function importAsNew(
  ports: WorldPorts,
  bytes: Uint8Array,
  options: ImportRequest,
  wanted: { readonly world_id: string | null; readonly title: string | null },
  key: string | null,
): Promise<Imported> {
  const empty = (title: string) =>
    planWorld(ports, { world_id: wanted.world_id, start: null, people: [], settings: { title } });
  const first = empty(wanted.title ?? "Imported");
  const plan = readImport(castOfNew(first), bytes, options, ports.inflater);
  const planned = wanted.title === null && plan.title !== null ? empty(plan.title) : first;
  if (options.preview) return shown(plan, planned.world_id, null, null);
  const source = await ports.content.put(bytes);
  const { preview: _, ...how } = options;
  const picture = await keepPicture(ports, plan);
  const once = { key, body: { new: source, ...wanted, ...toBody(how) } };
  return makeOnce<Imported>(ports, once, async (tx) => {
    const world = await addWorld(ports, tx, planned);
    // What was written is made of JSON values only, which the compiler cannot see through the spread.
    return {
      world: world.number,
      value: toJson({ ...(await writeImport(ports, tx, world, bytes, { source, picture }, options)) }) as never,
    };
  });
}

/** A new world as its file will find it: the operator alone is there. */
export function castOfNew({ body: { settings } }: PlannedWorld): Cast {
  const { operator_id, operator_name, visibility_default, writer_lint } = settings;
  return { operator_id, operator_name, people: new Map(), present: [operator_id], visibility_default, writer_lint };
}

interface Picture {
  readonly sha256: string;
  readonly media_type: CleanPicture["media_type"];
}

/** Where the original and the picture of a file are. */
export interface Kept {
  readonly source: string;
  readonly picture: Picture | null;
}

/** Keeps the picture of a card; one that is no picture that anybody could look at is left out and said to be. */
export async function keepPicture(
  ports: WorldPorts,
  plan: Pick<ImportPlan, "picture"> | null,
): Promise<Picture | null> {
  if (plan === null || plan.picture === null) return null;
  const clean = tryClean(plan.picture);
  return clean === null ? null : { sha256: await ports.content.put(clean.bytes), media_type: clean.media_type };
}

function tryClean(picture: Uint8Array): CleanPicture | null {
  try {
    return cleanPicture(picture);
  } catch (thrown) {
    if (isVerbatimError(thrown)) return null;
    throw thrown;
  }
}

/** One transaction's part of an import: a write bundle and a record, or several of a file with very many lines. */
async function writeImport(
  ports: WorldPorts,
  tx: WorldWriteTransaction,
  world: OpenWorld,
  bytes: Uint8Array,
  kept: Kept,
  options: ImportOptions,
): Promise<Imported> {
  const plan = readImport(world.cast, bytes, options, ports.inflater);
  const bundleId = await writePlan(ports, tx, world, plan, kept);
  return shown(plan, world.state.world_id, bundleId, kept.source);
}

/** Writes what was planned for a world as it is now; the id of the first write bundle, or null without lines. */
export async function writePlan(
  ports: WorldPorts,
  tx: WorldWriteTransaction,
  world: OpenWorld,
  plan: ImportPlan,
  { source, picture }: Kept,
): Promise<string | null> {
  if (world.cast.people.size + plan.people.length > MAX_PEOPLE) {
    throw importTooLarge(`a world can have at most ${MAX_PEOPLE} people`);
  }
  const parts = toParts(plan);
  let [now, first]: [OpenWorld, string | null] = [world, null];
  for (const [i, part] of parts.entries()) {
    const write_bundle = toWriteBundle(ports.crypto, now.state, {
      request_id: `sys:import:${ports.ids.uuid()}`,
      created_at_world: formatInstant(ports.zones, now.state.clock_ms, now.state.zone),
      proposed_by: { engine: "ENGINE_1_INVOCATION", actor: ports.actor },
      lines: part.lines,
    });
    const record = {
      version: plan.version,
      source_sha256: source,
      people: i === 0 ? [...plan.people] : [],
      present: [...plan.present_after],
      write_bundle,
      not_imported: i === 0 ? [...plan.not_imported] : [],
      ...toldBy(plan, part),
      ...(parts.length === 1 ? {} : { part: { number: i + 1, of: parts.length } }),
    };
    await appendRecord(ports, tx, now, "WORLD_IMPORTED", record);
    first ??= write_bundle?.bundle_id ?? null;
    now = openRow((await tx.world.hold(world.state.world_id))!);
  }
  if (picture !== null && plan.person_id !== null) {
    await appendRecord(ports, tx, now, "WORLD_AVATAR_SET", { person_id: plan.person_id, ...picture });
  }
  return first;
}

type Part = Pick<ImportPlan, "lines" | "swipes">;

/** A file with more lines than one write bundle may have becomes several. */
function toParts({ lines, swipes }: ImportPlan): readonly Part[] {
  if (lines.length <= MAX_IMPORT_ENTRIES) return [{ lines, swipes }];
  return Array.from({ length: Math.ceil(lines.length / MAX_IMPORT_ENTRIES) }, (_, i) => {
    const [from, to] = [i * MAX_IMPORT_ENTRIES, (i + 1) * MAX_IMPORT_ENTRIES];
    const own = swipes.filter(({ index }) => index >= from && index < to);
    return { lines: lines.slice(from, to), swipes: own.map((one) => ({ ...one, index: one.index - from })) };
  });
}

/** What a record says besides its lines; nothing of it in files read by the first rules. */
function toldBy({ background, lore, styles, lost }: ImportPlan, { swipes }: Part): object {
  return {
    ...(background.length === 0 ? {} : { background: [...background] }),
    ...(lore.length === 0 ? {} : { lore: lore.map((one) => ({ ...one, keys: [...one.keys], also: [...one.also] })) }),
    ...(Object.keys(styles).length === 0 ? {} : { styles: { ...styles } }),
    ...(lost.length === 0 ? {} : { lost: lost.map((one) => ({ ...one })) }),
    ...(swipes.length === 0 ? {} : { swipes: swipes.map((one) => ({ ...one })) }),
  };
}

/** What is answered: everything but the picture, which is said to be lost where nobody could look at it. */
function shown(plan: ImportPlan, world_id: string, bundle_id: string | null, source_sha256: string | null): Imported {
  const { picture, ...rest } = plan;
  const isLost = picture !== null && tryClean(picture) === null;
  const lost: readonly Lost[] = isLost ? [...rest.lost, { what: "picture", count: 1, where: "image" }] : rest.lost;
  return { ...rest, lost, world_id, bundle_id, source_sha256 };
}
