import type { WorldPorts } from "../operations/ports.ts";
import type { Cast } from "../people/cast.ts";
import type { ChatAnswer } from "../ports.ts";
import type { Settings } from "../settings.ts";
import { toAnswerSchemas } from "./answer-schema.ts";
import type { PassPlan } from "./beat-loop.ts";
import { toChatRequest } from "./chat-request.ts";
import { toMessages } from "./frame.ts";
import { readWriterOutput } from "./output.ts";
import { mayBeSent, pairOf, toForbidden } from "./pairs.ts";
import { DEFAULT_ADDRESS, REPLIES, type Reply, type WriterSettings } from "./writer-settings.ts";

export const STEPS = ["REACH", "KEY", "MODEL", "HELD", "ANSWER", "WINDOW"] as const;

interface Step {
  readonly step: (typeof STEPS)[number];
  readonly ok: boolean;
  readonly code: string | null;
  readonly words: string;
  readonly ms: number;
}

export interface WriterReport {
  readonly ok: boolean;
  readonly steps: readonly Step[];
  /** The only grammar that the answer matches, where it is another than the declared one. */
  readonly proposes: Reply | null;
}

// Invented people in a room that no world has: nothing of a world is sent.
const CAST: Cast = {
  operator_id: "GEORGE",
  operator_name: "George",
  people: new Map([["MIRA", "Mira"]]),
  present: ["GEORGE", "MIRA"],
  visibility_default: "presence",
  writer_lint: "off",
};
const PLAN: PassPlan = { actor: "WORLD", pass: "ROOM" };
const RULES =
  'Answer with exactly one JSON object and nothing around it: {"proposed_write_bundle":{"entries":[{"author":{"author_id":"MIRA","author_class":"PERSON"},"channel":"PEOPLE","text":"one short friendly sentence"}]}}';
const SAID = '{"operator":{"name":"George","text":"Good morning, Mira."}}';
const WORD = "larimbel";
const FILLER = "The tide is out. ";

/** Which code of a failure belongs to which step; the others are of the answer. */
const STEP_OF: Readonly<Record<string, Step["step"]>> = {
  WRITER_UNREACHABLE: "REACH",
  WRITER_KEY_MISSING: "KEY",
  WRITER_KEY_REFUSED: "KEY",
  WRITER_PAIR_FORBIDDEN: "KEY",
  WRITER_MODEL_UNKNOWN: "MODEL",
};

/** Tries a writer with a fixed text about invented people: at most two model calls, and nothing of any world. */
export async function testWriter(
  ports: Pick<WorldPorts, "models" | "pace" | "store" | "tokenizer" | "zones">,
  settings: Settings,
  writer: WriterSettings,
  worldId: string | null,
): Promise<WriterReport> {
  if (writer.kind === "scripted") {
    return { ok: true, proposes: null, steps: [step("ANSWER", null, "the scripted writer needs no model", 0)] };
  }
  const steps: Step[] = [];
  const address = writer.base_url ?? DEFAULT_ADDRESS[writer.kind];
  const started = ports.pace.elapsed();
  const took = () => Math.round(ports.pace.elapsed() - started);
  if (!(await ports.models.isReachable(address))) {
    return failed([step("REACH", "WRITER_UNREACHABLE", `nobody answers at ${address}`, took())]);
  }
  steps.push(step("REACH", null, `${address} answers`, took()));
  const pair = pairOf(writer);
  if (pair !== null && !(await mayBeSent(ports, worldId, pair))) {
    const { code, message } = toForbidden(pair);
    return failed([...steps, step("KEY", code, message, took())]);
  }
  const ask = (system: string, user: string): Promise<ChatAnswer> =>
    ports.models.chat(
      toChatRequest(settings, writer, {
        messages: toMessages(system, user),
        held: toAnswerSchemas(CAST, PLAN),
        user: "SYSTEM_INVOKER",
      }),
      new AbortController().signal,
    );
  const answer = await ask(RULES, SAID);
  if (!("text" in answer)) {
    const { code, message } = "down" in answer ? answer.down : answer.refused;
    return failed([...steps, step(STEP_OF[code] ?? "ANSWER", code, message, took())]);
  }
  steps.push(step("KEY", null, pair === null ? "no key is wanted" : "the key is accepted", took()));
  steps.push(step("MODEL", null, `the model ${writer.model ?? ""} answers`, took()));
  steps.push(step("HELD", null, `the answer is held to: ${answer.facts?.held ?? "none"}`, took()));
  const { verdict, proposes } = judge(ports, answer.text, answer.cut === true, writer.reply);
  steps.push(
    step(
      "ANSWER",
      verdict,
      verdict === null ? "the answer can be read" : `the answer cannot be read (${verdict})`,
      took(),
    ),
  );
  steps.push(await testWindow(ports, settings, ask, took));
  return { ok: steps.every(({ ok }) => ok), steps, proposes };
}

function step(name: Step["step"], code: string | null, words: string, ms: number): Step {
  return { step: name, ok: code === null, code, words, ms };
}

function failed(steps: readonly Step[]): WriterReport {
  return { ok: false, steps, proposes: null };
}

/** Whether an answer is what its grammar says; else the one grammar that it is, where there is exactly one. */
function judge(
  ports: Pick<WorldPorts, "zones">,
  raw: string,
  cut: boolean,
  declared: Reply,
): { readonly verdict: string | null; readonly proposes: Reply | null } {
  if (cut) return { verdict: "WRITER_ANSWER_CUT", proposes: null };
  const codeBy = (reply: Reply): string | null => {
    const context = { ...PLAN, cast: CAST, zones: ports.zones, request_id: "writer-test", now_ms: 0, reply };
    const output = readWriterOutput(raw, context);
    return "error" in output ? output.error.code : null;
  };
  const verdict = codeBy(declared);
  if (verdict === null) return { verdict, proposes: null };
  // Everything is prose, so prose counts only where nothing else does; bare JSON is of two grammars and is called json.
  const fitting = REPLIES.filter((reply) => reply !== "prose" && codeBy(reply) === null);
  const proposes = fitting.includes("json") ? "json" : (fitting[0] ?? "prose");
  return { verdict, proposes };
}

/** Fills the window behind a made-up word and asks for it back: a provider that cuts in silence has lost it. */
async function testWindow(
  ports: Pick<WorldPorts, "tokenizer">,
  settings: Settings,
  ask: (system: string, user: string) => Promise<ChatAnswer>,
  took: () => number,
): Promise<Step> {
  const { window_tokens } = settings.context;
  // The estimate is high for English, so half of the window is filled for certain.
  const times = Math.floor(window_tokens / 2 / ports.tokenizer.count(FILLER));
  const user = JSON.stringify({
    word: WORD,
    filler: FILLER.repeat(times),
    question: "Which made-up word stands first?",
  });
  const answer = await ask('Answer with the word in {"no_write":{"reason":"WORD"}}.', user);
  if (!("text" in answer)) {
    const { code, message } = "down" in answer ? answer.down : answer.refused;
    return step("WINDOW", code, message, took());
  }
  const isThere = answer.text.includes(WORD);
  const words = isThere ? `the beginning of ${window_tokens} tokens is seen` : "the beginning of the window was lost";
  return step("WINDOW", isThere ? null : "WRITER_PROMPT_CUT", words, took());
}
