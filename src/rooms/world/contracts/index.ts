import { defineContract, type JsonContract } from "../../../core/contracts/index.ts";
import { FINDINGS, isVerbatimError } from "../../../core/errors/index.ts";
import { findForeignStatement, findWrongSections } from "../history/export-statement.ts";
import { settingsSchema, usableOf } from "../settings.ts";
import { CONTEXT, ENTRY_CODES, own, PACK_CODES, SHAPE } from "./contract-checks.ts";
import { checkEntry, positionOfEntry } from "./entry.ts";
import { checkEnvelope } from "./envelope.ts";
import { checkCapsule, checkRehydration, checkRetrievalPack, checkSceneAnchor } from "./packs.ts";
import { checkProjectionOutput } from "./projection-output.ts";
import {
  capsuleSchema,
  envelopeSchema,
  exportManifestSchema,
  projectionOutputSchema,
  rehydrationSchema,
  retrievalPackSchema,
  sceneAnchorSchema,
  toolRequestSchema,
  writeBundleSchema,
  writeEntrySchema,
} from "./schemas.ts";
import { checkToolRequest } from "./tool-request.ts";
import { checkWriteBundle, positionOf } from "./write-bundle.ts";

const INVOCATION_ENVELOPE = defineContract({
  room: "world",
  name: "invocation-envelope",
  title: "InvocationEnvelope",
  summary: "The form in which a beat or a refresh of a world is requested.",
  schema: envelopeSchema,
  customCheck: own(
    [
      ...SHAPE,
      "FIELD_EMPTY",
      "FIELD_VALUE",
      "FIELD_PATTERN",
      "FIELD_TOO_LONG",
      "TEXT_HAS_NUL",
      "TEXT_INVISIBLE",
      "INPUT_TOO_LARGE",
      "INVOKER_IS_OPERATOR",
      "OPERATOR_MISMATCH",
      "NO_OP_WITH_TEXT",
      "NO_OP_WITH_OVERRIDES",
      "TIME_FORMAT_INVALID",
      "TIME_ZONE_UNKNOWN",
      "TIME_OUT_OF_RANGE",
    ],
    (value) => checkEnvelope(value, CONTEXT),
  ),
});

const WRITE_BUNDLE = defineContract({
  room: "world",
  name: "write-bundle",
  title: "WriteBundle",
  summary: "The atomic commit unit of a world: all of its entries or none.",
  schema: writeBundleSchema,
  customCheck: own(
    [
      ...SHAPE,
      "FIELD_EMPTY",
      "FIELD_TOO_LONG",
      "BUNDLE_TOO_MANY_ENTRIES",
      "BUNDLE_WROTE_MISMATCH",
      "BUNDLE_REJECTED_WITH_EFFECT",
      "BUNDLE_REASON_UNEXPECTED",
      "BUNDLE_ID_MISMATCH",
      "ENTRY_ID_DUPLICATE",
      "ID_ASSIGNED_BY_LEDGER",
    ],
    (value) => checkWriteBundle(value, { ...CONTEXT, position: positionOf(value) }),
  ),
});

const WRITE_ENTRY = defineContract({
  room: "world",
  name: "write-entry",
  title: "WriteEntry",
  summary: "The smallest unit of written reality. Corrections are new entries.",
  schema: writeEntrySchema,
  customCheck: own(ENTRY_CODES, (value) => checkEntry(value, { ...CONTEXT, position: positionOfEntry(value) })),
});

const PROJECTION_OUTPUT = defineContract({
  room: "world",
  name: "projection-output",
  title: "ProjectionOutput",
  summary: "What a screen gets: lines from the ledger and the pocket, nothing else.",
  schema: projectionOutputSchema,
  customCheck: own(
    [
      ...SHAPE,
      "FIELD_VALUE",
      "TIME_FORMAT_INVALID",
      "AUTHOR_LABEL_NOT_ALLOWED",
      "AUTHOR_LABEL_MISSING",
      "STREAM_DUPLICATE",
      "STREAM_ORDER",
      "DEBUG_MISMATCH",
    ],
    (value) => checkProjectionOutput(value),
  ),
});

