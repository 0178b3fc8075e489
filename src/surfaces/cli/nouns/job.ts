import type { Output } from "../../../app/operations.ts";
import { count } from "../../../core/text/index.ts";
import { formatTime } from "../../../core/time.ts";
import type { Io } from "../io.ts";
import { formatTable, shortId } from "../table.ts";
import { defineVerb, type Noun } from "../verb.ts";
import { exitOfLanding, renderLanded } from "./agent-queue.ts";

type Status = Output<"jobs.status">;

const JOB = [{ field: "job_id", label: "JOB" }] as const;
const FILE = [{ field: "file", label: "FILE" }] as const;
const SOURCE_FLAGS = { message: { hidden: true }, run_id: { value: "UUID" } } as const;
const TEAM_FLAGS = {
  ...SOURCE_FLAGS,
  repository: { value: "NAME" },
  at: { value: "COMMIT" },
  needs: { value: "LABEL" },
} as const;

const plan = defineVerb("jobs.plan", {
  path: ["plan"],
  args: FILE,
  flags: SOURCE_FLAGS,
  examples: ["verbatim job plan message.json", "verbatim job plan - < message.json"],
  render(planned, io) {
    const rows = planned.steps.map(({ step, resolved }) => [
      String(step.ordinal),
      step.op,
      shortRef(Object.values(step.refs)[0] ?? "", io),
      "slice" in step.constraints ? step.constraints.slice : "",
      resolved.file_path,
      resolved.bytes === undefined ? "" : String(resolved.bytes),
      ...(io.flags.full ? [resolved.content_hash ?? ""] : []),
    ]);
    const columns = [
      { title: "step", align: "right" },
      { title: "op" },
      { title: "target", shrink: true },
      { title: "slice" },
      { title: "file", shrink: true },
      { title: "bytes", align: "right" },
      ...(io.flags.full ? [{ title: "content" }] : []),
    ] as const;
    for (const line of formatTable(columns, rows, io.width)) io.line(line);
    const used: Readonly<Record<string, number>> =
      planned.steps[(planned.breach?.ordinal ?? planned.steps.length) - 1]?.used ?? {};
    for (const [budget, limit] of Object.entries(planned.budgets)) {
      const over = (used[budget] ?? 0) > limit;
      io.line(`${over ? io.paint.bad("over  ") : "within"} ${budget}: ${used[budget] ?? 0} of ${limit}`);
    }
    renderBreach(planned, io);
    io.line(`nothing was written; posting it would create ${planned.job_id} in run ${planned.run_id}`);
  },
  exit: ({ breach }) => (breach === null ? 0 : 1),
});

function renderBreach({ breach }: Pick<Output<"jobs.post">, "breach">, io: Io): void {
  if (breach === null) return;
  const list = breach.breaches.map(({ budget, limit, used }) => `${budget}: ${used} used, ${limit} allowed`).join("; ");
  io.line(io.paint.bad(`step ${breach.ordinal} breaks a budget (${breach.code}): ${list}`));
  io.line("the steps before it will run; it will fail and nothing after it will run");
}

const post = defineVerb("jobs.post", {
  path: ["post"],
  args: FILE,
  flags: TEAM_FLAGS,
  examples: ["verbatim job post message.json", "verbatim job post message.json --run-id UUID"],
  render(posted, io) {
    const word = posted.existing ? "this message was already posted as" : io.paint.good("posted");
    io.line(`${word} ${posted.job_id} with ${count(posted.steps, "step")}`);
    io.line(`run ${posted.run_id}`);
    renderBreach(posted, io);
    next(io, `verbatim job run ${posted.job_id}`);
  },
});

function next(io: Io, command: string): void {
  io.line(`next: ${io.paint.bold(command)}`);
}

function shortRef(ref: string, io: Io): string {
  return ref.startsWith("@") ? ref : shortId(ref, io.flags.full);
}

function renderStatus(status: Status, io: Io): void {
  const rows = status.steps.map((step) => [
    String(step.ordinal),
    step.op,
    shortRef(step.target, io),
    step.slice ?? "",
    step.status,
    describeHolder(step),
  ]);
  const columns = [
    { title: "step", align: "right" },
    { title: "op" },
    { title: "target", shrink: true },
    { title: "slice" },
    { title: "status" },
    { title: "", shrink: true },
  ] as const;
  for (const line of formatTable(columns, rows, io.width)) io.line(line);
  for (const [name, value] of Object.entries(status.outputs)) io.line(`output ${name} ${value}`);
  for (const name of status.outputs_missing) io.line(io.paint.bad(`output ${name} is missing`));
  const same = (text: string) => text;
  const paint = { SUCCEEDED: io.paint.good, FAILED: io.paint.bad, PENDING: same, RUNNING: same }[status.state];
  if (status.team !== undefined) renderTeam(status, status.team, io);
  io.line(`${paint(status.state)} ${status.job_id} of run ${status.run_id}`);
}

