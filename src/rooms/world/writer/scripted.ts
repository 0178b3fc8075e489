import { formatCanonical, isJsonObject, type JsonValue, parseJson } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { Cast } from "../people/cast.ts";
import type { Graphemes } from "../ports.ts";
import { toExcerpt } from "../retrieval/excerpt.ts";
import { termsOf } from "../retrieval/terms.ts";
import type { ModelCall } from "./beat-loop.ts";

const QUOTE = { max_bytes: 200, lead_bytes: 0 } as const;

interface ScriptLine {
  readonly when: { readonly beat?: number; readonly input_contains?: string; readonly any?: boolean };
  readonly raw: string;
}

/** Reads the lines of a script; a malformed one is refused with its number. */
export function parseScript(lines: readonly string[]): readonly ScriptLine[] {
  return lines.map((line, i) => {
    const value = parseJson(line, { file: `script line ${i + 1}` });
    if (!isJsonObject(value)) throw badLine(i, "is not a JSON object");
    const { when, output, raw, ...unknown } = value;
    const [other] = Object.keys(unknown);
    if (other !== undefined) throw badLine(i, `has an unknown field ${JSON.stringify(other)}`);
    if (!isCondition(when)) throw badLine(i, `needs when: {"beat":1} or {"input_contains":"text"} or {"any":true}`);
    if ((output === undefined) === (raw === undefined)) throw badLine(i, "needs either output or raw");
    if (output !== undefined) return { when, raw: formatCanonical(output) };
    if (typeof raw !== "string") throw badLine(i, "has a raw that is not a text");
    return { when, raw };
  });
}

/** Whether a condition says exactly one thing. */
function isCondition(when: JsonValue | undefined): when is ScriptLine["when"] & JsonValue {
  if (!isJsonObject(when) || Object.keys(when).length !== 1) return false;
  const { beat, input_contains: part, any } = when;
  return (
    any === true ||
    (typeof part === "string" && part !== "") ||
    (typeof beat === "number" && Number.isSafeInteger(beat))
  );
}

function badLine(index: number, what: string): VerbatimError {
  return new VerbatimError("INPUT_INVALID", {
    message: `line ${index + 1} of the script ${what}`,
    where: "/writer/script",
    fix: "Correct that line of the script.",
  });
}

interface ScriptedCall {
  readonly call: ModelCall;
  readonly cast: Cast;
  readonly beat_no: number;
  readonly operator_text: string;
}

/** Answers without a model, always the same way. With a script its lines are used once each, in order. */
export class ScriptedWriter {
  readonly #graphemes: Graphemes;
  readonly #script: readonly ScriptLine[] | null;
  readonly #used: Set<number>;
  /** Numbers of the lines this writer used itself. */
  readonly used: number[] = [];

  constructor(graphemes: Graphemes, script: readonly string[] | null, used: readonly number[]) {
    this.#graphemes = graphemes;
    this.#script = script === null ? null : parseScript(script);
    this.#used = new Set(used);
  }

  answer(asked: ScriptedCall): string {
    return this.#script === null ? this.#improvise(asked) : this.#follow(this.#script, asked);
  }

  #follow(script: readonly ScriptLine[], { beat_no, operator_text }: ScriptedCall): string {
    const at = script.findIndex(({ when }, i) => !this.#used.has(i) && holds(when, beat_no, operator_text));
    if (at < 0) return NO_WRITE;
    this.#used.add(at);
    this.used.push(at);
    return script[at]!.raw;
  }

  #improvise({ call, cast, operator_text }: ScriptedCall): string {
    if (call.tools.available && call.evidence.length === 0 && termsOf(operator_text).length > 0) {
      const tool = { name: "LEDGER_SEARCH", query_text: cutQuery(operator_text), constraints: { limit: 5 } };
      return JSON.stringify({ tool_request: { tool } });
    }
    const { actor, pass } = call.plan;
    const speaker =
      pass === "PERSON"
        ? actor
        : pass === "ROOM"
          ? cast.present.find((id) => cast.people.has(id) && cast.players?.has(id) !== true)
          : undefined;
    if (speaker === undefined) return NO_WRITE;
    const excerpt = findExcerpt(call.evidence[0]?.value);
    const quoted = excerpt === null ? null : toExcerpt(this.#graphemes, excerpt, QUOTE);
    const text = quoted === null ? HEARD : `"${quoted}${REMEMBERED}`;
    const author = { author_id: speaker, author_class: "PERSON" };
    return JSON.stringify({ proposed_write_bundle: { entries: [{ author, channel: "PEOPLE", text }] } });
  }
}

const HEARD = "I hear you.";
const REMEMBERED = '" - I remember.';
const NO_WRITE = '{"no_write":{"reason":null}}';

function holds(when: ScriptLine["when"], beatNo: number, operatorText: string): boolean {
  if (when.any === true) return true;
  if (when.beat !== undefined) return when.beat === beatNo;
  return when.input_contains !== undefined && operatorText.includes(when.input_contains);
}

/** A tool request takes 2,000 bytes; whole characters only. */
function cutQuery(text: string): string {
  return [...text.slice(0, 600)].filter((character) => character.isWellFormed()).join("");
}

/** The first excerpt that is not one of this writer's own lines: to quote what was quoted would nest without an end. */
function findExcerpt(value: JsonValue | undefined): string | null {
  const results = isJsonObject(value) && Array.isArray(value["results"]) ? (value["results"] as JsonValue[]) : [];
  for (const result of results) {
    const excerpt = isJsonObject(result) ? result["verbatim_excerpt"] : undefined;
    if (typeof excerpt === "string" && excerpt !== HEARD && !excerpt.endsWith(REMEMBERED)) return excerpt;
  }
  return null;
}
