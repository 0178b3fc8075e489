import type { WorldRoom } from "../../src/rooms/world/operations/index.ts";
import { ListedModel, openWorlds } from "./world.ts";
import { readAs, type Totals } from "./world-canary-reads.ts";
import { type Watch, watchRoutes } from "./world-canary-routes.ts";
import { EVERYBODY, tellStory } from "./world-canary-story.ts";

export interface CanaryResult {
  readonly sequences: number;
  readonly outputs: number;
  readonly prompts: number;
  readonly secrets: number;
  readonly leaks: readonly string[];
}

/** Runs random stories full of secrets and looks for each secret in everything made for whoever may not know it. */
export async function runCanary(options: {
  readonly url?: string;
  readonly from: number;
  readonly count: number;
}): Promise<CanaryResult> {
  const model = new ListedModel();
  await using worlds = await openWorlds({ models: model, ...(options.url === undefined ? {} : { url: options.url }) });
  const room: WorldRoom = {
    ...worlds.ports,
    beats: worlds.beats,
    default_world: null,
    writable: async () => worlds.ports.store,
  };
  const totals: Totals = { outputs: 0, prompts: 0, secrets: 0, leaks: [] };
  for (let seed = options.from; seed < options.from + options.count; seed++) {
    // Over many stories everybody listens at the door of HTTP; what everybody reads is asked of the operations.
    const watcher = EVERYBODY[seed % EVERYBODY.length]!;
    let watch: Watch | null = null;
    const story = await tellStory(worlds, model, seed, totals, (world) => {
      watch = watchRoutes(room, world, watcher);
    });
    await watch!.until(story.last_line);
    await watch!.finish(story, `seed ${seed}`, totals);
    for (const viewer of EVERYBODY)
      await readAs(room, viewer, { story, world: story.world, label: `seed ${seed}` }, totals);
    if (story.fork !== null) {
      await readAs(room, watcher, { story, world: story.fork, label: `fork of seed ${seed}` }, totals);
    }
    totals.secrets += story.secrets.length;
  }
  return { sequences: options.count, ...totals };
}
