import { count, formatDuration, formatUsd } from "../../../app/agent/report/explain-words.ts";
import type { App } from "../../../app/call.ts";
import type { Output } from "../../../app/operations.ts";
import { showLine } from "../../../core/text/index.ts";
import type { Io } from "../io.ts";
import { formatTable } from "../table.ts";
import { defineVerb, type VerbHints } from "../verb.ts";

type Race = Output<"agent.race">;

const GOOD: readonly string[] = ["verified", "unverified", "applied"];

/** A race takes what a run takes, and says who takes part. */
export function raceVerb(flags: NonNullable<VerbHints<"agent.race">["flags"]>) {
  return defineVerb("agent.race", {
    path: ["race"],
    args: [{ field: "command", label: "COMMAND", variadic: true, optional: true }],
    flags: { ...flags, count: { short: "n" }, entry: { value: "CMD" } },
    examples: [
      'verbatim agent race --goal "fix the date parser" --verify "npm test" -n 3 -- claude -p "..."',
      'verbatim agent race --goal "fix it" --verify "npm test" --entry "claude -p fix" --entry "codex exec fix"',
    ],
    async render(race, io, { discard_losers = false }, app) {
      renderRace(race, io);
      const ready = race.members.filter(({ outcome }) => outcome === "verified" || outcome === "unverified");
      if (race.winner !== null || ready.length === 0) return;
      if (!io.interactive || io.flags.json) {
        io.line(`apply one:  verbatim agent apply ${ready[0]!.run_id}`);
        const others = race.members.filter(({ files }) => files > 0).map(({ run_id }) => run_id.slice(-6));
        if (others.length > 1) io.line(`compare:    verbatim agent compare ${others.join(" ")}`);
      } else await askForOne(race, ready, io, app, discard_losers);
    },
    exit: ({ members }) => (members.some(({ outcome }) => GOOD.includes(outcome)) ? 0 : 1),
  });
}

function renderRace({ race_id, goal, members, winner }: Race, io: Io): void {
  io.line(`race ${race_id}  ${showLine(goal)}   ${count(members.length, "run")}, 1 base`);
  const rows = members.map(({ rank, run_id, agent, outcome, files, added_lines, deleted_lines, cost, duration_ms }) => [
    String(rank),
    io.flags.full ? run_id : run_id.slice(-6),
    showLine(agent),
    outcome.replaceAll("_", " "),
    String(files),
    `+${added_lines} -${deleted_lines}`,
    cost === null ? "unknown" : formatUsd(cost),
    formatDuration(duration_ms),
  ]);
  const columns = [
    { title: "#", align: "right" },
    { title: "run" },
    { title: "agent", shrink: true },
    { title: "outcome" },
    { title: "files", align: "right" },
    { title: "lines", align: "right" },
    { title: "cost", align: "right" },
    { title: "time", align: "right" },
  ] as const;
  for (const line of formatTable(columns, rows, io.width)) io.line(line);
  for (const { rank, reason } of members) if (reason !== null) io.line(`  ${rank}: ${showLine(reason)}`);
  if (winner !== null) io.line(`applied ${winner}. Undo: verbatim agent undo ${winner}`);
}

/** The default answer changes nothing. */
async function askForOne(
  { members }: Race,
  ready: Race["members"],
  io: Io,
  app: App,
  discardLosers: boolean,
): Promise<void> {
  const keys = ready.map(({ rank }) => String(rank));
  await io.flush();
  const answer = await io.choose(`  [Enter] keep all for later   ${keys.join(" ")} apply that one  > `, keys);
  const chosen = ready.find(({ rank }) => String(rank) === answer);
  if (chosen === undefined) return io.line(`kept: verbatim agent apply ${ready[0]!.run_id}`);
  await app.call("agent.apply", { run: chosen.run_id });
  io.line(`applied ${chosen.run_id}. Undo: verbatim agent undo ${chosen.run_id}`);
  if (!discardLosers) return;
  for (const { run_id, outcome } of members) {
    if (run_id === chosen.run_id || ["unchanged", "not_started"].includes(outcome)) continue;
    await app.call("agent.discard", { run: run_id });
    io.line(`discarded ${run_id}`);
  }
}

export const compareVerb = defineVerb("agent.compare", {
  path: ["compare"],
  args: [{ field: "runs", label: "RUN", variadic: true }],
  examples: ["verbatim agent compare @ @2", "verbatim agent compare 77c01e 1a9909 c03b12 --json"],
  render({ runs, files }, io) {
    const rows = runs.map(({ run_id, agent, outcome, files: many, added_lines, deleted_lines, duration_ms }) => [
      run_id.slice(-6),
      showLine(agent),
      outcome.replaceAll("_", " "),
      String(many),
      `+${added_lines} -${deleted_lines}`,
      formatDuration(duration_ms),
    ]);
    const columns = [
      { title: "run" },
      { title: "agent", shrink: true },
      { title: "outcome" },
      { title: "files", align: "right" },
      { title: "lines", align: "right" },
      { title: "time", align: "right" },
    ] as const;
    for (const line of formatTable(columns, rows, io.width)) io.line(line);
    io.line();
    const heads = [
      { title: "file", shrink: true },
      ...runs.map(({ run_id }) => ({ title: run_id.slice(-6) })),
      { title: "" },
    ];
    const lines = files.map(({ path, cells }) => [
      showLine(path),
      ...cells.map((cell) => (cell === null ? "-" : `+${cell.added} -${cell.deleted}`)),
      cells.some((cell) => cell !== null && cell.same_in > 1) ? describeSame(cells) : "",
    ]);
    for (const line of formatTable(heads, lines, io.width)) io.line(line);
  },
});

function describeSame(cells: Output<"agent.compare">["files"][number]["cells"]): string {
  const most = Math.max(...cells.map((cell) => cell?.same_in ?? 0));
  return `the same in ${most}`;
}
