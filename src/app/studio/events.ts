import { z } from "zod";
import { AGENT_STATES } from "../../rooms/workflow/index.ts";

/**
 * What a page hears while it listens. An event says what to fetch again and carries nothing that is shown, so that a page has
 * one source for everything.
 */
export const EVENTS = {
  ledger: z.strictObject({
    size: z.int().describe("Entries in the ledger."),
    streams: z.record(z.string(), z.int()).describe("Streams that grew, each with the position of its last entry."),
  }),
  run: z.strictObject({
    run_id: z.string(),
    state: z.enum(AGENT_STATES).nullable().describe("Null: an entry that moves the run nowhere."),
    reason: z.string().nullable(),
  }),
  job: z.strictObject({ id: z.string(), what: z.string().describe("Kind of the entry.") }),
  world: z.strictObject({ world_id: z.string(), what: z.string().describe("Kind of the entry.") }),
  task: z.strictObject({
    id: z.string(),
    operation: z.string(),
    state: z.enum(["waiting", "running", "done", "failed", "cancelled"]),
    done: z.int(),
    total: z.int().nullable(),
    note: z.string(),
  }),
  session: z.strictObject({ ended: z.literal(true) }),
  reset: z.strictObject({}).describe("Too much was missed, or the ledger is another one: fetch everything again."),
} as const;

/** The data of each event by its name. */
export type Events = { readonly [E in keyof typeof EVENTS]: z.infer<(typeof EVENTS)[E]> };
