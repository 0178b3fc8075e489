import {
  hashCanonical,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  toJson,
  utf8Length,
} from "../../../core/canonical/index.ts";
import { given } from "../../../core/conformance-input.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { project } from "../beat/outcome.ts";
import type { CheckContext, LedgerEntry } from "../contracts/context.ts";
import { checkEntry } from "../contracts/entry.ts";
import { bodyOf, checkEnvelope } from "../contracts/envelope.ts";
import { checkCapsule, checkRehydration, checkRetrievalPack, checkSceneAnchor } from "../contracts/packs.ts";
import { checkProjectionOutput } from "../contracts/projection-output.ts";
import { checkToolRequest } from "../contracts/tool-request.ts";
import { checkWriteBundle } from "../contracts/write-bundle.ts";
import { invalidCursor, makeCursor, readCursor, toBundleId, toEntryId } from "../ids.ts";
import { readCard } from "../import/card.ts";
import { readChat } from "../import/chat.ts";
import type { ImportOptions } from "../import/lines.ts";
import { toPersonId } from "../import/person-id.ts";
import { type BoundedPart, boundOf, lineCapOf, SHARES, type Share, spareOf } from "../knowledge/bounds.ts";
import { type Gated, gate } from "../knowledge/gate.ts";
import { quoteLine } from "../knowledge/line-quote.ts";
import { buildRehydration, isTriggered, triggerAt, tryPacks, usableTokens } from "../knowledge/rehydration.ts";
import { type Author, defaultVisibility } from "../people/cast.ts";
import { BYTES_BY_THREE } from "../people/tokens.ts";
import { toStreamEntry } from "../projection/projection.ts";
import { gated, readVisible } from "../projection/reading.ts";
import { toExcerpt } from "../retrieval/excerpt.ts";
import { toSearchPack } from "../retrieval/search.ts";
import { queryTerms, termsOf } from "../retrieval/terms.ts";
import { findMatches } from "../retrieval/world-search.ts";
import { type ClockDeclaration, type ClockState, moveClock } from "../time/clock.ts";
import { formatInstant, parseInstant, parseWritten, requireZone, toInstant } from "../time/instant.ts";
import { MAX_LEVELS, readWriterOutput } from "../writer/output.ts";
import { beatLoop, idempotency, outputContext, toOutputAnswer } from "./beats.ts";
import { type Area, readCast, readEntries, readKey, readView, type WorldAreaPorts } from "./input.ts";
import { openVector } from "./tables.ts";

/** Answers a vector of the room; a coded error is answered with its pointer and HTTP status. */
/** The parts of a frame whose bounds a vector names. */
const PARTS: readonly BoundedPart[] = ["notes", "about", "people", "pinned", "lore", "opportunities"];

export const WORLD_AREAS: Readonly<Record<string, Area>> = Object.fromEntries(
  Object.entries(areas()).map(([name, area]) => [name, answering(area)]),
);

function answering(area: Area): Area {
  return async (input, ports) => {
    try {
      return await area(input, ports);
    } catch (thrown) {
      if (!isVerbatimError(thrown)) throw thrown;
      const where = thrown.where?.startsWith("/") === true || thrown.where === "" ? { where: thrown.where } : {};
      return { error: { code: thrown.code, http: thrown.http, ...where } };
    }
  };
}

