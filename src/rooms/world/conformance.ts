import {
  hashCanonical,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  utf8Length,
} from "../../core/canonical/index.ts";
import { isVerbatimError } from "../../core/errors/index.ts";
import { type Author, defaultVisibility } from "./cast.ts";
import { bodyOf, checkEnvelope } from "./check/envelope.ts";
import { beatLoop, idempotency, outputContext, toOutputAnswer } from "./conformance-beats.ts";
import { judgeContract } from "./conformance-contract.ts";
import { type Area, readCast, readEntries, readKey, readView, type WorldAreaPorts } from "./conformance-input.ts";
import { gate } from "./gate.ts";
import { invalidCursor, makeCursor, readCursor, toBundleId, toEntryId } from "./ids.ts";
import { type CardOptions, readCard } from "./import/card.ts";
import { toPersonId } from "./import/person-id.ts";
import { buildRehydration, isTriggered, triggerAt, tryPacks, usableTokens } from "./packs/rehydration.ts";
import { inOrder, projectEntries, surfaceOf } from "./projection.ts";
import { toExcerpt } from "./retrieval/excerpt.ts";
import { searchEntries, toSearchPack } from "./retrieval/search.ts";
import { queryTerms, termsOf } from "./retrieval/terms.ts";
import { type ClockDeclaration, type ClockState, moveClock } from "./time/clock.ts";
import { formatInstant, parseInstant, parseWritten, requireZone, toInstant } from "./time/instant.ts";
import { BYTES_BY_THREE } from "./tokens.ts";
import { readWriterOutput } from "./writer/output.ts";

/** Answers a vector of the room; a coded error is answered with its pointer and HTTP status. */
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
    "world.gate": (input) => ({ ...gate(readCast(input), readView(input), input["entry"] as never) }),
    "world.surface": (input) => ({
      entry_ids: surfaceOf(readCast(input), readView(input), inOrder(readEntries(input))).map((one) => one.entry_id),
    }),
    "world.default-visibility": (input) =>
      ({ ...defaultVisibility(readCast(input), input["author"] as unknown as Author) }) as unknown as JsonValue,
    "world.projection": project,
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
      const plan = readCard(readCast(input), input["card"] ?? null, options as CardOptions);
      const { version, people, present_after, lines, not_imported } = plan;
      return { version, person: people[0]!, present_after, entries: lines, not_imported } as unknown as JsonValue;
    },
    "world.person-id": (input) => ({ person_id: toPersonId(readCast(input), String(input["name"])) }),
  };
}

function project(input: JsonObject): JsonValue {
  const options = (input["options"] ?? {}) as unknown as Partial<Parameters<typeof projectEntries>[3]>;
  const projected = projectEntries(readCast(input), String(input["viewer"]), readEntries(input), {
    mode: options.mode ?? "NO_OP",
    after: options.after ?? null,
    bundle_id: options.bundle_id ?? null,
    limit: options.limit ?? null,
  });
  const { entries, before, after, debug } = projected;
  return {
    stream: { entries, cursor_before_entry: before, cursor_after_entry: after },
    debug,
  } as unknown as JsonValue;
}

function search(input: JsonObject, { graphemes }: WorldAreaPorts): JsonValue {
  const constraints = (input["constraints"] ?? {}) as unknown as Record<string, JsonValue>;
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
  const { terms, matches, cut } = searchEntries(readCast(input), readView(input), readEntries(input), query);
  const head = { request_id: "req-1", tool_request_id: "tr:0001" };
  const pack = toSearchPack(
    graphemes,
    head,
    terms,
    matches.map(({ entry }) => entry),
    { cut },
  );
  return { terms, matched: matches.map(({ matched }) => matched), pack } as unknown as JsonValue;
}

function clock(input: JsonObject, { zones }: WorldAreaPorts): JsonValue {
  const state = input["state"] as unknown as ClockState & {
    readonly items?: readonly { readonly item_id: string; readonly state: string; readonly time: string | null }[];
  };
  const items = (state.items ?? []).map(({ item_id, state: now, time }) => ({
    item_id,
    state: now,
    time_ms: time === null ? null : parseInstant(time, "/time"),
  }));
  const said = { declared_world_time: null, timezone: null, pause_time: null, elapsed_ms: 0 } as const;
  const declared = { ...said, ...(input["invocation"] as unknown as ClockDeclaration) };
  return moveClock(zones, state, declared, items) as unknown as JsonValue;
}

function rehydrationPack(input: JsonObject): JsonValue {
  const cast = readCast(input);
  const visible = surfaceOf(cast, readView(input), inOrder(readEntries(input, "scene_entries")));
  const room = { usable: Number(input["usable_tokens"]), pack_percent: Number(input["pack_percent"]) };
  const built = buildRehydration(cast, BYTES_BY_THREE, visible, room);
  if (visible.length > 0) return { ...built };
  return { target: built.target, text: "", replay: "", used_entry_ids: [], reason: "NOTHING_VISIBLE" };
}

function rehydrationTries(input: JsonObject): JsonValue {
  const { usable, threshold_percent, fixed_tokens } = input as Record<string, number>;
  const packs = input["packs"] as readonly (number | null)[];
  const percent = Number(input["pack_percent"] ?? 40);
  const { pack, tries } = tryPacks(usable!, threshold_percent!, percent, (_, i) => {
    const tokens = packs[i] ?? null;
    return tokens === null ? null : { pack: tokens, load: fixed_tokens! + tokens };
  });
  if (pack !== null) return { outcome: "REHYDRATED", tries: tries as unknown as JsonValue };
  return {
    outcome: "FAILED",
    http: 503,
    error: { code: "REHYDRATION_FAILED" },
    bundles: 0,
    tries: tries as unknown as JsonValue,
  };
}
