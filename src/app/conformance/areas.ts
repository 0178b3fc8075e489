import { encodeUtf8, formatCanonical, type JsonObject, type JsonValue, parseJson } from "../../core/canonical/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import { LEDGER_AREAS } from "../../core/ledger/conformance.ts";
import { TEXT_AREAS } from "../../core/text/conformance.ts";
import { decodeBase64 } from "../../core/trust/base64.ts";
import { TRUST_AREAS } from "../../core/trust/conformance.ts";
import { CONTEXT_AREAS } from "../../rooms/context/index.ts";
import { JOBS_AREAS } from "../../rooms/jobs/index.ts";
import { WORLD_AREAS } from "../../rooms/world/index.ts";
import { CATALYTIC_ROOM_AREAS } from "./catalytic-areas.ts";
import { JOBS_ROOM_AREAS } from "./jobs-areas.ts";
import type { AreaFunction, AreaPorts } from "./ports.ts";
import { WORKFLOW_ROOM_AREAS } from "./workflow-areas.ts";

/** Every area this build can run. */
export function listAreas(): ReadonlyMap<string, AreaFunction> {
  return new Map(
    Object.entries<AreaFunction>({
      "canonical-json": canonicalJson,
      ...TEXT_AREAS,
      ...LEDGER_AREAS,
      ...TRUST_AREAS,
      ...CATALYTIC_ROOM_AREAS,
      ...CONTEXT_AREAS,
      ...JOBS_AREAS,
      ...JOBS_ROOM_AREAS,
      ...WORKFLOW_ROOM_AREAS,
      ...WORLD_ROOM_AREAS,
    }),
  );
}

function canonicalJson(input: JsonObject, { crypto }: AreaPorts): JsonValue {
  const canonical = formatCanonical(parseJson(textOf(input)));
  return {
    canonical,
    sha256: crypto.sha256(canonical),
    file_sha256: crypto.sha256(encodeUtf8(`${canonical}\n`)),
  };
}

function textOf({ text, b64 }: JsonObject): string | Uint8Array {
  if (typeof text === "string") return text;
  const bytes = typeof b64 === "string" ? decodeBase64(b64) : null;
  if (bytes === null) throw new VerbatimError("INPUT_INVALID", { message: "the input has no usable text or b64" });
  return bytes;
}

/** The areas of the world room with the time zones and graphemes of this Node. */
export const WORLD_ROOM_AREAS: Readonly<Record<string, AreaFunction>> = Object.fromEntries(
  Object.entries(WORLD_AREAS).map(([name, area]): [string, AreaFunction] => [
    name,
    (input, { crypto, zones, graphemes }) => area(input, { crypto, zones, graphemes }),
  ]),
);
