import { randomBytes } from "node:crypto";
import type { App } from "../../../app/app-type.ts";
import { decodeUtf8 } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { Io } from "../io.ts";
import { defineVerb, type Verb } from "../verb.ts";
import { shown } from "./world-text.ts";

interface Line {
  readonly entry_id: string;
  readonly channel: string;
  readonly author_label: string | null;
  readonly text: string;
}

interface Answer {
  readonly request_id: string;
  readonly result: string;
  readonly code: string | null;
  readonly replayed: boolean;
  readonly output: {
    readonly stream: { readonly entries: readonly Line[]; readonly cursor_after: string | null };
    readonly pocket: { readonly clock: { readonly world_time: string | null; readonly timezone: string | null } };
  };
}

interface Page {
  readonly viewer: string;
  readonly entries: readonly Line[];
  readonly cursor_before: string | null;
  readonly cursor_after: string | null;
  readonly has_more_before: boolean;
}

interface Time {
  readonly world_time: string;
  readonly timezone: string;
  readonly paused: boolean;
  readonly policy: { readonly kind: string };
}

const WORDS: Readonly<Record<string, string>> = {
  WROTE: "written",
  SILENCE: "nothing was said",
  PROPOSAL_REJECTED: "the writer's proposal was refused",
  WRITER_OUTPUT_INVALID: "the writer's answer could not be read",
  TOOL_BUDGET_SPENT: "the writer kept asking",
  WRITER_UNAVAILABLE: "the writer cannot be reached",
  WRITER_CANCELLED: "stopped",
};
/** Results after which an operator wants to know what became of their own line. */
const FAILED: ReadonlySet<string> = new Set(Object.keys(WORDS).filter((one) => one !== "WROTE" && one !== "SILENCE"));

/** Prints lines: PEOPLE with the name above, the others bare. */
export function printLines(lines: readonly Line[], io: Io): void {
  for (const { author_label, text } of lines) {
    if (author_label !== null) io.line(io.paint.bold(shown(author_label)));
    io.line(shown(text));
  }
}

function renderAnswer(answer: Answer, io: Io): void {
  renderResult(answer, io, "");
}

function renderSaid(answer: Answer, io: Io): void {
  renderResult(answer, io, FAILED.has(answer.result) ? "; your line was kept" : "");
}

/** A declaration is a beat like any other; where the clock stands now is what it was for. */
function renderDeclared(answer: Answer, io: Io): void {
  const { world_time, timezone } = answer.output.pocket.clock;
  renderResult(answer, io, world_time === null ? "" : `; clock ${world_time} (${timezone})`);
}

function renderResult({ output, result, code, replayed }: Answer, io: Io, besides: string): void {
  printLines(output.stream.entries, io);
  const cursor = output.stream.cursor_after === null ? "" : `; cursor ${output.stream.cursor_after}`;
  const why = code === null ? "" : ` (${code})`;
  io.note(`${WORDS[result] ?? result}${why}${besides}${replayed ? "; answered before" : ""}${cursor}`);
}

/** Streams that go on after their first page. */
const following = new WeakMap<Io, { readonly app: App; readonly world: unknown }>();

/** Prints lines as they are committed, until interrupted. */
async function printNews(
  { app, world }: { readonly app: App; readonly world: unknown },
  { viewer, after }: { readonly viewer: string; readonly after: string | null },
  io: Io,
): Promise<void> {
  const asked = {
    viewer,
    whole: true,
    ...(after === null ? {} : { after }),
    ...(world === undefined ? {} : { world }),
  };
  await io.flush();
  for await (const line of app.lines("world.follow", asked)) {
    const { event, data } = JSON.parse(line) as { readonly event: string; readonly data: Line };
    if (event === "entry") printLines([data], io);
    if (event === "reset") io.note("this place does not hold any more; show the page again");
    await io.flush();
  }
}

/** A request id of its own, said before anything is sent, so that an interrupted call can be repeated. */
async function withRequestId(input: Record<string, unknown>, io: Io): Promise<Record<string, unknown>> {
  if (input["request_id"] !== undefined) return input;
  const request_id = `cli-${randomBytes(8).toString("hex")}`;
  io.note(`request ${request_id}`);
  return { ...input, request_id };
}