function areas(): Record<string, Area> {
  return {
    "world.contract": judgeContract,
    "world.body-hash": (input, ports) => {
      const envelope = checkEnvelope(input["value"] ?? null, { cast: readCast(input), zones: ports.zones });
      return { body_sha256: hashCanonical(ports.crypto, bodyOf(envelope)) };
    },
    "world.gate": (input) => ({ ...gate(readCast(input), readView(input), given<Gated>(input["entry"])) }),
    "world.surface": async (input, ports) => ({
      entry_ids: (await readSurface(input, ports)).map((one) => one.entry_id),
    }),
    "world.default-visibility": (input) =>
      toJson({ ...defaultVisibility(readCast(input), given<Author>(input["author"])) }),
    "world.projection": projection,
    "world.terms": (input) => ({ terms: termsOf(String(input["text"])) }),
    "world.search": search,
    "world.excerpt": (input, { graphemes }) => {
      const text = String(input["text"]);
      const terms = new Set(queryTerms(String(input["query_text"] ?? "")));
      const size = { max_bytes: Number(input["max_bytes"]), lead_bytes: Number(input["lead_bytes"]) };
      const excerpt = toExcerpt(graphemes, text, size, terms);
      return { excerpt, bytes: utf8Length(excerpt), is_substring: text.includes(excerpt) };
    },
    "world.time-parse": (input, { zones }) => {
      const zone = requireZone(zones, String(input["timezone"]), "/timezone");
      const ms = toInstant(zones, parseWritten(String(input["value"]), "/value", "optional"), zone, "/value");
      return { epoch_ms: ms, printed: formatInstant(zones, ms, zone) };
    },
    "world.time-format": (input, { zones }) => ({
      printed: formatInstant(zones, Number(input["epoch_ms"]), String(input["timezone"])),
    }),
    "world.clock": clock,
    "world.writer-output": (input, ports) =>
      toOutputAnswer(readWriterOutput(String(input["raw"]), outputContext(input, ports))),
    "world.beat-loop": beatLoop,
    "world.idempotency": idempotency,
    "world.tokens": (input) => ({ tokens: BYTES_BY_THREE.count(String(input["text"])) }),
    "world.rehydration-trigger": (input) => {
      const { window, output_reserve, evidence_bytes, threshold_percent, load } = input as Record<string, number>;
      const usable = usableTokens({
        window_tokens: window!,
        output_reserve: output_reserve!,
        evidence_bytes: evidence_bytes!,
      });
      return {
        usable,
        trigger_at: triggerAt(usable, threshold_percent!),
        trigger: isTriggered(load!, usable, threshold_percent!),
      };
    },
    "world.rehydration-pack": rehydrationPack,
    "world.rehydration-tries": rehydrationTries,
    "world.line-quote": (input, { graphemes }) => {
      const entry = given<LedgerEntry>(input["entry"]);
      const cap = lineCapOf(Number(input["usable"]));
      const { quote } = quoteLine({ graphemes, tokenizer: BYTES_BY_THREE }, readCast(input), entry, cap);
      return toJson({ cap, quote: quote ?? null });
    },
    "world.frame-bounds": (input) => {
      const usable = Number(input["usable"]);
      const bounds = (share: Share) => Object.fromEntries(PARTS.map((part) => [part, boundOf(usable, part, share)]));
      return toJson({ line: lineCapOf(usable), spare: spareOf(usable), tries: SHARES.map(bounds) });
    },
    "world.entry-id": (input, { crypto }) => ({ entry_id: toEntryId(crypto, readKey(input), Number(input["wseq"])) }),
    "world.bundle-id": (input, { crypto }) => ({
      bundle_id: toBundleId(crypto, readKey(input), Number(input["bundle_no"])),
    }),
    "world.cursor-make": (input, { crypto }) => ({
      cursor: makeCursor(crypto, readKey(input), String(input["viewer"]), String(input["entry_id"])),
    }),
    "world.cursor-read": (input, { crypto }) => {
      const entryId = readCursor(crypto, readKey(input), String(input["viewer"]), String(input["cursor"]));
      const visible = input["visible_entry_ids"] as readonly string[];
      if (entryId === null || !visible.includes(entryId)) throw invalidCursor();
      return { entry_id: entryId };
    },
    "world.import-card": (input) => {
      const options = { expand_names: true, lore: "world", enter: true, ...(input["options"] as object | undefined) };
      const plan = readCard(readCast(input), input["card"] ?? null, options as ImportOptions);
      const { version, people, person_id, present_after, lines, not_imported } = plan;
      const first = { version, person: people[0] ?? null, present_after, entries: lines, not_imported };
      if ((options as ImportOptions).rules !== 2) return toJson(first);
      const { background, lore, styles, greetings, lost } = plan;
      return toJson({ ...first, person_id, background, lore, styles, greetings, lost });
    },
    "world.import-chat": (input) => {
      const options = { expand_names: true, lore: "world", enter: true, ...(input["options"] as object | undefined) };
      const plan = readChat(readCast(input), String(input["chat"]), options as ImportOptions);
      const { people, lines, not_imported, lost, swipes, counts } = plan;
      return toJson({ people, entries: lines, not_imported, lost, swipes, counts });
    },
    "world.person-id": (input) => ({ person_id: toPersonId(readCast(input), String(input["name"])) }),
  };
}

/** Everything a view may see, as the product reads it. */
async function readSurface(input: JsonObject, { crypto }: WorldAreaPorts, name = "entries") {
  const { world, tables } = openVector(crypto, readCast(input), readEntries(input, name));
  return readVisible(tables, world, readView(input), { limit: Number.MAX_SAFE_INTEGER });
}

interface ProjectionOptions {
  readonly mode?: "BEAT" | "NO_OP";
  /** Entry id of the cursor. */
  readonly after?: string | null;
  /** The write bundle of this beat. */
  readonly bundle_id?: string | null;
  readonly limit?: number | null;
}

