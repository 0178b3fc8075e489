import { unzipSync, type Zippable, zipSync } from "fflate";
import type { Zipper } from "../../../rooms/workflow/ports.ts";

// The archive keeps local time without a zone: the first moment of 1980 in whatever zone this is.
const FIRST_MOMENT = new Date(1980, 0, 1, 0, 0, 0);
const UNIX = 3;
const FILE_MODE = 0o100644;
const FOLDER_MODE = 0o040755;

/** Zip archives whose bytes depend on names and contents only. */
export const zipper: Zipper = {
  pack(entries) {
    const files: Zippable = {};
    for (const { name, bytes } of entries) {
      const mode = bytes === null ? FOLDER_MODE : FILE_MODE;
      const options = {
        level: 6,
        mtime: FIRST_MOMENT,
        os: UNIX,
        attrs: ((mode << 16) | (bytes === null ? 0x10 : 0)) >>> 0,
      } as const;
      files[name] = [bytes ?? new Uint8Array(), options];
    }
    return zipSync(files);
  },
  names(bytes) {
    const names: string[] = [];
    try {
      unzipSync(bytes, {
        filter: ({ name }) => {
          names.push(name);
          return false;
        },
      });
      return names;
    } catch (thrown) {
      if (thrown instanceof Error && "code" in thrown) return null;
      throw thrown;
    }
  },
  unpack(bytes, most) {
    let size = 0;
    try {
      const files = unzipSync(bytes, {
        filter: ({ originalSize }) => {
          size += originalSize;
          return size <= most;
        },
      });
      const found = Object.entries(files);
      // Sizes of an archive are what whoever made it says; what came out counts.
      const real = found.reduce((sum, [, content]) => sum + content.length, 0);
      return size > most || real > most ? null : new Map(found);
    } catch (thrown) {
      if (thrown instanceof Error && "code" in thrown) return null;
      throw thrown;
    }
  },
};
