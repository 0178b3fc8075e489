import { z } from "zod";
import { runFields } from "../request/run-fields.ts";

const { goal, verify, verify_sh, no_verify, setup, no_setup, no_baseline, files, allow, deny, leave_out } = runFields;
const { max_files, max_added_lines, max_binary, timeout, memory, processes, disk, profile, fix, max_usd, name } =
  runFields;

/**
 * What may be asked of a run on a worker. Whoever may queue one can run any command there, so nothing of it widens what
 * the worker gives: no hidden file, no variable, no place outside, no host but the profile's and the worker's own.
 */
export const queueFields = {
  goal,
  verify,
  verify_sh,
  no_verify,
  setup,
  no_setup,
  no_baseline,
  files,
  allow,
  deny,
  leave_out,
  max_files,
  max_added_lines,
  max_binary,
  timeout,
  memory,
  processes,
  disk,
  profile,
  fix,
  max_usd,
  name,
  network: z
    .enum(["none", "allow"])
    .default("allow")
    .describe(
      "allow: the hosts of the agent's profile and of the worker, every connection recorded; none: no network.",
    ),
  command: z.array(z.string()).min(1).describe("The agent and its arguments."),
};

/** A request as it is kept and as a worker reads it. */
export const queueRequest = z.strictObject(queueFields);
