import { formatCanonical } from "../../../core/canonical/index.ts";
import { CAPSULE_BYTES } from "../knowledge/capsule.ts";
import { makeCapsule } from "../knowledge/capsules.ts";
import type { WorldPorts } from "../operations/ports.ts";
import { readPocket } from "../people/pocket.ts";
import { toStreamEntry } from "./projection.ts";
import { loadWorld, readVisible, viewerView } from "./reading.ts";
import { closeView, VIEW_FORMAT } from "./view-file.ts";
import { worldTime } from "./views.ts";

const PAGE = 1000;

/** What one viewer may see of a world, as lines with a manifest of their own. It says nothing about the rest. */
export async function exportView(ports: WorldPorts, worldId: string, wanted: string | null): Promise<string[]> {
  return ports.store.read(async (tx) => {
    const world = await loadWorld(tx.world, worldId);
    const viewer = wanted ?? world.cast.operator_id;
    const view = viewerView(world, viewer);
    const title = world.state.settings.title;
    const header = { type: "header", format: VIEW_FORMAT, version: 1, world_id: worldId, title, viewer };
    const lines = [formatCanonical({ ...header, note: "This is a view: what this viewer may see, not the world." })];
    let after = 0;
    for (;;) {
      const page = await readVisible(tx.world, world, view, { after, limit: PAGE });
      lines.push(...page.map((entry) => formatCanonical({ type: "entry", entry: toStreamEntry(world.cast, entry) })));
      if (page.length < PAGE) break;
      after = page.at(-1)!.wseq;
    }
    for (const person of [world.cast.operator_id, ...world.cast.people.keys()]) {
      const pack = await makeCapsule(ports, tx.world, world, view, person, CAPSULE_BYTES, worldTime(ports, world));
      lines.push(formatCanonical({ type: "capsule", capsule: pack }));
    }
    lines.push(formatCanonical({ type: "pocket", pocket: await readPocket(ports, tx.world, world, view) }));
    return closeView(ports.crypto, lines);
  });
}
