import { z } from "zod";
import { defineOperation, LOCAL_SURFACES } from "../../core/operation.ts";
import type { LocalFiles } from "../../core/ports.ts";
import type { Workspace } from "../config/workspace.ts";
import { answerHook } from "./answer-hook.ts";
import { HOOK_CLIENTS, type HOOK_EVENTS } from "./hook-call.ts";
import { installHook } from "./install-hook.ts";
import type { HookPorts, WriteFile } from "./ports.ts";

/** What the operations of hooks run on. */
export interface HookOperationPorts extends HookPorts {
  readonly files: LocalFiles;
  /** Folder that the agent works in. */
  readonly start: string;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  readonly workspace: Workspace;
  readonly write: WriteFile;
}

const MAX_INPUT = 64 * 1024 * 1024;

const client = z.enum(HOOK_CLIENTS).default("claude").describe("The coding agent that calls the hook.");

function defineHook<E extends (typeof HOOK_EVENTS)[number]>(event: E, summary: string) {
  return defineOperation({
    name: `hook.${event}` as const,
    summary,
    effect: "append",
    surfaces: LOCAL_SURFACES,
    input: z.strictObject({
      client,
      file: z.string().default("-").describe("File with the JSON of the hook; - reads standard input."),
    }),
    output: z.strictObject({
      exit: z.int().describe("0: the answer is on standard output; 2: blocked, the reason is on standard error."),
      stdout: z.string(),
      stderr: z.string(),
    }),
    async run(ports: HookOperationPorts, input) {
      const { files, start, env, platform } = ports;
      const bytes = await files.read(input.file, MAX_INPUT);
      return answerHook(ports, { event, client: input.client, bytes, start, env, platform });
    },
  });
}

const install = defineOperation({
  name: "hook.install",
  summary: "Shows the hooks for a coding agent and merges them into its settings file.",
  effect: "mutate",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({
    client: z.enum(HOOK_CLIENTS).describe("The coding agent."),
    user: z.boolean().default(false).describe("Use your own settings instead of the repository's."),
    write: z.boolean().default(false).describe("Write without asking."),
  }),
  output: z.strictObject({
    file: z.string(),
    block: z.record(z.string(), z.unknown()),
    state: z.enum(["created", "merged", "unchanged", "proposed"]),
    text: z.string(),
    notes: z.array(z.string()),
  }),
  run: async ({ workspace, write }: HookOperationPorts, input) =>
    installHook(write, { ...input, root: workspace.root }),
});

/** Everything under `hook.` */
export const HOOK_OPERATIONS = [
  defineHook(
    "pre-tool",
    "Checks what a coding agent is about to do against scope, forbidden roots and the current run.",
  ),
  defineHook("post-tool", "Records what a coding agent has done, and says if it should not have."),
  defineHook("stop", "Records that a coding agent has stopped."),
  install,
] as const;
