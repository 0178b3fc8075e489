import { z } from "zod";
import { VerbatimError } from "../../../core/errors/index.ts";
import { defineOperation, REVIEWER } from "../../../core/operation.ts";
import { jobId } from "../steps/job-view.ts";
import type { JobPorts } from "./jobs.ts";

/** Lets a worker merge what a job wrote. */
export const jobLand = defineOperation({
  name: "jobs.land",
  summary: "Lets a worker merge the branch of a job that succeeded into a branch of the remote.",
  effect: "append",
  who: REVIEWER,
  input: z.strictObject({
    job_id: jobId,
    onto: z
      .string()
      .regex(/^[A-Za-z0-9_][A-Za-z0-9_./-]{0,200}$/)
      .describe("The branch of the remote that it is merged into."),
    timeout: z.int().min(0).max(86_400).default(600).describe("Seconds to wait for the worker."),
  }),
  output: z.strictObject({
    job_id: jobId,
    land_id: z.string(),
    state: z.enum(["queued", "landed", "refused"]).describe("queued: no worker has ended it yet."),
    commit: z.string().nullable(),
    code: z.string().nullable(),
    message: z.string().nullable(),
    onto: z.string(),
  }),
  async run(ports: JobPorts, { job_id, onto, timeout }) {
    if (ports.team === null) throw new VerbatimError("DATABASE_NOT_SET", { where: "VERBATIM_DATABASE_URL" });
    const stop = new AbortController();
    // An interval of the ports, because this room has no clock of its own.
    const end = timeout === 0 ? null : ports.pauses.every(timeout * 1000, () => stop.abort());
    if (timeout === 0) stop.abort();
    const unlisten = ports.listen(() => stop.abort());
    try {
      return { job_id, onto, ...(await ports.team.land(job_id, onto, stop.signal)) };
    } finally {
      end?.();
      unlisten();
    }
  },
});
