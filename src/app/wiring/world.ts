import { intlGraphemes } from "../../adapters/intl/graphemes.ts";
import { makeZones } from "../../adapters/intl/zones.ts";
import { makeModels } from "../../adapters/models/chat.ts";
import { processPace } from "../../adapters/process/pace.ts";
import { WORLD_OPERATIONS, type WorldRoom } from "../../rooms/world/operations/index.ts";
import { Beats } from "../../rooms/world/service/beats.ts";
import { DEFAULT_TIMES, type WorldPorts, type WorldTimes } from "../../rooms/world/service/world-ports.ts";
import { BYTES_BY_THREE } from "../../rooms/world/tokens.ts";
import type { Composition } from "../compose.ts";
import { tellWorldStory, type WorldStory } from "../flows/world-demo.ts";
import type { Wiring } from "../operations.ts";

// Queues, running beats and followers live as long as their workspace stays open.
const kept = new WeakMap<object, { readonly store: WorldPorts["store"]; readonly beats: Beats }>();

export const wiring: Wiring = {
  operations: WORLD_OPERATIONS,
  async ports(composition, effect): Promise<WorldRoom & { demonstrate(): Promise<WorldStory> }> {
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
      zones: makeZones(),
      graphemes: intlGraphemes,
      tokenizer: BYTES_BY_THREE,
      models: makeModels(env),
      system_zone: new Intl.DateTimeFormat("en-US").resolvedOptions().timeZone,
      times: toTimes(env["VERBATIM_WORLD_LEASE_MS"]),
    };
    const world = env["VERBATIM_WORLD"];
    return {
      ...ports,
      beats: keepBeats(composition, ports),
      default_world: world === undefined || world === "" ? null : world,
      writable: () => composition.store("append"),
      demonstrate: () => tellWorldStory(composition),
    };
  },
};

/** Tests of crashes shorten the lease; nobody else does. */
function toTimes(lease: string | undefined): WorldTimes {
  const ms = Number(lease);
  return Number.isInteger(ms) && ms > 0 ? { ...DEFAULT_TIMES, lease_ms: ms, lock_ms: ms } : DEFAULT_TIMES;
}

function keepBeats(composition: Composition, ports: WorldPorts): Beats {
  const known = kept.get(composition);
  // Before the first write reading goes to an empty store; what is kept belongs to one store.
  if (known !== undefined && known.store === ports.store) return known.beats;
  const beats = new Beats(ports);
  kept.set(composition, { store: ports.store, beats });
  return beats;
}
