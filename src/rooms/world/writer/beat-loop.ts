import { formatCanonical, type JsonValue, toJson } from "../../../core/canonical/index.ts";
import type { Code } from "../../../core/errors/index.ts";
import type { ToolRequest } from "../contracts/tool-request.ts";
import type { Cast } from "../people/cast.ts";
import type { Zones } from "../ports.ts";
import { type AcceptedLine, type OutputFault, type Pass, readWriterOutput, type WriterOutput } from "./output.ts";
import type { Reply } from "./writer-settings.ts";

interface ToolLimits {
  readonly max_calls: number;
  /** Bytes of excerpts in one beat. */
  readonly beat_bytes: number;
  /** Milliseconds since the first model call after which tools are switched off. */
  readonly wall_ms: number;
}

export interface PassPlan {
  readonly actor: string;
  readonly pass: Pass;
  /** What its writer answers with (default: one JSON object). */
  readonly reply?: Reply;
}

/** What a tool answered, and what it costs of the beat's bytes. */
export interface Evidence {
  readonly value: JsonValue;
  readonly bytes: number;
}

export type Purpose = "WRITER" | "REASK" | "TOOLS_OFF";

export interface ModelCall {
  readonly plan: PassPlan;
  readonly purpose: Purpose;
  readonly evidence: readonly Evidence[];
  readonly tools: { readonly available: boolean; readonly calls_left: number };
}

export type ModelAnswer =
  | { readonly raw: string /** Broken off at the limit of the answer. */; readonly cut?: boolean }
  | { readonly error: "DOWN" | "CANCELLED" | "REFUSED"; readonly fault?: OutputFault };

/** What the loop needs from outside. Nothing here writes. */
export interface BeatPorts {
  /** Milliseconds since the first model call of the beat. */
  elapsed(): number;
  call(call: ModelCall): Promise<ModelAnswer>;
  /** Answers a lawful request with at most so many bytes of excerpts. */
  runTool(
    plan: PassPlan,
    request: ToolRequest & { readonly tool_request_id: string },
    maxBytes: number,
  ): Promise<Evidence>;
  /** Cuts the last pack from its end when the frame would pass the window; null when everything fits. */
  fit(plan: PassPlan, evidence: readonly Evidence[]): readonly Evidence[] | null;
  /** Told after each call, for the inspector and the record. */
  judged?(call: ModelCall, answer: ModelAnswer, output: WriterOutput | null): void;
}

interface BeatInput {
  readonly cast: Cast;
  readonly zones: Zones;
  readonly request_id: string;
  readonly now_ms: number;
  readonly limits: ToolLimits;
  readonly passes: readonly PassPlan[];
}

/** How a beat ends. */
export type PassResult =
  | "WROTE"
  | "SILENCE"
  /** No writer was asked. */
  | "LINE"
  | "PROPOSAL_REJECTED"
  | "WRITER_OUTPUT_INVALID"
  | "TOOL_BUDGET_SPENT"
  | "WRITER_UNAVAILABLE"
  | "WRITER_REFUSED"
  | "WRITER_CANCELLED";

interface PassOutcome {
  readonly plan: PassPlan;
  readonly result: PassResult;
  readonly error: OutputFault | null;
  readonly lines: readonly AcceptedLine[];
  readonly lint: readonly Code[];
  /** The answer that ended the pass, as it came. */
  readonly raw: string | null;
}

export interface BeatOutcome {
  readonly result: PassResult;
  readonly error: OutputFault | null;
  readonly passes: readonly PassOutcome[];
  readonly lines: readonly AcceptedLine[];
  readonly calls: number;
  readonly tool_calls: number;
  readonly reasked: boolean;
  /** Per call `RESULT`, `RESULT:CODE`, or what the model was. */
  readonly steps: readonly string[];
}

/** What the first call of a pass says about tools. */
export function toolsBefore(limits: ToolLimits, reply: Reply = "json"): ModelCall["tools"] {
  const available = reply !== "prose" && limits.max_calls > 0 && limits.beat_bytes > 0 && limits.wall_ms > 0;
  return { available, calls_left: available ? limits.max_calls : 0 };
}

/** What is spent over the whole beat, not per pass. */
interface Spent {
  calls: number;
  toolCalls: number;
  bytes: number;
  reasked: boolean;
  toolsOff: boolean;
  readonly steps: string[];
  readonly usedIds: string[];
}

/** Runs the writer's passes with their tool loop. Bounded: at most 1 + calls + 1 model calls a pass. */
export async function runBeat(input: BeatInput, ports: BeatPorts): Promise<BeatOutcome> {
  const spent: Spent = { calls: 0, toolCalls: 0, bytes: 0, reasked: false, toolsOff: false, steps: [], usedIds: [] };
  const passes: PassOutcome[] = [];
  for (const plan of input.passes) {
    const outcome = await runPass(input, ports, plan, spent);
    passes.push(outcome);
    if (outcome.result === "WRITER_UNAVAILABLE" || outcome.result === "WRITER_CANCELLED") break;
  }
  const decisive = decide(passes);
  return {
    result: decisive?.result ?? "SILENCE",
    error: decisive?.error ?? null,
    passes,
    lines: passes.flatMap(({ lines }) => lines),
    calls: spent.calls,
    tool_calls: spent.toolCalls,
    reasked: spent.reasked,
    steps: spent.steps,
  };
}

