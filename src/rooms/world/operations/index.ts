import { BEAT_OPERATIONS } from "./beats.ts";
import { CONTROL_OPERATIONS } from "./control.ts";
import { deleteWorld } from "./delete.ts";
import { demo } from "./demo.ts";
import { HISTORY_OPERATIONS } from "./history.ts";
import { IMPORT_OPERATIONS } from "./imports.ts";
import { PLAY_OPERATIONS } from "./play.ts";
import { SETTINGS_OPERATIONS } from "./settings.ts";
import { TELLING_OPERATIONS } from "./telling.ts";
import { VERSION_OPERATIONS } from "./versions.ts";
import { VIEW_OPERATIONS } from "./views.ts";
import { WORLD_MAKING_OPERATIONS } from "./worlds.ts";

export type { WorldRoom } from "./room.ts";

/** Everything the world room can do. */
export const WORLD_OPERATIONS = [
  ...WORLD_MAKING_OPERATIONS,
  ...BEAT_OPERATIONS,
  ...VIEW_OPERATIONS,
  ...CONTROL_OPERATIONS,
  ...HISTORY_OPERATIONS,
  ...SETTINGS_OPERATIONS,
  ...TELLING_OPERATIONS,
  ...IMPORT_OPERATIONS,
  ...VERSION_OPERATIONS,
  ...PLAY_OPERATIONS,
  deleteWorld,
  demo,
] as const;
