import { z } from "zod";
import { type JsonObject, toJson } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { defineOperation, LOCAL_SURFACES, READER, REVIEWER, type Surface } from "../../../core/operation.ts";
import { formatTime } from "../../../core/time.ts";
import type { AgentPorts } from "../ports.ts";
import type { QueuedRun, QueuePorts } from "../queue/queue-ports.ts";
import { queueFields } from "../queue/queue-request.ts";
import { parseTimeout } from "../request/request.ts";

const WITH_HTTP: readonly Surface[] = [...LOCAL_SURFACES, "http"];
const label = z.string().regex(/^[a-z][a-z0-9-]{0,30}$/);
const branch = z
  .string()
  .regex(/^[A-Za-z0-9_][A-Za-z0-9_./-]{0,200}$/)
  .describe("The branch of the remote that it is merged into.");

const queuedRun = z.strictObject({
  run_id: z.string(),
  goal: z.string(),
  repository: z.string(),
  base_commit: z.string(),
  needs: z.string(),
  asked_by: z.string(),
  asked_at: z.string(),
  state: z.string().describe("queued, working, stalled, or where the run ended; lost: with all its workers."),
  reason: z.string().nullable(),
  worker: z.string().nullable(),
  starts: z.int(),
  tries: z.int(),
  ref: z.string().nullable().describe("The branch of its change at the remote."),
  commit: z.string().nullable(),
  files: z.int(),
  added: z.int(),
  deleted: z.int(),
  duration_ms: z.int().nullable(),
});

/** A merge as an answer says it. */
const landed = z.strictObject({
  land_id: z.string(),
  state: z.enum(["queued", "landed", "refused"]).describe("queued: no worker has ended it yet."),
  commit: z.string().nullable(),
  code: z.string().nullable(),
  message: z.string().nullable(),
  onto: z.string(),
});

function toQueued({ asked_ms, ...run }: QueuedRun): z.output<typeof queuedRun> {
  return { ...run, asked_at: formatTime(asked_ms) };
}

function requireTeamQueue({ queue }: Pick<AgentPorts, "queue">): QueuePorts {
  if (queue !== null) return queue;
  throw new VerbatimError("DATABASE_NOT_SET", { where: "VERBATIM_DATABASE_URL" });
}

const ask = defineOperation({
  name: "agent.queue",
  summary: "Asks the workers of a team for an agent run; it is shown, applied and landed from any checkout.",
  effect: "append",
  who: REVIEWER,
  surfaces: WITH_HTTP,
  input: z.strictObject({
    ...queueFields,
    repository: z
      .string()
      .regex(/^[a-z][a-z0-9-]{1,38}$/)
      .optional()
      .describe("Repository of the team that it works on (default: the only one)."),
    at: z
      .string()
      .regex(/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/)
      .optional()
      .describe("Commit that it begins from (default: HEAD; over HTTP the tip of the default branch)."),
    needs: label.default("default").describe("Label that a worker must offer."),
    tries: z.int().min(1).max(10).default(2).describe("How often it may be started when workers are lost."),
  }),
  output: queuedRun,
  async run(outside: AgentPorts, { repository, at, needs, tries, ...request }) {
    const queue = requireTeamQueue(outside);
    return toQueued(await queue.ask(toJson(request) as JsonObject, request.goal, { repository, at, needs, tries }));
  },
});

const list = defineOperation({
  name: "agent.queued",
  summary: "Lists the agent runs that were asked of the workers of a team, newest first.",
  effect: "read",
  who: READER,
  surfaces: WITH_HTTP,
  input: z.strictObject({
    limit: z.int().min(1).max(1000).default(20).describe("Maximum number of runs to show."),
  }),
  output: z.strictObject({ runs: z.array(queuedRun) }),
  async run(outside: AgentPorts, { limit }) {
    return { runs: (await requireTeamQueue(outside).list(limit)).map(toQueued) };
  },
});

const land = defineOperation({
  name: "agent.land",
  summary: "Lets a worker merge the change of a queued run into a branch of the remote.",
  effect: "append",
  who: REVIEWER,
  surfaces: WITH_HTTP,
  input: z.strictObject({
    run: z.string().min(1).describe("Id of a queued run, a unique beginning, or its last six digits."),
    onto: branch,
    timeout: z.string().default("10m").describe("How long to wait for the worker: 90s, 30m, 2h."),
  }),
  output: landed,
  async run(outside: AgentPorts, { run, onto, timeout }) {
    const queue = requireTeamQueue(outside);
    const found = await queue.find(run);
    if (found === null) throw noQueuedRun(run);
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), parseTimeout(timeout));
    const unlisten = outside.interrupts.listen(() => stop.abort());
    try {
      return { ...(await queue.land(found, onto, stop.signal)), onto };
    } finally {
      clearTimeout(timer);
      unlisten();
    }
  },
});

function noQueuedRun(name: string): VerbatimError {
  return new VerbatimError("RUN_NOT_FOUND", {
    message: `no run ${JSON.stringify(name)} was asked of the workers`,
    fix: { cli: "List them: verbatim agent queued", others: "Choose one of the queued runs." },
  });
}

/** For runs that a worker of the team works on. */
export const QUEUE_OPERATIONS = [ask, list, land] as const;
