import { inflateRawSync, inflateSync } from "node:zlib";
import type { Inflater } from "../../rooms/world/ports.ts";

/** Unpacks within a limit; what is damaged or larger is null. */
export const zlibInflater: Inflater = {
  raw: (bytes, maxBytes) => attempt(() => inflateRawSync(bytes, { maxOutputLength: Math.max(maxBytes, 1) })),
  zlib: (bytes, maxBytes) => attempt(() => inflateSync(bytes, { maxOutputLength: Math.max(maxBytes, 1) })),
};

function attempt(unpack: () => Uint8Array): Uint8Array | null {
  try {
    return unpack();
  } catch (thrown) {
    // Damaged data and the limit both have a code of zlib's or of Node's buffers.
    if (thrown instanceof Error && "code" in thrown && /^(Z_|ERR_BUFFER_TOO_LARGE)/.test(String(thrown.code)))
      return null;
    throw thrown;
  }
}