export const BEAT_VERBS: readonly Verb<never>[] = [
  defineVerb<Answer>({
    path: ["say"],
    operation: "world.say",
    args: [{ field: "text", label: "TEXT" }],
    examples: ['verbatim world say "I sit down."', 'echo "A long line." | verbatim world say - --world w_harbour'],
    lines: "json",
    async prepare(input, io) {
      const text = input["text"] === "-" ? await readInput() : input["text"];
      return withRequestId({ ...input, text }, io);
    },
    render: renderSaid,
  }),
  defineVerb<Answer>({
    path: ["beat"],
    operation: "world.beat",
    examples: ["verbatim world beat", "verbatim world beat --at 2026-01-01T22:00"],
    lines: "json",
    prepare: withRequestId,
    render: renderAnswer,
  }),
  defineVerb<Page>({
    path: ["stream"],
    operation: "world.projection",
    flags: { viewer: { name: "as", value: "VIEWER" } },
    lines: "json",
    examples: ["verbatim world stream --limit 20", "verbatim world stream --as ANA --follow"],
    async prepare(input, io, app) {
      if (io.flags.json || input["follow"] !== true) return input;
      const { follow: _, ...page } = input;
      following.set(io, { app, world: page["world"] });
      return page;
    },
    async render({ viewer, entries, cursor_before, cursor_after, has_more_before }, io) {
      printLines(entries, io);
      if (has_more_before && cursor_before !== null) io.note(`earlier lines: --before ${cursor_before}`);
      const followed = following.get(io);
      if (followed !== undefined) await printNews(followed, { viewer, after: cursor_after }, io);
    },
  }),
  defineVerb<Time>({
    path: ["time", "show"],
    isDefault: true,
    operation: "world.time",
    examples: ["verbatim world time", "verbatim world time show --json"],
    render: renderTime,
  }),
  defineVerb<Answer>({
    path: ["time", "declare"],
    summary: "Declares the time of the world: a beat without a word at that time, never before the clock.",
    operation: "world.beat",
    args: [{ field: "at", label: "TIME" }],
    flags: { pause: { hidden: true }, resume: { hidden: true } },
    examples: ["verbatim world time declare 2026-01-01T22:00 --timezone Europe/London"],
    lines: "json",
    prepare: withRequestId,
    render: renderDeclared,
  }),
  defineVerb<Answer>({
    path: ["time", "pause"],
    summary: "Stops the clock of the world, by a beat without a word. A declared time still moves it.",
    operation: "world.beat",
    flags: { at: { hidden: true }, timezone: { hidden: true }, pause: { hidden: true }, resume: { hidden: true } },
    examples: ["verbatim world time pause"],
    lines: "json",
    prepare: async (input, io) => withRequestId({ ...input, pause: true }, io),
    render: renderDeclared,
  }),
  defineVerb<Answer>({
    path: ["time", "resume"],
    summary: "Lets the clock of the world go on from where it stands, by a beat without a word.",
    operation: "world.beat",
    flags: { at: { hidden: true }, timezone: { hidden: true }, pause: { hidden: true }, resume: { hidden: true } },
    examples: ["verbatim world time resume"],
    lines: "json",
    prepare: async (input, io) => withRequestId({ ...input, resume: true }, io),
    render: renderDeclared,
  }),
  defineVerb<Time>({
    path: ["time", "policy"],
    operation: "world.time-policy",
    args: [{ field: "policy", label: "JSON" }],
    examples: [`verbatim world time policy '{"kind":"step","step_ms":60000}'`],
    render: renderTime,
  }),
];

function renderTime({ world_time, timezone, paused, policy }: Time, io: Io): void {
  io.line(`${world_time} (${timezone})${paused ? ", paused" : ""}, policy ${policy.kind}`);
}

async function readInput(): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of process.stdin) parts.push(part as Buffer);
  const text = decodeUtf8(Buffer.concat(parts));
  // Replacing what cannot be read would keep another text than the one that was given.
  if (text === null) throw new VerbatimError("TEXT_NOT_WELL_FORMED", { message: "the input is not UTF-8", where: "-" });
  return text;
}
