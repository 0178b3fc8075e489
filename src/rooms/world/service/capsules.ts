import type { LedgerEntry } from "../check/context.ts";
import type { CapsulePack } from "../check/packs.ts";
import type { View } from "../gate.ts";
import { buildCapsule, CAPSULE_BYTES } from "../packs/capsule.ts";
import type { WorldReader } from "../ports.ts";
import { gated, type OpenWorld } from "./reading.ts";
import { findByAuthor } from "./search.ts";
import type { WorldPorts } from "./world-ports.ts";

type Ports = Pick<WorldPorts, "crypto" | "graphemes">;

/** Capsules of the people present, as a view may see them. */
export async function readCapsules(
  ports: Ports,
  tables: WorldReader,
  world: OpenWorld,
  view: View,
  usable: number,
  worldTime: string,
): Promise<CapsulePack[]> {
  const present = world.cast.present.filter((id) => world.cast.people.has(id));
  const bytes = Math.min(CAPSULE_BYTES, Math.floor((3 * usable) / (5 * present.length)));
  const capsules: CapsulePack[] = [];
  for (const person of present) {
    capsules.push(await makeCapsule(ports, tables, world, view, person, bytes, worldTime));
  }
  return capsules;
}

const CAPSULE_PAGE = 64;

/** The capsule of a person for a view. */
export async function makeCapsule(
  ports: Ports,
  tables: WorldReader,
  world: OpenWorld,
  view: View,
  person: string,
  maxBytes: number,
  worldTime: string,
): Promise<CapsulePack> {
  const newest: LedgerEntry[] = [];
  let bytes = 0;
  for await (const wseqs of findByAuthor(tables, world, view, person)) {
    for (let at = 0; at < wseqs.length && bytes <= maxBytes; at += CAPSULE_PAGE) {
      const page = gated(world, view, await tables.entries(world.number, wseqs.slice(at, at + CAPSULE_PAGE)));
      newest.push(...page.filter(({ author }) => author.author_id === person).reverse());
      for (const { text } of page) bytes += Math.min(text.length, 800);
    }
    if (bytes > maxBytes) break;
  }
  return buildCapsule(ports.crypto, ports.graphemes, {
    person,
    view,
    created_at_world: worldTime,
    max_bytes: maxBytes,
    newest,
  });
}
