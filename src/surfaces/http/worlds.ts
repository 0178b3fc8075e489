import type { App } from "../../app/app-type.ts";
import type { WorldStreams } from "./stream.ts";
import { addHistoryRoutes } from "./world-history.ts";
import { addReadingRoutes } from "./world-reading.ts";
import { WorldDoor } from "./world-router.ts";
import { addWritingRoutes } from "./world-writing.ts";

/** The routes of worlds. Each says who may use it and calls one operation. */
export function worldRoutes(app: App, streams: WorldStreams): Pick<WorldDoor, "hono" | "routes"> {
  const door = new WorldDoor(app);
  addReadingRoutes(door, streams);
  addWritingRoutes(door);
  addHistoryRoutes(door);
  return door;
}
