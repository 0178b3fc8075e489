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

interface Call {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

interface Places {
  readonly results: readonly object[];
  readonly next: Call | null;
}

interface Read {
  readonly expansions: readonly { readonly path: string }[];
  readonly more?: Call;
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
 * Asks as a program would that understands nothing: searches for the words of the question and makes each call that an
 * answer offers, until the lines are there or no more is offered.
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
  const isThere = (record: string, texts: readonly string[]) =>
    [question, ...(question.also ?? [])].some(({ path, line }) =>
      (JSON.parse(record) as Read).expansions.some(
        (one, i) => one.path === path && texts[i]!.split("\n").includes(line),
      ),
    );
  let places = JSON.parse((await ask("context_search", { query: toQuery(question.ask) }))[0]!) as Places;
  if (places.results.length === 0 && places.next !== null) {
    places = JSON.parse((await ask(places.next.tool, places.next.arguments))[0]!) as Places;
  }
  let next = places.next;
  while (next !== null && steps.length < MOST_CALLS) {
    const [record = "", ...texts] = await ask(next.tool, next.arguments);
    if (isThere(record, texts)) return { reached: true, calls: steps.length, bytes, steps };
    next = (JSON.parse(record) as Read).more ?? null;
  }
  return { reached: false, calls: steps.length, bytes, steps };
}
