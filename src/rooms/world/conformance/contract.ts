import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { CheckContext, LedgerEntry } from "../contracts/context.ts";
import { checkEntry } from "../contracts/entry.ts";
import { checkEnvelope } from "../contracts/envelope.ts";
import { checkCapsule, checkRehydration, checkRetrievalPack, checkSceneAnchor } from "../contracts/packs.ts";
import { checkProjectionOutput } from "../contracts/projection-output.ts";
import { checkToolRequest } from "../contracts/tool-request.ts";
import { checkWriteBundle } from "../contracts/write-bundle.ts";
import { MAX_LEVELS } from "../writer/output.ts";
import { readCast, type WorldAreaPorts } from "./input.ts";

/** Judges a value against one of the nine contracts. */
export function judgeContract(input: JsonObject, ports: WorldAreaPorts): JsonValue {
  const value = typeof input["raw"] === "string" ? parseJson(input["raw"], { maxDepth: MAX_LEVELS }) : input["value"]!;
  const given = (isJsonObject(input["context"]) ? input["context"] : {}) as unknown as Partial<CheckContext> & {
    readonly entries?: readonly LedgerEntry[];
  };
  const { entries, ...rest } = given;
  const context: CheckContext = {
    ...rest,
    cast: readCast(input),
    zones: ports.zones,
    graphemes: ports.graphemes,
    ...(entries === undefined ? {} : { entries: new Map(entries.map((entry) => [entry.entry_id, entry])) }),
  };
  switch (input["contract"]) {
    case "invocation_envelope":
      return { valid: true, normalized: checkEnvelope(value, context) as unknown as JsonValue };
    case "write_bundle":
      checkWriteBundle(value, context);
      break;
    case "write_entry":
      checkEntry(value, context);
      break;
    case "projection_output":
      checkProjectionOutput(value, context);
      break;
    case "tool_request":
      checkToolRequest(value, context);
      break;
    case "retrieval_result_pack":
      checkRetrievalPack(value, context);
      break;
    case "scene_anchor_pack":
      checkSceneAnchor(value, context);
      break;
    case "rehydration_pack":
      checkRehydration(value, context);
      break;
    case "capsule_pack":
      checkCapsule(value, context);
      break;
    default:
      throw new VerbatimError("CONTRACT_UNKNOWN");
  }
  return { valid: true };
}
