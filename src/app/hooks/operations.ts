import { z } from "zod";
import { defineOperation, LOCAL_DOORS } from "../../core/operation.ts";
import type { Composition } from "../compose/compose.ts";
import type { Wiring } from "../operations.ts";
import { answerHook } from "./answer-hook.ts";
import { HOOK_CLIENTS, type HOOK_EVENTS } from "./hook-call.ts";
import { installHook } from "./install-hook.ts";

const MAX_INPUT = 64 * 1024 * 1024;

const client = z.enum(HOOK_CLIENTS).default("claude").describe("The coding agent that calls.");

function defineHook<E extends (typeof HOOK_EVENTS)[number]>(event: E, summary: string) {
  return defineOperation({
    name: `hook.${event}` as const,
    summary,
    effect: "append",
    doors: LOCAL_DOORS,
    input: z.strictObject({
      client,
      file: z.string().default("-").describe("The JSON of the hook; - reads standard input."),
    }),
    output: z.strictObject({
      exit: z.int().describe("0: the answer is on standard output; 2: blocked, the reason is on standard error."),
      stdout: z.string(),
      stderr: z.string(),
    }),
    async run({ files, start, env, platform }: Composition, input) {
      const bytes = await files.read(input.file, MAX_INPUT);
      return answerHook({ event, client: input.client, bytes, start, env, platform });
    },
  });
}

const install = defineOperation({
  name: "hook.install",
  summary: "Shows the hooks for a coding agent and merges them into its settings file.",
  effect: "mutate",
  doors: LOCAL_DOORS,
  input: z.strictObject({
    client: z.enum(HOOK_CLIENTS).describe("The coding agent."),
    user: z.boolean().default(false).describe("Your own settings instead of the repository's."),
    write: z.boolean().default(false).describe("Write without asking."),
  }),
  output: z.strictObject({
    file: z.string(),
    block: z.record(z.string(), z.unknown()),
    state: z.enum(["created", "merged", "unchanged", "proposed"]),
    text: z.string(),
    notes: z.array(z.string()),
  }),
  run: async ({ workspace }: Composition, input) => installHook({ ...input, root: workspace.root }),
});

/** Everything under `hook.` */
export const HOOK_OPERATIONS = [
  defineHook("pre-tool", "Judges what a coding agent is about to do: scope, forbidden roots, the current run."),
  defineHook("post-tool", "Records what a coding agent has done, and says when it should not have."),
  defineHook("stop", "Records that a coding agent has stopped."),
  install,
] as const;

export const wiring: Wiring<typeof HOOK_OPERATIONS> = {
  operations: HOOK_OPERATIONS,
  ports: async (composition) => composition,
};
