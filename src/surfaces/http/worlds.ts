import type { App } from "../../app/app-type.ts";
import type { WorldStreams } from "./stream.ts";
import { addHistoryRoutes } from "./world-history.ts";
import { addReadingRoutes } from "./world-reading.ts";
import { WorldRouter } from "./world-router.ts";
import { addWritingRoutes } from "./world-writing.ts";

/** The routes of worlds. Each says who may use it and calls one operation. */
export function worldRoutes(app: App, streams: WorldStreams): Pick<WorldRouter, "hono" | "routes"> {
  const door = new WorldRouter(app);
  addReadingRoutes(door, streams);
  addWritingRoutes(door);
  addHistoryRoutes(door);
  return door;
}
