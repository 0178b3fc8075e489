import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { encodeUtf8, parseJson } from "../../../core/canonical/index.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import { errnoCode } from "../../../core/errors/system.ts";
import type { Baselines } from "../../../rooms/workflow/ports.ts";
import { PRIVATE_FILE, PRIVATE_FOLDER } from "../guarded/private-modes.ts";
import { writeDurably } from "./durable-write.ts";

const result = z.strictObject({ exit_code: z.int(), ms: z.int() });

/** Results of baselines as small files in a folder. What cannot be read is not known. */
export function createBaselines(folder: string): Baselines {
  return {
    get(key) {
      try {
        return result.safeParse(parseJson(readFileSync(join(folder, `${key}.json`)))).data ?? null;
      } catch (thrown) {
        if (errnoCode(thrown) === "ENOENT" || isVerbatimError(thrown)) return null;
        throw thrown;
      }
    },
    put(key, found) {
      mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER });
      writeDurably(join(folder, `${key}.json`), encodeUtf8(`${JSON.stringify(found)}\n`), PRIVATE_FILE);
    },
  };
}
