/**
 * The world room: `openWorld` plays and reads a world of a workspace; the rules of its contract objects are pure.
 *
 * @packageDocumentation
 */

import { openApp } from "./app/call.ts";
import type { Output } from "./app/operations.ts";
import type { ProjectionOutput } from "./rooms/world/index.ts";

export {
  type CapsulePack,
  checkCapsule,
  checkEntry,
  checkEnvelope,
  checkProjectionOutput,
  checkRehydration,
  checkRetrievalPack,
  checkSceneAnchor,
  checkToolRequest,
  checkWriteBundle,
  type Envelope,
  gate,
  isAllowed,
  type ProjectionOutput,
  type RehydrationPack,
  type RetrievalResultPack,
  type SceneAnchorPack,
  type ToolRequest,
  type View,
  WORLD_CONTRACTS,
  type WriteBundle,
  type WriteEntry,
} from "./rooms/world/index.ts";

/** A world of the workspace around a folder. */
export interface World extends AsyncDisposable {
  /** Runs an invocation envelope and gives the projection output. */
  beat(envelope: unknown): Promise<ProjectionOutput>;
  /** A page of what a viewer may see. */
  projection(query?: {
    viewer?: string;
    after?: string;
    before?: string;
    limit?: number;
  }): Promise<Output<"world.projection">>;
  search(
    query: string,
    options?: { viewer?: string; person?: string; from?: string; to?: string; limit?: number },
  ): Promise<Output<"world.search">>;
  capsule(person: string, options?: { viewer?: string }): Promise<Output<"world.capsule">>;
  /** Events of a viewer as they are written; leave the loop to stop. */
  subscribe(options?: { viewer?: string; after?: string }): AsyncIterable<unknown>;
  fork(cursor: string, options?: { id?: string; title?: string }): Promise<Output<"world.fork">>;
  verify(): Promise<Output<"world.verify">>;
  /** Lets go of the store; `await using` does the same. */
  close(): Promise<void>;
}

/**
 * Opens a world by its id, or by the beginning of its title, in the workspace around a folder.
 *
 * @example
 * const world = openWorld("w_harbour", { start: "path/to/repository" });
 * const { entries } = await world.projection({ viewer: "ANA" });
 * await world.close();
 */
export function openWorld(
  world: string,
  options: { readonly start?: string; readonly env?: NodeJS.ProcessEnv } = {},
): World {
  const { start = process.cwd(), env = process.env } = options;
  const app = openApp({ surface: "library", start, env, platform: process.platform });
  const close = () => app.close();
  return {
    async beat(envelope) {
      const { body } = await app.call("world.invoke", { world, envelope });
      return JSON.parse(body) as ProjectionOutput;
    },
    projection: (query = {}) => app.call("world.projection", { world, ...query }),
    search: (query, more = {}) => app.call("world.search", { world, query, ...more }),
    capsule: (person, more = {}) => app.call("world.capsule", { world, person, ...more }),
    async *subscribe(more = {}) {
      for await (const line of app.lines("world.follow", { world, ticks: true, ...more })) {
        const event = JSON.parse(line) as { readonly event: string };
        if (event.event !== "tick") yield event;
      }
    },
    fork: (cursor, more = {}) => app.call("world.fork", { world, cursor, ...more }),
    verify: () => app.call("world.verify", { world }),
    close,
    [Symbol.asyncDispose]: close,
  };
}
