import { createLocalFolders } from "../../adapters/disk/guarded/local-folders.ts";
import { intlGraphemes } from "../../adapters/intl/graphemes.ts";
import { makeZones } from "../../adapters/intl/zones.ts";
import { makeModels } from "../../adapters/models/world-models.ts";
import { processPace } from "../../adapters/process/timer.ts";
import { readWorker } from "../../adapters/process/worker.ts";
import { removeUnnamed } from "../../adapters/sql/garbage.ts";
import { zlibInflater } from "../../adapters/zlib/inflater.ts";
import {
  Beats,
  BYTES_BY_THREE,
  DEFAULT_TIMES,
  type Maintenance,
  WORLD_OPERATIONS,
  type WorldPorts,
  type WorldRoom,
} from "../../rooms/world/index.ts";
import { tellWorldStory, type WorldStory } from "../hall/world-demo.ts";
import type { Wiring } from "../operations.ts";
import type { Composition } from "./compose.ts";

const worker = readWorker();

// Queues, running beats and followers live as long as their workspace stays open.
const kept = new WeakMap<object, { readonly store: WorldPorts["store"]; readonly beats: Beats }>();

export const wiring: Wiring<typeof WORLD_OPERATIONS> = {
  operations: WORLD_OPERATIONS,
  async ports(
    composition,
    effect,
    _name,
    options,
  ): Promise<WorldRoom & Maintenance & { demonstrate(): Promise<WorldStory> }> {
    const { crypto, clock, ids, random, files, actor, env } = composition;
    const store = await composition.store(effect);
    const ports: WorldPorts = {
      store,
      content: await composition.content(effect),
      crypto,
      clock,
      ids,
      random,
      files,
      actor,
      pace: processPace,
      worker,
      zones: makeZones(),
      graphemes: intlGraphemes,
      inflater: zlibInflater,
      folders: createLocalFolders(composition.start),
      tokenizer: BYTES_BY_THREE,
      models: makeModels(env),
      system_zone: new Intl.DateTimeFormat("en-US").resolvedOptions().timeZone,
      times: DEFAULT_TIMES,
    };
    const world = env["VERBATIM_WORLD"];
    const beats = keepBeats(composition, ports);
    return {
      ...ports,
      beats,
      onControl(worldId, isReplay) {
        if (isReplay) options?.onReplay?.();
        else beats.hub.committed(worldId);
      },
      default_world: world === undefined || world === "" ? null : world,
      writable: () => composition.store("append"),
      loadKey: (key) => composition.keys.load(key),
      maintain: (run) => composition.maintain(run),
      removeUnnamed: async (hashes) =>
        removeUnnamed(await composition.store("append"), await composition.content("append"), clock, hashes),
      demonstrate: () => tellWorldStory(composition),
    };
  },
};

function keepBeats(composition: Composition, ports: WorldPorts): Beats {
  const known = kept.get(composition);
  // Before the first write reading goes to an empty store; what is kept belongs to one store.
  if (known !== undefined && known.store === ports.store) return known.beats;
  const beats = new Beats(ports);
  kept.set(composition, { store: ports.store, beats });
  return beats;
}
