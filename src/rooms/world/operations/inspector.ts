import { z } from "zod";
import { VerbatimError } from "../../../core/errors/index.ts";
import { defineOperation, OWNER, typed } from "../../../core/operation.ts";
import { type CallRecord, parseCall } from "../beat/calls.ts";
import { isControlId } from "../beat/idempotency.ts";
import { loadWorld } from "../projection/reading.ts";
import { findWorldId, type WorldRoom, worldField } from "./room.ts";

const MAX_CALLS = 500;

const callSummary = z.strictObject({
  call_id: z.string(),
  request_id: z.string(),
  purpose: z.string(),
  actor: z.string(),
  provider: z.string(),
  model: z.string().nullable(),
  verdict: z.string(),
  estimated_tokens: z.int(),
  duration_ms: z.int(),
  held: z.string().nullable().describe("What the answer was held to."),
  not_sent: z.array(z.string()).describe("Settings that the provider does not take."),
  reported_input_tokens: z.int().nullable(),
  reported_output_tokens: z.int().nullable(),
});

export const calls = defineOperation({
  name: "world.calls",
  summary: "Lists the model calls of a request, or the newest of a world.",
  effect: "read",
  who: OWNER,
  input: z.strictObject({
    request_id: z.string().optional().describe("Only calls of this request."),
    world: worldField,
    limit: z.int().min(1).max(500).default(50).describe("Maximum number of calls."),
  }),
  output: z.strictObject({ calls: z.array(callSummary) }),
  async run(room: WorldRoom, { request_id, world, limit }) {
    const worldId = await findWorldId(room, world);
    const rows = await room.store.read(async (tx) => {
      const { number } = await loadWorld(tx.world, worldId);
      return tx.world.calls(number, request_id ?? null, limit);
    });
    return {
      calls: rows.reverse().map((row) => {
        const call = parseCall(row);
        const { call_id, purpose, actor, provider, model, verdict, estimated_tokens, duration_ms } = call;
        return {
          call_id,
          request_id: row.request_id,
          purpose,
          actor,
          provider,
          model,
          verdict,
          estimated_tokens,
          duration_ms,
          held: call.held ?? null,
          not_sent: [...(call.not_sent ?? [])],
          reported_input_tokens: call.reported_input_tokens,
          reported_output_tokens: call.reported_output_tokens,
        };
      }),
    };
  },
});

export const call = defineOperation({
  name: "world.call",
  summary: "Shows one model call: the exact messages, their parts, the raw answer and the verdict.",
  effect: "read",
  who: OWNER,
  input: z.strictObject({ call_id: z.string().min(1).describe("Id of the call."), world: worldField }),
  output: typed<CallRecord>(
    z.looseObject({ call_id: z.string(), request_id: z.string(), raw: z.string().nullable(), verdict: z.string() }),
  ),
  async run(room: WorldRoom, { call_id, world }) {
    const worldId = await findWorldId(room, world);
    const row = await room.store.read(async (tx) => {
      const { number } = await loadWorld(tx.world, worldId);
      return tx.world.call(number, call_id);
    });
    if (row === null) throw new VerbatimError("CALL_NOT_FOUND", { where: call_id });
    return { ...parseCall(row) };
  },
});

export const inspect = defineOperation({
  name: "world.inspect",
  summary: "Shows the model calls of a request: what each was sent and what it answered.",
  effect: "read",
  who: OWNER,
  input: z.strictObject({
    request_id: z.string().min(1).describe("Id of the request."),
    world: worldField,
    call: z.int().min(1).optional().describe("Show this call in full, counted from 1."),
    raw: z.boolean().default(false).describe("Show only the exact messages and the raw answer."),
  }),
  output: z.strictObject({
    calls: z.array(typed<CallRecord>(z.looseObject({ call_id: z.string(), verdict: z.string() }))),
    raw: z.boolean(),
  }),
  async run(room: WorldRoom, { request_id, world, call: number, raw }) {
    const worldId = await findWorldId(room, world);
    const rows = await room.store.read(async (tx) => {
      const found = await loadWorld(tx.world, worldId);
      return tx.world.calls(found.number, request_id, MAX_CALLS);
    });
    if (rows.length === 0) await requireInvocation(room, worldId, request_id);
    const all = rows.reverse().map(parseCall);
    if (number === undefined) return { calls: all.map((one) => ({ ...one })), raw };
    const one = all[number - 1];
    if (one === undefined) throw new VerbatimError("CALL_NOT_FOUND", { where: `call ${number} of ${request_id}` });
    return { calls: [{ ...one }], raw };
  },
});

/** Calls are kept for a while only; a request that never was is something else. */
async function requireInvocation(room: WorldRoom, worldId: string, requestId: string): Promise<void> {
  const known = await room.store.read(async (tx) => {
    const { number } = await loadWorld(tx.world, worldId);
    return tx.world.invocation(number, requestId);
  });
  if (known === null || isControlId(requestId)) {
    throw new VerbatimError("INVOCATION_NOT_FOUND", { where: requestId });
  }
}
