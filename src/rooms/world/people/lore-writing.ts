import { VerbatimError } from "../../../core/errors/index.ts";
import { toWriteBundle } from "../beat/bundle.ts";
import { entryText } from "../contracts/entry.ts";
import type { LoreRule } from "../contracts/records.ts";
import { TO_EVERYBODY, toThose, type Visibility } from "../contracts/visibility.ts";
import type { WriteBundle } from "../contracts/write-bundle.ts";
import { appendRecord } from "../history/commit.ts";
import { type Lore, readMarks } from "../knowledge/marks.ts";
import type { WorldPorts, WorldWriteTransaction } from "../operations/ports.ts";
import { type OpenWorld, openRow, toLedgerEntry } from "../projection/reading.ts";
import { formatInstant } from "../time/instant.ts";
import { WORLD } from "./cast.ts";
import { controlWorld } from "./control.ts";
import { unknownPerson } from "./people.ts";

export const MAX_LORE = 10_000;
export const MAX_KEYS = 64;
/** Longest key, in UTF-16 units. */
export const MAX_KEY = 200;

/** Who may know a line of lore: the narrator, everybody, or the writer of one person. */
type LoreAudience = "WORLD" | "PUBLIC" | (string & {});

/** A line of lore as it is to be; what is absent stays as it was. */
export type LoreWish = {
  readonly [F in keyof LoreRule]?: LoreRule[F] | undefined;
} & {
  readonly lore_id: string;
  readonly text?: string | undefined;
  readonly visible_to?: LoreAudience | undefined;
};

const DEFAULT_RULE: LoreRule = { keys: [], also: [], match: "any", always: false, order: 0, enabled: true };

export interface LoreSet {
  readonly lore_id: string;
  readonly entry_id: string;
}

/** Sets lines of lore, all or none. A new text is a new line; the old one stays where it is. */
export async function setLore(
  ports: WorldPorts,
  worldId: string,
  wishes: readonly LoreWish[],
  key: string | null,
): Promise<{ readonly lore: LoreSet[] }> {
  return controlWorld(ports, worldId, { key, body: { lore: wishes } }, async (tx, world) => {
    const lore: LoreSet[] = [];
    let now = world;
    for (const wish of wishes) {
      lore.push(await setOne(ports, tx, now, wish));
      now = openRow((await tx.world.hold(worldId))!);
    }
    return { lore };
  });
}

async function setOne(
  ports: WorldPorts,
  tx: WorldWriteTransaction,
  world: OpenWorld,
  wish: LoreWish,
): Promise<LoreSet> {
  const { lore } = await readMarks(tx.world, world);
  const known = lore.find(({ lore_id }) => lore_id === wish.lore_id);
  if (known === undefined && lore.length >= MAX_LORE) {
    throw new VerbatimError("INPUT_INVALID", {
      message: `a world has at most ${MAX_LORE} lines of lore`,
      where: "/lore_id",
    });
  }
  const rule = toRule(known ?? DEFAULT_RULE, wish);
  const bundle = await toLine(ports, tx, world, known, wish);
  const entry_id = bundle === null ? known!.entry_id : bundle.entries[0]!.entry_id!;
  const { lore_id } = wish;
  await appendRecord(ports, tx, world, "WORLD_LORE_SET", { lore_id, entry_id, ...rule, write_bundle: bundle });
  return { lore_id, entry_id };
}

function toRule(before: LoreRule, wish: LoreWish): LoreRule {
  return {
    keys: [...(wish.keys ?? before.keys)],
    also: [...(wish.also ?? before.also)],
    match: wish.match ?? before.match,
    always: wish.always ?? before.always,
    order: wish.order ?? before.order,
    enabled: wish.enabled ?? before.enabled,
  };
}

/** The line of a wish; null where it is there already as it is wanted. */
async function toLine(
  ports: WorldPorts,
  tx: WorldWriteTransaction,
  world: OpenWorld,
  known: Lore | undefined,
  wish: LoreWish,
): Promise<WriteBundle | null> {
  const before =
    known === undefined
      ? undefined
      : (await tx.world.entriesById(world.number, [known.entry_id])).map(toLedgerEntry)[0];
  const text = wish.text ?? before?.text;
  if (text === undefined)
    throw new VerbatimError("FIELD_MISSING", { message: "new lore needs a text", where: "/text" });
  entryText.read(text, "/text");
  const visibility = wish.visible_to === undefined ? before?.visibility : toVisibility(world, wish.visible_to);
  const wanted = visibility ?? toThose([WORLD]);
  if (before !== undefined && text === before.text && isSame(wanted, before.visibility)) return null;
  return toWriteBundle(ports.crypto, world.state, {
    request_id: `sys:lore:${ports.ids.uuid()}`,
    created_at_world: formatInstant(ports.zones, world.state.clock_ms, world.state.zone),
    proposed_by: { engine: "ENGINE_1_INVOCATION", actor: ports.actor },
    lines: [{ author: { author_id: WORLD, author_class: "WORLD" }, channel: "VOICE", text, visibility: wanted }],
  });
}

function toVisibility({ cast }: OpenWorld, audience: LoreAudience): Visibility {
  if (audience === "PUBLIC") return TO_EVERYBODY;
  if (audience === WORLD) return toThose([WORLD]);
  if (!cast.people.has(audience)) throw unknownPerson(audience, "/visible_to");
  return toThose([audience]);
}

function isSame(a: Visibility, b: Visibility): boolean {
  return a.scope === b.scope && a.visible_to.join() === b.visible_to.join();
}

/** Who may know a line of lore, as one word. */
export function audienceOf({ scope, visible_to }: Visibility): string {
  return scope === "PUBLIC" ? "PUBLIC" : visible_to.join(",");
}
