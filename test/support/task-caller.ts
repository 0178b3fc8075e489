import type { Question } from "./task-repositories.ts";

/** One answer of a tool: its text blocks. */
export type CallTool = (name: string, input: Readonly<Record<string, unknown>>) => Promise<readonly string[]>;

/** How somebody got to an answer, or did not. */
export interface Way {
  readonly reached: boolean;
  readonly calls: number;
  /** Bytes of all text that came back. */
  readonly bytes: number;
  readonly steps: readonly string[];
}

interface Places {
  readonly results: readonly { readonly ref: string; readonly slice: string }[];
  readonly next: { readonly tool: string; readonly arguments: Readonly<Record<string, unknown>> } | null;
}

const MOST_CALLS = 6;

/** Words that say nothing about where an answer stands; fixed, and the same for every question. */
const EMPTY_WORDS = new Set(
  (
    "a an and are as at be before by can do does for from get give given how in is it its like long many may more much must of off on " +
    "often or out should take than that the there they to until was what when where which who whom why with happens happen its any " +
    "some one make makes makes have has had not no into about after"
  ).split(" "),
);

/** What somebody types who knows nothing but the question: its words, without those that stand everywhere. */
export function toQuery(ask: string): string {
  const words = ask.toLowerCase().match(/[a-z_]+/g) ?? [];
  return words.filter((word) => !EMPTY_WORDS.has(word)).join(" ");
}

/**
 * Asks as a program would that understands nothing: searches for the words of the question, makes each call that an answer
 * names as next, and if the lines are not there reads the results it has not read yet, in their order.
 */
export async function followHints(question: Question, call: CallTool): Promise<Way> {
  const steps: string[] = [];
  let bytes = 0;
  const ask = async (name: string, input: Readonly<Record<string, unknown>>) => {
    const blocks = await call(name, input);
    bytes += blocks.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    steps.push(`${name} ${JSON.stringify(input)}`);
    return blocks;
  };
  const isThere = (texts: readonly string[], record: string) =>
    record.includes(JSON.stringify(question.path)) && texts.some((text) => text.split("\n").includes(question.line));
  let places = JSON.parse((await ask("context_search", { query: toQuery(question.ask) }))[0]!) as Places;
  if (places.results.length === 0 && places.next !== null) {
    places = JSON.parse((await ask(places.next.tool, places.next.arguments))[0]!) as Places;
  }
  const left = places.results.map(({ ref, slice }) => `${ref} ${slice}`);
  let next = places.next;
  while (next !== null && steps.length < MOST_CALLS) {
    const [record = "", ...texts] = await ask(next.tool, next.arguments);
    if (isThere(texts, record)) return { reached: true, calls: steps.length, bytes, steps };
    const read = left.splice(0, 3);
    next = left.length === 0 || read.length === 0 ? null : { tool: next.tool, arguments: { refs: left.slice(0, 3) } };
  }
  return { reached: false, calls: steps.length, bytes, steps };
}
