import {
  formatCanonical,
  hashCanonical,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  utf8Length,
} from "../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../core/errors/index.ts";
import { fromHex } from "../../core/hex.ts";
import type { SyncCrypto } from "../../core/ports.ts";
import { type Author, type Cast, defaultVisibility } from "./cast.ts";
import type { CheckContext, LedgerEntry } from "./check/context.ts";
import { checkEntry } from "./check/entry.ts";
import { bodyOf, checkEnvelope } from "./check/envelope.ts";
import { checkCapsule, checkRehydration, checkRetrievalPack, checkSceneAnchor } from "./check/packs.ts";
import { checkProjectionOutput } from "./check/projection-output.ts";
import { checkToolRequest } from "./check/tool-request.ts";
import { checkWriteBundle } from "./check/write-bundle.ts";
import { gate, type View } from "./gate.ts";
import { claim, type InvocationRow, isHolder } from "./idempotency.ts";
import { invalidCursor, makeCursor, readCursor, toBundleId, toEntryId } from "./ids.ts";
import { readCard } from "./import/card.ts";
import { toPersonId } from "./import/person-id.ts";
import { buildRehydration, isTriggered, triggerAt, tryPacks, usableTokens } from "./packs/rehydration.ts";
import type { Graphemes, Zones } from "./ports.ts";
import { inOrder, projectEntries, surfaceOf } from "./projection.ts";
import { toExcerpt } from "./retrieval/excerpt.ts";
import { searchEntries, toSearchPack } from "./retrieval/search.ts";
import { queryTerms, termsOf } from "./retrieval/terms.ts";
import { type ClockDeclaration, type ClockState, moveClock } from "./time/clock.ts";
import { formatInstant, parseInstant, parseWritten, requireZone, toInstant } from "./time/instant.ts";
import { BYTES_BY_THREE } from "./tokens.ts";
import { runBeat } from "./writer/beat-loop.ts";
import { MAX_LEVELS, type Pass, readWriterOutput, type WriterOutput } from "./writer/output.ts";

/** What the areas of the room need besides their input. */
export interface WorldAreaPorts {
  readonly crypto: SyncCrypto;
  readonly zones: Zones;
  readonly graphemes: Graphemes;
}

type Area = (input: JsonObject, ports: WorldAreaPorts) => JsonValue | Promise<JsonValue>;

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
      const plan = readCard(readCast(input), input["card"] ?? null, input["options"] as never);
      const { version, people, present_after, lines, not_imported } = plan;
      return { version, person: people[0]!, present_after, entries: lines, not_imported } as unknown as JsonValue;
    },
    "world.person-id": (input) => ({ person_id: toPersonId(readCast(input), String(input["name"])) }),
  };
}

function readCast(input: JsonObject): Cast {
  const world = input["world"] as unknown as Omit<Cast, "people"> & {
    readonly people: Readonly<Record<string, string>>;
  };
  return { ...world, people: new Map(Object.entries(world.people)) };
}

function readView(input: JsonObject): View {
  return input["view"] as unknown as View;
}

function readEntries(input: JsonObject, name = "entries"): readonly LedgerEntry[] {
  return (input[name] ?? []) as unknown as readonly LedgerEntry[];
}

function readKey(input: JsonObject) {
  return { world_id: String(input["world_id"]), key: fromHex(String(input["world_key_hex"])) ?? new Uint8Array() };
}

function judgeContract(input: JsonObject, ports: WorldAreaPorts): JsonValue {
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

function project(input: JsonObject): JsonValue {
  const options = input["options"] as unknown as Partial<Parameters<typeof projectEntries>[3]>;
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
    readonly items: readonly { readonly item_id: string; readonly state: string; readonly time: string | null }[];
  };
  const items = state.items.map(({ item_id, state: now, time }) => ({
    item_id,
    state: now,
    time_ms: time === null ? null : parseInstant(time, "/time"),
  }));
  return moveClock(zones, state, input["invocation"] as unknown as ClockDeclaration, items) as unknown as JsonValue;
}

function outputContext(input: JsonObject, { zones }: WorldAreaPorts) {
  const context = input["context"] as unknown as {
    readonly actor: string;
    readonly pass: Pass;
    readonly request_id: string;
    readonly now_ms: number;
  };
  return { ...context, cast: readCast(input), zones };
}

