import { hashShort } from "../../adapters/crypto/short-sha256.ts";
import type { Ids, SyncCrypto } from "../../core/ports.ts";

// Above this length the built-in hash is quicker in spite of the time it takes to load.
const SHORT = 16 * 1024;

// Not imported: loading it takes longer than the rest of a hook that needs no long hash and makes no store.
const load = () => process.getBuiltinModule("node:crypto");

/** The hashes of a hook, of which most are short. */
export const hookCrypto: Pick<SyncCrypto, "sha256"> = {
  sha256(data) {
    const bytes = typeof data === "string" ? Buffer.from(data) : data;
    return bytes.length <= SHORT ? hashShort(bytes) : load().hash("sha256", bytes, "hex");
  },
};

/** New ids; only a store that is made needs one. */
export const hookIds: Ids = { uuid: () => load().randomUUID() };
