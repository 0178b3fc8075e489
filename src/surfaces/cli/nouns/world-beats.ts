import { randomBytes } from "node:crypto";
import type { App } from "../../../app/call.ts";
import type { Input, Output } from "../../../app/operations.ts";
import { decodeUtf8 } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { showWritten } from "../../../core/text/index.ts";
import type { Io } from "../io.ts";
import { defineVerb, type Verb } from "../verb.ts";

type Line = Output<"world.projection">["entries"][number];
type Answer = Output<"world.say">;
type Time = Output<"world.time">;

const WORDS: Readonly<Record<string, string>> = {
  WROTE: "written",
  SILENCE: "nothing was said",
  LINE: "written; no writer was asked",
  PROPOSAL_REJECTED: "the writer's proposal was rejected",
  WRITER_OUTPUT_INVALID: "the writer's answer could not be read",
  TOOL_BUDGET_SPENT: "the writer used up its tool calls",
  WRITER_UNAVAILABLE: "the writer did not answer",
  WRITER_REFUSED: "the model declined to write",
  WRITER_CANCELLED: "stopped",
};
/** Results after which an operator wants to know what became of their own line. */
const FAILED: ReadonlySet<string> = new Set(
  Object.keys(WORDS).filter((one) => !["WROTE", "SILENCE", "LINE"].includes(one)),
);

/** Prints lines: PEOPLE with the name above, the others bare. */
export function printLines(lines: readonly Line[], io: Io): void {
  for (const { author_label, text } of lines) {
    if (author_label !== null) io.line(io.paint.bold(showWritten(author_label)));
    io.line(showWritten(text));
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
  io.note(
    `${WORDS[result] ?? result}${why}${besides}${replayed ? "; this request was already answered" : ""}${cursor}`,
  );
}

/** Prints lines as they are committed, until interrupted. */
async function printNews(app: App, asked: Input<"world.follow">, io: Io): Promise<void> {
  await io.flush();
  for await (const line of app.lines("world.follow", { ...asked, whole: true })) {
    const { event, data } = JSON.parse(line) as { readonly event: string; readonly data: Line };
    if (event === "entry") printLines([data], io);
    if (event === "reset") io.note("this position is no longer valid; load the page again");
    await io.flush();
  }
}

/** A request id of its own, said before anything is sent, so that an interrupted call can be repeated. */
async function withRequestId<T extends { request_id?: string | undefined }>(given: T, io: Io): Promise<T> {
  if (given.request_id !== undefined) return given;
  const request_id = `cli-${randomBytes(8).toString("hex")}`;
  io.note(`request ${request_id}`);
  return { ...given, request_id };
}

export const BEAT_VERBS: readonly Verb[] = [
  defineVerb("world.say", {
    path: ["say"],
    args: [{ field: "text", label: "TEXT" }],
    flags: { speaker: { name: "speak-as", value: "ID" }, corrects: { value: "ENTRY" } },
    examples: [
      'verbatim world say "I sit down."',
      'verbatim world say "The key is red, not blue." --corrects e_7k2wq4z5m3x6cjhq --no-writer',
      'verbatim world say "Good morning." --speak-as ANA --no-writer',
      'echo "A long line." | verbatim world say - --world w_harbour',
    ],
    lines: "json",
    prepare: async (given, io) => withRequestId(given.text === "-" ? { ...given, text: await readInput() } : given, io),
    render: renderSaid,
  }),
  defineVerb("world.beat", {
    path: ["beat"],
    examples: ["verbatim world beat", "verbatim world beat --at 2026-01-01T22:00"],
    lines: "json",
    prepare: withRequestId,
    render: renderAnswer,
  }),
  defineVerb("world.projection", {
    path: ["stream"],
    flags: { viewer: { name: "as", value: "VIEWER" } },
    lines: "json",
    examples: ["verbatim world stream --limit 20", "verbatim world stream --as ANA --follow"],
    // Following has no end, so it is not a part of the page: `render` goes on with it.
    prepare: async (given, io) => (io.flags.json ? given : { ...given, follow: false }),
    async render({ viewer, entries, cursor_before, cursor_after, has_more_before }, io, { follow, world }, app) {
      printLines(entries, io);
      if (has_more_before && cursor_before !== null) io.note(`earlier lines: --before ${cursor_before}`);
      if (follow === true) await printNews(app, { world, viewer, after: cursor_after ?? undefined }, io);
    },
  }),
  defineVerb("world.time", {
    path: ["time", "show"],
    isDefault: true,
    examples: ["verbatim world time", "verbatim world time show --json"],
    render: renderTime,
  }),
  defineVerb("world.beat", {
    path: ["time", "declare"],
    summary: "Sets the time of the world with a silent beat; it cannot go back.",
    args: [{ field: "at", label: "TIME" }],
    flags: { pause: { hidden: true }, resume: { hidden: true } },
    examples: ["verbatim world time declare 2026-01-01T22:00 --timezone Europe/London"],
    lines: "json",
    prepare: withRequestId,
    render: renderDeclared,
  }),
  defineVerb("world.beat", {
    path: ["time", "pause"],
    summary: "Stops the clock of the world with a silent beat. Setting the time still moves it.",
    flags: { at: { hidden: true }, timezone: { hidden: true }, pause: { hidden: true }, resume: { hidden: true } },
    examples: ["verbatim world time pause"],
    lines: "json",
    prepare: async (given, io) => withRequestId({ ...given, pause: true }, io),
    render: renderDeclared,
  }),
  defineVerb("world.beat", {
    path: ["time", "resume"],
    summary: "Restarts the clock of the world from its current time, with a silent beat.",
    flags: { at: { hidden: true }, timezone: { hidden: true }, pause: { hidden: true }, resume: { hidden: true } },
    examples: ["verbatim world time resume"],
    lines: "json",
    prepare: async (given, io) => withRequestId({ ...given, resume: true }, io),
    render: renderDeclared,
  }),
  defineVerb("world.time-policy", {
    path: ["time", "policy"],
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
  if (text === null)
    throw new VerbatimError("TEXT_NOT_WELL_FORMED", { message: "the input is not valid UTF-8", where: "-" });
  return text;
}
