import { formatCanonical, type JsonObject, type JsonValue, toJson } from "../../../core/canonical/index.ts";
import { given } from "../../../core/conformance-input.ts";
import { claim, type InvocationRow, isHolder } from "../beat/idempotency.ts";
import { type Author, defaultVisibility } from "../people/cast.ts";
import { runBeat } from "../writer/beat-loop.ts";
import type { Pass, WriterOutput } from "../writer/output.ts";
import { readCast, type WorldAreaPorts } from "./input.ts";

/** Where a writer's output stands. */
export function outputContext(input: JsonObject, { zones }: WorldAreaPorts) {
  const context = given<{
    readonly actor: string;
    readonly pass: Pass;
    readonly request_id: string;
    readonly now_ms: number;
  }>(input["context"]);
  return { ...context, cast: readCast(input), zones };
}

/** What a vector expects of a writer's output. */
export function toOutputAnswer(output: WriterOutput): JsonValue {
  switch (output.result) {
    case "ACCEPTED":
      return { result: output.result, entries: toJson(output.entries) };
    case "TOOL_REQUEST": {
      const { has_limit: _, ...normalized } = output.request;
      return { result: output.result, normalized: { ...normalized } };
    }
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

/** Runs a beat with the listed answers of a writer. */
export async function beatLoop(input: JsonObject, ports: WorldAreaPorts): Promise<JsonValue> {
  const { actor, pass, request_id, now_ms, cast, zones } = outputContext(input, ports);
  const answers = [...given<readonly ScriptedAnswer[]>(input["writer_outputs"])];
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
    committed_entries: toJson(committed),
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

/** Runs claims, commits and crashes on rows in memory. */
export function idempotency(input: JsonObject): JsonValue {
  const leaseMs = Number(input["lease_ms"]);
  const rows = new Map<string, InvocationRow & { readonly outcome: string }>();
  let bundles = 0;
  const results = given<readonly IdempotencyStep[]>(input["steps"]).map((step): JsonValue => {
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
