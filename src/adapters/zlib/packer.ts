import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { Packer } from "../../rooms/catalytic/ports.ts";

/** Pieces of records as raw deflate; hashes hardly shrink further with more work. */
export const zlibPacker: Packer = {
  pack: (bytes) => deflateRawSync(bytes, { level: 3 }),
  unpack(bytes, most) {
    try {
      return inflateRawSync(bytes, { maxOutputLength: most });
    } catch (thrown) {
      if (thrown instanceof Error && "code" in thrown && /^(Z_|ERR_BUFFER_TOO_LARGE)/.test(String(thrown.code))) {
        return null;
      }
      throw thrown;
    }
  },
};
