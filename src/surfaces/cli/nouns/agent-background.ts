import { count, formatDuration, formatUsd } from "../../../app/agent/report/explain-words.ts";
import type { Output } from "../../../app/operations.ts";
import { showLine } from "../../../core/text/index.ts";
import type { AgentView } from "../agent-text.ts";
import type { Io } from "../io.ts";
import { formatTable } from "../table.ts";
import { defineVerb, type Verb } from "../verb.ts";
import { commandsVerb } from "./agent-commands.ts";
import { compareVerb } from "./agent-race.ts";

/** What a run that ended so says as an exit code. */
const GOOD: readonly string[] = ["verified", "unverified", "applied", "unchanged"];

/** Verbs for runs that work while nobody waits for them. */
export const BACKGROUND_VERBS: readonly Verb[] = [
  defineVerb("agent.ps", {
    path: ["ps"],
    examples: ["verbatim agent ps", "verbatim agent ps --all-repos"],
    render({ runs }, io) {
      if (runs.length === 0) return io.line("no agent is at work");
      const rows = runs.map(({ run_id, name, phase, created_at, cost, files, pid }) => [
        run_id.slice(-6),
        showLine(name),
        phase.replaceAll("_", " "),
        formatDuration(Math.max(0, Date.now() - Date.parse(created_at))),
        cost === null ? "unknown" : formatUsd(cost),
        files === null ? "-" : count(files, "file"),
        pid === null ? "-" : String(pid),
      ]);
      const columns = [
        { title: "run" },
        { title: "name", shrink: true },
        { title: "phase" },
        { title: "time" },
        { title: "cost" },
        { title: "touched" },
        { title: "pid" },
      ] as const;
      for (const line of formatTable(columns, rows, io.width)) io.line(line);
    },
  }),
  defineVerb("agent.wait", {
    path: ["wait"],
    args: [{ field: "runs", label: "RUN", variadic: true }],
    flags: { timeout: { value: "T" } },
    examples: ["verbatim agent wait @", "verbatim agent wait @ @2 --any --timeout 30m"],
    render({ runs, timed_out }, io) {
      for (const { run_id, outcome, reason } of runs) io.line(formatStanding(run_id, outcome, reason));
      if (timed_out) io.line("the time is over; runs go on");
    },
    exit: ({ runs, timed_out }, { any }) => {
      if (timed_out) return 4;
      const ended = any === true ? runs.filter(({ outcome }) => !isBusy(outcome)) : runs;
      return ended.every(({ outcome }) => GOOD.includes(outcome)) ? 0 : 1;
    },
  }),
  defineVerb("agent.stop", {
    path: ["stop"],
    args: [{ field: "run", label: "RUN" }],
    flags: { now: { name: "kill" } },
    examples: ["verbatim agent stop @", "verbatim agent stop @ --kill"],
    async render({ run_id, asked }, io, _given, app) {
      io.note(asked === "kill" ? "the agent is ended" : "the agent is asked to end; after 12 seconds it is ended");
      const { runs } = await app.call("agent.wait", { runs: [run_id], timeout: "2m" });
      for (const { outcome, reason } of runs) io.line(formatStanding(run_id, outcome, reason));
    },
  }),
  defineVerb("agent.attach", {
    path: ["attach"],
    args: [{ field: "run", label: "RUN" }],
    examples: ["verbatim agent attach @", "verbatim agent attach @ --read-only"],
    render({ run_id, left, outcome, reason }, io) {
      if (left) io.line(`left ${run_id}, which goes on: verbatim agent attach ${run_id}`);
      else io.line(formatStanding(run_id, outcome, reason));
    },
  }),
  compareVerb,
  commandsVerb,
];

type Outcome = Output<"agent.wait">["runs"][number]["outcome"];

const BUSY: readonly Outcome[] = ["preparing", "working", "capturing", "judging", "verifying", "landing"];

function isBusy(outcome: Outcome): boolean {
  return BUSY.includes(outcome);
}

function formatStanding(run_id: string, outcome: Outcome, reason: string | null): string {
  return `${run_id}  ${outcome.replaceAll("_", " ")}${reason === null ? "" : `: ${showLine(reason)}`}`;
}

/** Says how to come back to a run that was just started in the background. */
export function renderStarted({ run_id }: AgentView, io: Io): void {
  io.line(`agent run ${run_id} works in the background`);
  io.line(`  look    verbatim agent logs ${run_id} -f`);
  io.line(`  join    verbatim agent attach ${run_id}`);
  io.line(`  wait    verbatim agent wait ${run_id}`);
  io.line(`  stop    verbatim agent stop ${run_id}`);
}
