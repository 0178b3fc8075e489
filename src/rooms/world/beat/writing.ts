import type { ToolRequest } from "../contracts/tool-request.ts";
import { SCOPES } from "../contracts/visibility.ts";
import { dropLast, findEvidence, findIds } from "../knowledge/evidence.ts";
import type { Frame } from "../knowledge/frames.ts";
import type { WorldPorts } from "../operations/ports.ts";
import type { ChatMessage } from "../ports.ts";
import type { Hub } from "../projection/hub.ts";
import type { OpenWorld } from "../projection/reading.ts";
import { budgetOf } from "../settings.ts";
import type { BeatPorts, Evidence, ModelAnswer, ModelCall, PassPlan } from "../writer/beat-loop.ts";
import { describeParts, toMessages, toUserMessage } from "../writer/frame.ts";
import { mayBeSent, pairOf } from "../writer/pairs.ts";
import { RULES_V1 } from "../writer/rules/v1.ts";
import { ScriptedWriter } from "../writer/scripted.ts";
import { DEFAULT_ADDRESS } from "../writer/writer-settings.ts";
import type { CallRecord } from "./calls.ts";

interface WritingRequest {
  readonly request_id: string;
  readonly invoker_id: string;
  readonly operator_text: string;
  readonly world_time: string;
  readonly signal: AbortSignal;
}

/** The rules text of a world and the name it goes by. */
export function rulesOf(world: OpenWorld, ports: Pick<WorldPorts, "crypto">): { text: string; version: string } {
  const { rules } = world.state.settings.writer;
  if (rules === null) return RULES_V1;
  return { text: rules, version: `owner:${ports.crypto.sha256(rules).slice(0, 16)}` };
}

/** Connects the loop of a beat with the writer's model and with the ledger's tools. Only reads. */
export class Writing implements BeatPorts {
  readonly calls: CallRecord[] = [];
  /** Names of the tools that were asked for; REFUSED for unlawful requests. */
  readonly toolsAsked: string[] = [];
  /** Milliseconds of each search. */
  readonly searchTimes: number[] = [];
  readonly #ports: WorldPorts;
  readonly #hub: Hub;
  readonly #world: OpenWorld;
  readonly #frames: ReadonlyMap<string, Frame>;
  readonly #request: WritingRequest;
  readonly #scripted: ScriptedWriter | null;
  readonly #rules: { readonly text: string; readonly version: string };
  #started: number | null = null;
  #toolsUsed = 0;
  #messages: readonly ChatMessage[] = [];
  #pieces: readonly (readonly [string, string])[] = [];
  #duration = 0;
  #usage: { readonly input: number | null; readonly output: number | null } = { input: null, output: null };
  #why = "";

  constructor(ports: WorldPorts, hub: Hub, world: OpenWorld, frames: readonly Frame[], request: WritingRequest) {
    this.#ports = ports;
    this.#hub = hub;
    this.#world = world;
    this.#frames = new Map(frames.map((frame) => [frame.plan.actor, frame]));
    this.#request = request;
    this.#rules = rulesOf(world, ports);
    const { writer } = world.state.settings;
    this.#scripted =
      writer.kind === "scripted" ? new ScriptedWriter(ports.graphemes, writer.script, world.state.script_used) : null;
  }

  /** Lines of the script that were used in this beat. */
  get scriptUsed(): readonly number[] {
    return this.#scripted?.used ?? [];
  }

  elapsed(): number {
    return this.#started === null ? 0 : this.#ports.pace.elapsed() - this.#started;
  }

