import { intlGraphemes } from "../../adapters/intl/graphemes.ts";
import { makeZones } from "../../adapters/intl/zones.ts";
import { WORLD_AREAS } from "../../rooms/world/index.ts";
import type { AreaFunction } from "./runner.ts";

const zones = makeZones();

/** The areas of the world room with the time zones and graphemes of this Node. */
export const WORLD_ROOM_AREAS: Readonly<Record<string, AreaFunction>> = Object.fromEntries(
  Object.entries(WORLD_AREAS).map(([name, area]): [string, AreaFunction] => [
    name,
    (input, { crypto }) => area(input, { crypto, zones, graphemes: intlGraphemes }),
  ]),
);
