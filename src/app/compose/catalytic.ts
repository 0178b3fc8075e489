import { LOCAL_SURFACES } from "../../core/operation.ts";
import { CATALYTIC_OPERATIONS, type RoomPorts } from "../../rooms/catalytic/index.ts";
import type { Wiring } from "../operations.ts";
import { createCatalyticPorts, toCatalyticPlaces } from "./catalytic-ports.ts";

export const wiring: Wiring<typeof CATALYTIC_OPERATIONS> = {
  operations: CATALYTIC_OPERATIONS,
  async ports(asked): Promise<RoomPorts> {
    const composition = asked.ownFile();
    return {
      ...createCatalyticPorts(composition),
      files: composition.files,
      publicKey: async (key) => (await composition.keys.show(key)).public_key,
      folder: LOCAL_SURFACES.includes(composition.surface) ? composition.folder : null,
      places: () => toCatalyticPlaces(composition),
    };
  },
};