  async call(call: ModelCall): Promise<ModelAnswer> {
    this.#started ??= this.#ports.pace.elapsed();
    this.#status("THINKING");
    const frame = this.#frame(call.plan);
    const { text, pieces } = toUserMessage(this.#world.cast, frame.parts, call.evidence, call.tools);
    this.#messages = toMessages(this.#rules.text, text);
    this.#pieces = pieces;
    const before = this.#ports.pace.elapsed();
    const answer = await this.#ask(call);
    this.#duration = this.#ports.pace.elapsed() - before;
    return answer;
  }

  async #ask(call: ModelCall): Promise<ModelAnswer> {
    const { signal, operator_text, invoker_id } = this.#request;
    this.#usage = { input: null, output: null };
    this.#why = "";
    if (signal.aborted) return { error: "CANCELLED" };
    const { writer } = this.#world.state.settings;
    if (this.#scripted !== null || writer.kind === "scripted") {
      const { cast, state } = this.#world;
      return { raw: this.#scripted!.answer({ call, cast, beat_no: state.next_beat, operator_text }) };
    }
    const pair = pairOf(writer);
    if (pair !== null && !(await mayBeSent(this.#ports, this.#world.state.world_id, pair))) {
      this.#why = `WRITER_PAIR_FORBIDDEN: the key in ${pair.variable} is not paired with ${pair.origin}`;
      return { error: "DOWN" };
    }
    const answer = await this.#ports.models.chat(
      {
        kind: writer.kind,
        base_url: writer.base_url ?? DEFAULT_ADDRESS[writer.kind],
        model: writer.model ?? "",
        timeout_ms: writer.timeout_ms,
        api_key_env: writer.api_key_env,
        messages: this.#messages,
        answer_schema: ANSWER_SCHEMA,
        user: invoker_id,
      },
      signal,
    );
    if ("down" in answer) {
      this.#why = answer.down;
      return { error: signal.aborted ? "CANCELLED" : "DOWN" };
    }
    this.#usage = { input: answer.input_tokens, output: answer.output_tokens };
    return { raw: answer.text };
  }

  async runTool(
    plan: PassPlan,
    request: ToolRequest & { readonly tool_request_id: string },
    maxBytes: number,
  ): Promise<Evidence> {
    this.#toolsUsed++;
    this.#status("SEARCHING");
    const { view } = this.#frame(plan);
    const before = this.#ports.pace.elapsed();
    const { request_id, world_time } = this.#request;
    const evidence = await this.#ports.store.read((tx) =>
      findEvidence(this.#ports, tx.world, this.#world, view, request, {
        request_id,
        world_time,
        max_bytes: maxBytes,
      }),
    );
    if (request.name === "LEDGER_SEARCH") this.searchTimes.push(this.#ports.pace.elapsed() - before);
    return evidence;
  }

  fit(plan: PassPlan, evidence: readonly Evidence[]): readonly Evidence[] | null {
    const { settings } = this.#world.state;
    const most = settings.context.window_tokens - budgetOf(settings).output_reserve;
    const measure = (items: readonly Evidence[]): number => {
      // The longest that can be said about tools.
      const tools = { available: false, calls_left: 0 };
      const { text } = toUserMessage(this.#world.cast, this.#frame(plan).parts, items, tools);
      return this.#ports.tokenizer.count(this.#rules.text) + this.#ports.tokenizer.count(text);
    };
    if (measure(evidence) <= most) return null;
    let fitting = evidence;
    while (fitting.length > 0 && measure(fitting) > most) fitting = dropLast(fitting);
    return fitting;
  }

  judged(call: ModelCall, answer: ModelAnswer, output: Parameters<NonNullable<BeatPorts["judged"]>>[2]): void {
    const frame = this.#frame(call.plan);
    const { writer } = this.#world.state.settings;
    const fault = output !== null && "error" in output ? output.error : null;
    if (output?.result === "TOOL_REQUEST") this.toolsAsked.push(output.request.name);
    if (output?.result === "TOOL_REFUSED") this.toolsAsked.push("REFUSED");
    this.calls.push({
      call_id: this.#ports.ids.uuid(),
      request_id: this.#request.request_id,
      pass: call.plan.pass,
      purpose: call.purpose,
      actor: call.plan.actor,
      view: frame.view,
      provider: writer.kind,
      model: writer.kind === "scripted" ? null : writer.model,
      rules_version: this.#rules.version,
      messages: this.#messages,
      parts: describeParts(this.#ports, this.#rules.text, frame.parts, this.#pieces, findIds(call.evidence)),
      raw: "raw" in answer ? answer.raw : null,
      verdict: output === null ? (this.#why === "" ? "CANCELLED" : this.#why) : toVerdict(output),
      verdict_where: fault?.where ?? null,
      lint: output?.result === "ACCEPTED" ? output.lint : [],
      estimated_tokens: this.#messages.reduce((sum, { content }) => sum + this.#ports.tokenizer.count(content), 0),
      reported_input_tokens: this.#usage.input,
      reported_output_tokens: this.#usage.output,
      duration_ms: Math.round(this.#duration),
    });
  }

  #frame(plan: PassPlan): Frame {
    return this.#frames.get(plan.actor)!;
  }

  #status(phase: "THINKING" | "SEARCHING"): void {
    const { request_id } = this.#request;
    this.#hub.status(this.#world.state.world_id, { request_id, phase, tools_used: this.#toolsUsed });
  }
}

function toVerdict(output: NonNullable<Parameters<NonNullable<BeatPorts["judged"]>>[2]>): string {
  return "error" in output ? `${output.result}:${output.error.code}` : output.result;
}

const text = { type: "string", minLength: 1 } as const;

const author = {
  type: "object",
  properties: { author_id: text, author_class: { enum: ["PERSON", "WORLD"] } },
  required: ["author_id", "author_class"],
  additionalProperties: false,
} as const;

const visibility = {
  type: "object",
  properties: { scope: { enum: SCOPES }, visible_to: { type: "array", items: text } },
  required: ["scope", "visible_to"],
  additionalProperties: false,
} as const;

const entry = {
  type: "object",
  properties: { author, channel: { enum: ["VOICE", "PEOPLE"] }, text, visibility },
  required: ["author", "channel", "text"],
  additionalProperties: false,
} as const;

const tool = {
  type: "object",
  properties: {
    name: { enum: ["LEDGER_SEARCH", "LEDGER_GET", "CAPSULE_GET", "SCENE_PACK_BUILD"] },
    query_text: { type: "string" },
    constraints: {
      type: "object",
      properties: { limit: { type: "integer", minimum: 1, maximum: 20 }, person_id: text },
      additionalProperties: false,
    },
  },
  required: ["name", "query_text"],
  additionalProperties: false,
} as const;

function only(key: string, value: object): object {
  return { type: "object", properties: { [key]: value }, required: [key], additionalProperties: false };
}

function object(properties: object, required: readonly string[]): object {
  return { type: "object", properties, required, additionalProperties: false };
}

/** JSON Schema of a writer's answer, for providers that hold a model to one. The answer is parsed strictly anyway. */
const ANSWER_SCHEMA = {
  anyOf: [
    only("no_write", object({ reason: { type: ["string", "null"] } }, [])),
    only("tool_request", object({ tool }, ["tool"])),
    only("proposed_write_bundle", object({ entries: { type: "array", items: entry, maxItems: 16 } }, ["entries"])),
  ],
} as const;