async function projection(input: JsonObject, { crypto }: WorldAreaPorts): Promise<JsonValue> {
  const cast = readCast(input);
  const view = { kind: "viewer", id: String(input["viewer"]) } as const;
  const options = given<ProjectionOptions>(input["options"] ?? {});
  const { mode = "NO_OP", after: cursor = null, bundle_id = null, limit = null } = options;
  const all = readEntries(input);
  const isFresh = ({ bundle_id: own }: LedgerEntry) => mode === "BEAT" && own === bundle_id;
  const { world, tables } = openVector(
    crypto,
    cast,
    all.filter((entry) => !isFresh(entry)),
  );
  const named = cursor === null ? [] : gated(world, view, await tables.entriesById(1, [cursor]));
  if (cursor !== null && named.length === 0) throw invalidCursor();
  const parts = { mode, after: named[0]?.wseq ?? null, written: all.filter(isFresh) };
  const limits = limit === null ? undefined : { after: limit, refresh: limit };
  const { shown, last, wrote } = await project(tables, world, cast, view, parts, limits);
  return toJson({
    stream: {
      entries: shown.map((entry) => toStreamEntry(cast, entry)),
      cursor_before_entry: cursor,
      cursor_after_entry: last?.entry_id ?? cursor,
    },
    debug: { wrote, bundle_id: wrote ? bundle_id : null },
  });
}

async function search(input: JsonObject, { crypto, graphemes }: WorldAreaPorts): Promise<JsonValue> {
  const constraints = given<Record<string, JsonValue>>(input["constraints"] ?? {});
  const window = (isJsonObject(constraints["time_window"]) ? constraints["time_window"] : constraints) as JsonObject;
  const instant = (name: string): number | null => {
    const text = window[name];
    return typeof text === "string" ? parseInstant(text, `/constraints/${name}`) : null;
  };
  const query = {
    query_text: String(input["query_text"]),
    limit: Number(constraints["limit"] ?? 5),
    person_id: (constraints["person_id"] ?? null) as string | null,
    from: instant("from"),
    to: instant("to"),
  };
  const { world, tables } = openVector(crypto, readCast(input), readEntries(input));
  const { terms, matches, cut } = await findMatches({ crypto }, tables, world, readView(input), query);
  const head = { request_id: "req-1", tool_request_id: "tr:0001" };
  const pack = toSearchPack(
    graphemes,
    head,
    terms,
    matches.map(({ entry }) => entry),
    { cut },
  );
  return toJson({ terms, matched: matches.map(({ matched }) => matched), pack });
}

function clock(input: JsonObject, { zones }: WorldAreaPorts): JsonValue {
  const state = given<
    ClockState & {
      readonly items?: readonly { readonly item_id: string; readonly state: string; readonly time: string | null }[];
    }
  >(input["state"]);
  const items = (state.items ?? []).map(({ item_id, state: now, time }) => ({
    item_id,
    state: now,
    time_ms: time === null ? null : parseInstant(time, "/time"),
  }));
  const said = { declared_world_time: null, timezone: null, pause_time: null, elapsed_ms: 0 } as const;
  const declared = { ...said, ...given<ClockDeclaration>(input["invocation"]) };
  return toJson(moveClock(zones, state, declared, items));
}

async function rehydrationPack(input: JsonObject, ports: WorldAreaPorts): Promise<JsonValue> {
  const cast = readCast(input);
  const visible = await readSurface(input, ports, "scene_entries");
  const room = { usable: Number(input["usable_tokens"]), pack_percent: Number(input["pack_percent"]) };
  const built = buildRehydration(cast, BYTES_BY_THREE, visible, room);
  if (visible.length > 0) return { ...built };
  return { target: built.target, text: "", replay: "", used_entry_ids: [], reason: "NOTHING_VISIBLE" };
}

async function rehydrationTries(input: JsonObject): Promise<JsonValue> {
  const { usable, threshold_percent, fixed_tokens } = input as Record<string, number>;
  const packs = input["packs"] as readonly (number | null)[];
  const percent = Number(input["pack_percent"] ?? 40);
  const { pack, tries } = await tryPacks(usable!, threshold_percent!, percent, (_, i) => {
    const tokens = packs[i] ?? null;
    return tokens === null ? null : { pack: tokens, load: fixed_tokens! + tokens };
  });
  if (pack !== null) return { outcome: "REHYDRATED", tries: toJson(tries) };
  return {
    outcome: "FAILED",
    http: 503,
    error: { code: "REHYDRATION_FAILED" },
    bundles: 0,
    tries: toJson(tries),
  };
}

/** Judges a value against one of the nine contracts. */
function judgeContract(input: JsonObject, ports: WorldAreaPorts): JsonValue {
  const value = typeof input["raw"] === "string" ? parseJson(input["raw"], { maxDepth: MAX_LEVELS }) : input["value"]!;
  const partial = given<
    Partial<CheckContext> & {
      readonly entries?: readonly LedgerEntry[];
    }
  >(isJsonObject(input["context"]) ? input["context"] : {});
  const { entries, ...rest } = partial;
  const context: CheckContext = {
    ...rest,
    cast: readCast(input),
    zones: ports.zones,
    graphemes: ports.graphemes,
    ...(entries === undefined ? {} : { entries: new Map(entries.map((entry) => [entry.entry_id, entry])) }),
  };
  switch (input["contract"]) {
    case "invocation_envelope":
      return { valid: true, normalized: toJson(checkEnvelope(value, context)) };
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
