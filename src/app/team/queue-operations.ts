import { z } from "zod";
import { defineOperation, LOCAL_SURFACES, READER } from "../../core/operation.ts";
import type { TeamPorts } from "./ports.ts";

const count = z.int().min(0);

const queues = defineOperation({
  name: "team.queues",
  summary: "Says what waits for the workers of a team, and for how long.",
  effect: "read",
  who: READER,
  surfaces: [...LOCAL_SURFACES, "http"],
  input: z.strictObject({}),
  output: z.strictObject({
    queues: z.array(
      z.strictObject({ queue: z.string(), ready: count, active: count, oldest_s: z.number().describe("Seconds.") }),
    ),
    dead: count.describe("Jobs that used up their retries."),
    workers: z.strictObject({ ready: count, paused: count, draining: count, gone: count }),
    slots: count,
    busy: count,
    entries: count.describe("Entries of the ledger."),
    unchecked: count.describe("Entries since the newest checkpoint."),
    runs: z.record(z.string(), count).describe("Agent runs that were asked for, by where they stand."),
  }),
  async run(ports: TeamPorts) {
    const { queues: rows, ...figures } = await ports.figures();
    return {
      ...figures,
      queues: rows.map((row) => ({ ...row })),
      workers: { ...figures.workers },
      runs: { ...figures.runs },
    };
  },
});

/** What waits. */
export const QUEUE_OPERATIONS = [queues] as const;
