import type { JsonObject, JsonValue } from "../../core/canonical/index.ts";
import type { SyncCrypto } from "../../core/ports.ts";
import { checkMessage } from "./message.ts";

/** What the areas of the jobs room answer for a vector's input. Problem lists are pairs, compared as sets. */
export const JOBS_AREAS = {
  "jobs.message": (input: JsonObject, _: { crypto: SyncCrypto }): JsonValue => ({
    problems: checkMessage(input["message"] ?? null).map(({ code, pointer }) => [code, pointer]),
  }),
} as const;