/** Where a job stands with the workers of a team. */
function renderTeam({ job_id }: Status, { at, attempt, code, ref }: NonNullable<Status["team"]>, io: Io): void {
  if (ref !== null) io.line(`branch ${ref}`);
  const before =
    attempt === 0 ? "" : `; ${count(attempt, "attempt")} before${code === null ? "" : `, ended by ${code}`}`;
  if (at === "waiting") io.line(`waiting for a worker${before}`);
  if (at === "taken") io.line(`a worker has it${before}`);
  if (at === "lost") io.line("the queue does not have it; workers send it again within a minute");
  if (at !== "stalled") return;
  io.line(
    io.paint.bad(`STALLED after ${count(attempt + 1, "attempt")}, the last one ended by ${code ?? "a lost worker"}`),
  );
  next(io, `verbatim job retry ${job_id}`);
}

/** Who has a step and until when, or why it failed. */
function describeHolder({ status, code, lease_owner, lease_expires_ms }: Status["steps"][number]): string {
  if (status === "FAILED") return code ?? "";
  if (status !== "LEASED" || lease_expires_ms === null) return "";
  return `${lease_owner} until ${formatTime(lease_expires_ms)}`;
}

function renderEnd(status: Status, io: Io): void {
  renderStatus(status, io);
  next(io, `verbatim bundle build ${status.job_id} --out DIR`);
}

export const noun: Noun = {
  verbs: [
    plan,
    post,
    defineVerb("jobs.run", {
      path: ["run"],
      args: JOB,
      examples: ["verbatim job run JOB", "verbatim job run JOB --workers 4"],
      render: renderEnd,
    }),
    defineVerb("jobs.submit", {
      path: ["submit"],
      args: FILE,
      flags: TEAM_FLAGS,
      examples: ["verbatim job submit message.json"],
      render: renderEnd,
    }),
    defineVerb("jobs.worker", {
      path: ["worker"],
      examples: ["verbatim job worker --workers 4", "verbatim job worker --once"],
      render: ({ steps }, io) => io.line(`${count(steps, "step")} done`),
    }),
    defineVerb("jobs.land", {
      path: ["land"],
      args: JOB,
      flags: { onto: { value: "BRANCH" }, timeout: { value: "S" } },
      examples: ["verbatim job land JOB --onto main"],
      render: (landed, io) => renderLanded(landed, landed.job_id, landed.onto, io),
      exit: exitOfLanding,
    }),
    defineVerb("jobs.retry", {
      path: ["retry"],
      args: JOB,
      examples: ["verbatim job retry JOB"],
      render: ({ job_id, sent }, io) =>
        io.line(sent ? `${io.paint.good("sent")} ${job_id} again` : `${job_id} is on its way already`),
    }),
    defineVerb("jobs.cancel", {
      path: ["cancel"],
      args: JOB,
      examples: ["verbatim job cancel JOB"],
      render(status, io) {
        renderStatus(status, io);
        io.line(status.cancelled ? "cancelled; no further steps will run" : "it had already finished");
      },
    }),
    defineVerb("jobs.status", {
      path: ["status"],
      args: JOB,
      examples: ["verbatim job status JOB", "verbatim job status JOB --json"],
      render(status, io) {
        renderStatus(status, io);
        if (status.state === "SUCCEEDED") next(io, `verbatim bundle build ${status.job_id} --out DIR`);
        else if (status.state === "FAILED") next(io, `verbatim job receipts ${status.job_id}`);
        else if (status.team?.at !== "stalled") next(io, `verbatim job run ${status.job_id}`);
      },
    }),
    defineVerb("jobs.list", {
      path: ["list"],
      examples: ["verbatim job list", "verbatim job list --open"],
      render({ jobs, more }, io) {
        const rows = jobs.map((job) => [job.job_id, job.state, `${job.committed}/${job.steps}`, job.intent]);
        const columns = [
          { title: "job" },
          { title: "state" },
          { title: "steps", align: "right" },
          { title: "intent", shrink: true },
        ] as const;
        if (rows.length === 0) io.line("no jobs: verbatim job post --help");
        else for (const line of formatTable(columns, rows, io.width)) io.line(line);
        if (more) next(io, `verbatim job list --after ${jobs.at(-1)?.number ?? 0}`);
      },
    }),
    defineVerb("jobs.receipts", {
      path: ["receipts"],
      args: JOB,
      lines: "json",
      examples: ["verbatim job receipts JOB", "verbatim job receipts JOB --json > receipts.jsonl"],
      render({ receipts }, io) {
        for (const { ordinal, receipt, receipt_hash } of receipts) {
          const action = receipt.actions[0];
          const status = receipt.status === "SUCCESS" ? io.paint.good(receipt.status) : io.paint.bad(receipt.status);
          const target = shortRef(action?.target ?? "", io);
          io.line(`${ordinal} ${status} ${action?.type} ${target} receipt ${shortId(receipt_hash, io.flags.full)}`);
          io.line(`  ${JSON.stringify(action?.result)}`);
          for (const [name, value] of Object.entries(receipt.outputs)) io.line(`  output ${name} ${value}`);
        }
        if (receipts.length === 0) io.line("no step has finished yet");
      },
    }),
  ],
};