function toOutputAnswer(output: WriterOutput): JsonValue {
  switch (output.result) {
    case "ACCEPTED":
      return { result: output.result, entries: output.entries as unknown as JsonValue };
    case "TOOL_REQUEST":
      return { result: output.result, normalized: { ...output.request } };
    case "SILENCE":
      return { result: output.result };
    default:
      return { result: output.result, error: { ...output.error } };
  }
}

interface ScriptedAnswer {
  readonly raw?: string;
  readonly error?: "DOWN";
  readonly elapsed_ms?: number;
}

async function beatLoop(input: JsonObject, ports: WorldAreaPorts): Promise<JsonValue> {
  const { actor, pass, request_id, now_ms, cast, zones } = outputContext(input, ports);
  const answers = [...(input["writer_outputs"] as unknown as readonly ScriptedAnswer[])];
  const text = String(input["input_text"] ?? "");
  let elapsed = 0;
  const outcome = await runBeat(
    {
      cast,
      zones,
      request_id,
      now_ms,
      limits: { max_calls: 4, beat_bytes: 24_576, wall_ms: 30_000 },
      passes: [{ actor, pass }],
    },
    {
      elapsed: () => elapsed,
      async call() {
        const { raw, elapsed_ms = 0 } = answers.shift() ?? {};
        elapsed += elapsed_ms;
        return raw === undefined ? { error: "DOWN" } : { raw };
      },
      runTool: async () => ({ value: {}, bytes: 0 }),
      fit: () => null,
    },
  );
  const author: Author = { author_id: cast.operator_id, author_class: "OPERATOR" };
  const user = { author, channel: "USER", text, visibility: defaultVisibility(cast, author) };
  const committed = [...(text === "" ? [] : [user]), ...outcome.lines];
  const isNothing = outcome.result === "WRITER_UNAVAILABLE" && committed.length === 0;
  return {
    http: isNothing ? 503 : 200,
    beat_result: outcome.result,
    ...(outcome.error === null ? {} : { error: { ...outcome.error } }),
    calls: outcome.calls,
    tool_calls: outcome.tool_calls,
    reasked: outcome.reasked,
    steps: outcome.steps,
    committed_entries: committed as unknown as JsonValue,
    bundles: committed.length > 0 ? 1 : 0,
  };
}

interface IdempotencyStep {
  readonly op: "claim" | "commit" | "heartbeat" | "release" | "crash";
  readonly world: string;
  readonly request_id: string;
  readonly body: string;
  readonly fence: number;
  readonly outcome: string;
  readonly wrote?: boolean;
  readonly now: number;
}

function idempotency(input: JsonObject): JsonValue {
  const leaseMs = Number(input["lease_ms"]);
  const rows = new Map<string, InvocationRow & { readonly outcome: string }>();
  let bundles = 0;
  const results = (input["steps"] as unknown as readonly IdempotencyStep[]).map((step): JsonValue => {
    const key = formatCanonical([step.world, step.request_id]);
    const row = rows.get(key) ?? null;
    if (step.op === "crash") return { result: "NOTHING" };
    if (step.op === "claim") {
      const verdict = claim(row, step.body, step.now, leaseMs);
      if ("row" in verdict) {
        rows.set(key, { ...verdict.row, outcome: "" });
        return { result: verdict.result, fence: verdict.row.fence };
      }
      if (verdict.result === "REPLAY") return { result: "REPLAY", http: 200, outcome: row!.outcome };
      if (verdict.result === "IN_PROGRESS") return { result: "IN_PROGRESS", http: 202 };
      return { result: "BODY_MISMATCH", http: 409, error: { code: "IDEMPOTENCY_BODY_MISMATCH" } };
    }
    if (row === null || !isHolder(row, step.fence)) return { result: "FENCED" };
    if (step.op === "heartbeat") {
      const lease_until = step.now + leaseMs;
      rows.set(key, { ...row, lease_until });
      return { result: "EXTENDED", lease_until };
    }
    if (step.op === "release") {
      rows.set(key, { ...row, status: "RELEASED" });
      return { result: "RELEASED" };
    }
    if (step.wrote !== false) bundles++;
    rows.set(key, { ...row, status: "DONE", outcome: step.outcome });
    return { result: "COMMITTED", http: 200, outcome: step.outcome };
  });
  return { bundles, results };
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