// A beat that wrote says so; one that did not names the most telling reason.
const TELLING: readonly PassResult[] = [
  "WROTE",
  "WRITER_CANCELLED",
  "WRITER_UNAVAILABLE",
  "WRITER_REFUSED",
  "PROPOSAL_REJECTED",
  "WRITER_OUTPUT_INVALID",
  "TOOL_BUDGET_SPENT",
];

function decide(passes: readonly PassOutcome[]): PassOutcome | undefined {
  for (const result of TELLING) {
    const found = passes.find((one) => one.result === result);
    if (found !== undefined) return found;
  }
  return undefined;
}

const ENDS = { DOWN: "WRITER_UNAVAILABLE", REFUSED: "WRITER_REFUSED", CANCELLED: "WRITER_CANCELLED" } as const;
const CUT: WriterOutput = { result: "PARSE_FAILED", error: { code: "WRITER_ANSWER_CUT" } };

async function runPass(input: BeatInput, ports: BeatPorts, plan: PassPlan, spent: Spent): Promise<PassOutcome> {
  let evidence: readonly Evidence[] = [];
  const answered = new Map<string, Evidence>();
  let purpose: Purpose = "WRITER";
  let available = false;
  for (;;) {
    const { limits } = input;
    // Asking again repeats the same bytes, so time that has passed meanwhile switches nothing off.
    if (purpose !== "REASK") {
      available =
        plan.reply !== "prose" &&
        !spent.toolsOff &&
        spent.toolCalls < limits.max_calls &&
        spent.bytes < limits.beat_bytes &&
        ports.elapsed() < limits.wall_ms;
    }
    if (!available && purpose === "WRITER" && evidence.length > 0) purpose = "TOOLS_OFF";
    const call: ModelCall = {
      plan,
      purpose,
      evidence,
      tools: { available, calls_left: available ? limits.max_calls - spent.toolCalls : 0 },
    };
    spent.calls++;
    const answer = await ports.call(call);
    if ("error" in answer) {
      spent.steps.push(answer.error);
      ports.judged?.(call, answer, null);
      return ended(plan, ENDS[answer.error], answer.fault ?? null, null);
    }
    const output =
      answer.cut === true ? CUT : readWriterOutput(answer.raw, { ...input, ...plan, used_ids: spent.usedIds });
    spent.steps.push("error" in output ? `${output.result}:${output.error.code}` : output.result);
    ports.judged?.(call, answer, output);
    if (output.result === "ACCEPTED") {
      return { ...ended(plan, "WROTE", null, answer.raw), lines: output.entries, lint: output.lint };
    }
    if (output.result === "SILENCE") return ended(plan, "SILENCE", null, answer.raw);
    if (output.result === "REJECTED") return ended(plan, "PROPOSAL_REJECTED", output.error, answer.raw);
    if (output.result === "PARSE_FAILED") {
      if (spent.reasked) return ended(plan, "WRITER_OUTPUT_INVALID", output.error, answer.raw);
      // The messages stay byte for byte the same: an explanation would be one more thing to obey.
      spent.reasked = true;
      purpose = "REASK";
      continue;
    }
    if (!available) return ended(plan, "TOOL_BUDGET_SPENT", null, answer.raw);
    evidence = await answerTool(ports, plan, output, evidence, answered, spent, limits);
    purpose = "WRITER";
  }
}

async function answerTool(
  ports: BeatPorts,
  plan: PassPlan,
  output: Extract<WriterOutput, { result: "TOOL_REQUEST" | "TOOL_REFUSED" }>,
  evidence: readonly Evidence[],
  answered: Map<string, Evidence>,
  spent: Spent,
  limits: ToolLimits,
): Promise<readonly Evidence[]> {
  spent.toolCalls++;
  if (output.result !== "TOOL_REQUEST") {
    return [...evidence, { value: { refused: toJson({ ...output.error }) }, bytes: 0 }];
  }
  const { tool_request_id, ...asked } = output.request;
  const id = tool_request_id ?? nextId(spent.usedIds);
  spent.usedIds.push(id);
  const key = formatCanonical(asked);
  const known = answered.get(key);
  const found =
    known ?? (await ports.runTool(plan, { ...asked, tool_request_id: id }, limits.beat_bytes - spent.bytes));
  if (known === undefined) {
    answered.set(key, found);
    spent.bytes += found.bytes;
  }
  const longer = known === undefined ? [...evidence, found] : evidence;
  const fitting = ports.fit(plan, longer);
  if (fitting === null) return longer;
  spent.toolsOff = true;
  return fitting;
}

function nextId(used: readonly string[]): string {
  for (let n = 1; ; n++) {
    const id = `tr:${String(n).padStart(4, "0")}`;
    if (!used.includes(id)) return id;
  }
}

function ended(plan: PassPlan, result: PassResult, error: OutputFault | null, raw: string | null): PassOutcome {
  return { plan, result, error, lines: [], lint: [], raw };
}
