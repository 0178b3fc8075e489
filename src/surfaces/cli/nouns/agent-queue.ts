import { formatDuration } from "../../../app/agent/report/explain-words.ts";
import type { Output } from "../../../app/operations.ts";
import { count, showLine } from "../../../core/text/index.ts";
import type { Io } from "../io.ts";
import { formatTable, shortId } from "../table.ts";
import { defineVerb } from "../verb.ts";

type Queued = Output<"agent.queue">;
type Landed = Omit<Output<"agent.land">, "onto">;

function renderQueued(runs: readonly Queued[], io: Io): void {
  const rows = runs.map((run) => [
    io.flags.full ? run.run_id : run.run_id.slice(-6),
    run.state.replaceAll("_", " "),
    run.duration_ms === null ? `${run.starts}/${run.tries}` : formatDuration(run.duration_ms),
    run.commit === null ? "" : `${count(run.files, "file")}, +${run.added} -${run.deleted}`,
    run.worker ?? `label ${run.needs}`,
    showLine(run.goal),
  ]);
  const columns = [
    { title: "run" },
    { title: "state" },
    { title: "", align: "right" },
    { title: "change" },
    { title: "worker", shrink: true },
    { title: "goal", shrink: true },
  ] as const;
  for (const line of formatTable(columns, rows, io.width)) io.line(line);
}

/** What became of a merge, in one or two lines. */
export function renderLanded({ land_id, state, commit, message }: Landed, what: string, onto: string, io: Io): void {
  if (state === "landed")
    io.line(`${io.paint.good("landed")} ${what} on ${onto} as ${shortId(commit ?? "", io.flags.full)}`);
  if (state === "refused") io.line(io.paint.bad(`${what} did not land on ${onto}: ${message ?? ""}`));
  if (state === "queued") io.line(`${what} waits for a worker with --kinds land (${land_id})`);
}

/** 0: it is part of the branch; 1: refused; 4: nobody has ended it yet. */
export function exitOfLanding({ state }: Pick<Landed, "state">): number {
  return state === "landed" ? 0 : state === "refused" ? 1 : 4;
}

/** Verbs for runs on the workers of a team. */
export const QUEUE_VERBS = [
  defineVerb("agent.queue", {
    path: ["queue"],
    args: [{ field: "command", label: "COMMAND", variadic: true }],
    flags: {
      files: { name: "file", value: "PATH" },
      timeout: { value: "T" },
      max_binary: { value: "SIZE" },
      profile: { value: "NAME" },
      name: { value: "TEXT" },
      max_usd: { value: "X" },
      repository: { value: "NAME" },
      at: { value: "COMMIT" },
      needs: { value: "LABEL" },
      tries: { value: "N" },
    },
    examples: [
      'verbatim agent queue --goal "fix the flaky tide test" --verify "npm test" -- my-agent "fix it"',
      'verbatim agent queue --goal "tidy" --no-verify --needs gpu -- ./tidy.sh',
    ],
    render(run, io) {
      const at = shortId(run.base_commit, io.flags.full);
      io.line(`queued run ${run.run_id} of ${run.repository} at ${at} (label ${run.needs})`);
      io.line(`next: ${io.paint.bold(`verbatim agent wait ${run.run_id}`)}`);
    },
  }),
  defineVerb("agent.queued", {
    path: ["queued"],
    flags: { limit: { value: "N" } },
    examples: ["verbatim agent queued", "verbatim agent queued --json"],
    render({ runs }, io) {
      if (runs.length > 0) renderQueued(runs, io);
      else io.line("no run was asked of the workers yet: verbatim agent queue --help");
    },
  }),
  defineVerb("agent.land", {
    path: ["land"],
    args: [{ field: "run", label: "RUN" }],
    flags: { onto: { value: "BRANCH" }, timeout: { value: "T" } },
    examples: ["verbatim agent land 1a9909 --onto main"],
    render: (landed, io, { run }) => renderLanded(landed, String(run), landed.onto, io),
    exit: exitOfLanding,
  }),
];
