import { WORLD_AREAS } from "../../rooms/world/index.ts";
import type { AreaFunction } from "./ports.ts";

/** The areas of the world room with the time zones and graphemes of this Node. */
export const WORLD_ROOM_AREAS: Readonly<Record<string, AreaFunction>> = Object.fromEntries(
  Object.entries(WORLD_AREAS).map(([name, area]): [string, AreaFunction] => [
    name,
    (input, { crypto, zones, graphemes }) => area(input, { crypto, zones, graphemes }),
  ]),
);
