import type { ToolRequest } from "../contracts/tool-request.ts";
import { dropLast, findEvidence, findIds } from "../knowledge/evidence.ts";
import type { Frame } from "../knowledge/frames.ts";
import type { WorldPorts } from "../operations/ports.ts";
import type { ChatFacts, ChatMessage } from "../ports.ts";
import type { Hub } from "../projection/hub.ts";
import type { OpenWorld } from "../projection/reading.ts";
import { budgetOf } from "../settings.ts";
import { toAnswerSchemas } from "../writer/answer-schema.ts";
import type { BeatPorts, Evidence, ModelAnswer, ModelCall, PassPlan } from "../writer/beat-loop.ts";
import { toChatRequest } from "../writer/chat-request.ts";
import type { WriterDown } from "../writer/failures.ts";
import { describeParts, toMessages, toUserMessage } from "../writer/frame.ts";
import { mayBeSent, pairOf, toForbidden } from "../writer/pairs.ts";
import { RULES_V2 } from "../writer/rules/v2.ts";
import { ScriptedWriter } from "../writer/scripted.ts";
import { writerOf } from "../writer/writer-settings.ts";
import type { CallRecord } from "./calls.ts";

interface WritingRequest {
  readonly request_id: string;
  readonly invoker_id: string;
  readonly speaker: string;
  readonly world_time: string;
  readonly signal: AbortSignal;
}

/** The rules text of a world and the name it goes by. */
export function rulesOf(world: OpenWorld, ports: Pick<WorldPorts, "crypto">): { text: string; version: string } {
  const { rules } = world.state.settings.writer;
  if (rules === null) return RULES_V2;
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
  #facts: ChatFacts | null = null;

  constructor(ports: WorldPorts, hub: Hub, world: OpenWorld, frames: readonly Frame[], request: WritingRequest) {
    this.#ports = ports;
    this.#hub = hub;
    this.#world = world;
    this.#frames = new Map(frames.map((frame) => [frame.plan.actor, frame]));
    this.#request = request;
    this.#rules = rulesOf(world, ports);
    const { writer } = world.state.settings;
    // The script is that of the world; whoever is cast otherwise has none.
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
    const { signal, invoker_id } = this.#request;
    this.#usage = { input: null, output: null };
    this.#facts = null;
    this.#why = "";
    if (signal.aborted) return { error: "CANCELLED" };
    const { settings } = this.#world.state;
    const writer = writerOf(settings, call.plan.actor);
    if (writer.kind === "scripted") {
      const { cast, state } = this.#world;
      const scripted = this.#scripted ?? new ScriptedWriter(this.#ports.graphemes, null, []);
      const said = this.#frame(call.plan).parts.said.text;
      return { raw: scripted.answer({ call, cast, beat_no: state.next_beat, operator_text: said }) };
    }
    const pair = pairOf(writer);
    if (pair !== null && !(await mayBeSent(this.#ports, this.#world.state.world_id, pair))) {
      return this.#down(toForbidden(pair));
    }
    const request = toChatRequest(settings, writer, {
      messages: this.#messages,
      held: toAnswerSchemas(this.#world.cast, call.plan),
      user: invoker_id,
    });
    const answer = await this.#ports.models.chat(request, signal);
    this.#facts = answer.facts ?? null;
    if ("refused" in answer) {
      this.#why = toWords(answer.refused);
      return { error: "REFUSED", fault: answer.refused };
    }
    if ("down" in answer) {
      if (!signal.aborted) return this.#down(answer.down);
      this.#why = answer.down.message;
      return { error: "CANCELLED" };
    }
    this.#usage = { input: answer.input_tokens, output: answer.output_tokens };
    return { raw: answer.text, cut: answer.cut === true };
  }

  #down(fault: WriterDown): ModelAnswer {
    this.#why = toWords(fault);
    return { error: "DOWN", fault };
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
    const { settings } = this.#world.state;
    const writer = writerOf(settings, call.plan.actor);
    const most = settings.context.window_tokens - budgetOf(settings).output_reserve;
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
      held: this.#facts?.held ?? null,
      not_sent: this.#facts?.not_sent ?? [],
      thinking: this.#facts?.thinking ?? 0,
      excerpt: this.#facts?.excerpt ?? null,
      findings: (this.#usage.input ?? 0) > most ? ["WRITER_PROMPT_CUT"] : [],
    });
  }

  #frame(plan: PassPlan): Frame {
    return this.#frames.get(plan.actor)!;
  }

  #status(phase: "THINKING" | "SEARCHING"): void {
    const { request_id, speaker } = this.#request;
    const tools_used = this.#toolsUsed;
    const status = { request_id, phase, tools_used, speaker, result: null, code: null };
    this.#hub.status(this.#world.state.world_id, status);
  }
}

function toWords({ code, message }: WriterDown): string {
  return `${code}: ${message}`;
}

function toVerdict(output: NonNullable<Parameters<NonNullable<BeatPorts["judged"]>>[2]>): string {
  return "error" in output ? `${output.result}:${output.error.code}` : output.result;
}