const TOOL_REQUEST = defineContract({
  room: "world",
  name: "tool-request",
  title: "ToolRequest",
  summary: "A writer asks the ledger. Tools are mechanical and never write.",
  schema: toolRequestSchema,
  customCheck: own(
    [
      ...SHAPE,
      "FIELD_EMPTY",
      "FIELD_VALUE",
      "FIELD_TOO_LONG",
      "TOOL_UNKNOWN",
      "LIMIT_OUT_OF_RANGE",
      "TIME_WINDOW_INVERTED",
      "PERSON_UNKNOWN",
    ],
    (value) => checkToolRequest(value, CONTEXT),
  ),
});

const RETRIEVAL_RESULT_PACK = defineContract({
  room: "world",
  name: "retrieval-result-pack",
  title: "RetrievalResultPack",
  summary: "Evidence with its sources. Each excerpt is checked against the ledger.",
  schema: retrievalPackSchema,
  customCheck: own([...SHAPE, "FIELD_EMPTY", "FIELD_VALUE", "EMPTY_FLAG_MISMATCH"], (value) =>
    checkRetrievalPack(value, CONTEXT),
  ),
});

const SCENE_ANCHOR_PACK = defineContract({
  room: "world",
  name: "scene-anchor-pack",
  title: "SceneAnchorPack",
  summary: "The opening of a scene, made once and kept.",
  schema: sceneAnchorSchema,
  customCheck: own(PACK_CODES, (value) => checkSceneAnchor(value, CONTEXT)),
});

const REHYDRATION_PACK = defineContract({
  room: "world",
  name: "rehydration-pack",
  title: "RehydrationPack",
  summary: "What a writer is shown of a scene when its window is nearly full.",
  schema: rehydrationSchema,
  customCheck: own([...PACK_CODES, "FIELD_VALUE"], (value) => checkRehydration(value, CONTEXT)),
});

const CAPSULE_PACK = defineContract({
  room: "world",
  name: "capsule-pack",
  title: "CapsulePack",
  summary: "What one person has said, quoted. A view that can be rebuilt at any time.",
  schema: capsuleSchema,
  customCheck: own(
    [
      ...SHAPE,
      "FIELD_VALUE",
      "PERSON_UNKNOWN",
      "CAPSULE_SOURCE_MISSING",
      "CAPSULE_SECTION_DUPLICATE",
      "CAPSULE_DERIVED_UNMARKED",
      "PROVENANCE_EMPTY",
      "PROVENANCE_DUPLICATE",
      "PACK_META_WORD",
    ],
    (value) => checkCapsule(value, CONTEXT),
  ),
});

const WORLD_SETTINGS = defineContract({
  room: "world",
  name: "world-settings",
  title: "WorldSettings",
  summary: "Everything about a world that its owner decides. A new world needs a title and a time zone.",
  schema: settingsSchema,
  checks: [
    {
      code: "CONTEXT_BUDGET_TOO_SMALL",
      summary: FINDINGS.world.CONTEXT_BUDGET_TOO_SMALL,
      run(value) {
        const parsed = settingsSchema.safeParse(value);
        if (!parsed.success) return [];
        try {
          usableOf(parsed.data);
          return [];
        } catch (thrown) {
          if (!isVerbatimError(thrown)) throw thrown;
          return ["/context/window_tokens"];
        }
      },
    },
  ],
});

const WORLD_EXPORT_MANIFEST = defineContract({
  room: "world",
  name: "world-export-manifest",
  title: "World export manifest",
  summary: "The last line of an exported world; it vouches for every byte before it.",
  media: "jsonl",
  schema: exportManifestSchema,
  derived: [
    {
      code: "WORLD_STATEMENT_MISMATCH",
      summary: FINDINGS.world.WORLD_STATEMENT_MISMATCH,
      run: findForeignStatement,
    },
    {
      code: "WORLD_FILE_HASH_MISMATCH",
      summary: FINDINGS.world.WORLD_FILE_HASH_MISMATCH,
      run: findWrongSections,
    },
  ],
});

/**
 * The contract objects of the world room.
 *
 * @example
 * WORLD_CONTRACTS.some(({ name }) => name === "write-bundle"); // => true
 */
export const WORLD_CONTRACTS: readonly JsonContract[] = [
  INVOCATION_ENVELOPE,
  WRITE_BUNDLE,
  WRITE_ENTRY,
  PROJECTION_OUTPUT,
  TOOL_REQUEST,
  RETRIEVAL_RESULT_PACK,
  SCENE_ANCHOR_PACK,
  REHYDRATION_PACK,
  CAPSULE_PACK,
  WORLD_SETTINGS,
  WORLD_EXPORT_MANIFEST,
];
