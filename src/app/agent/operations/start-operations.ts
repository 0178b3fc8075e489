import { z } from "zod";
import { defineOperation, LOCAL_SURFACES, OWNER } from "../../../core/operation.ts";
import { GUARD_REQUESTS } from "../../../rooms/catalytic/index.ts";
import type { AgentPorts } from "../ports.ts";
import { agentCommands, allowCommand, listCommands } from "../request/commands.ts";
import { startAgent, started } from "../request/start.ts";

const name = z.string().min(1).max(40);
const paths = z.array(z.string().min(1).max(4096)).max(200).default([]);

const commands = defineOperation({
  name: "agent.commands",
  summary: "Lists the agents of the configuration that are started by name, and allows one on this machine.",
  effect: "mutate",
  who: OWNER,
  surfaces: [...LOCAL_SURFACES, "http"],
  input: z.strictObject({
    allow: name.optional().describe("Allow this one, as it is now; a changed one asks again."),
    sha256: z.string().max(64).optional().describe("The hash of what was looked at; another command is not allowed."),
  }),
  output: agentCommands,
  async run(outside: AgentPorts, { allow, sha256 = null }) {
    if (allow !== undefined) await allowCommand(outside, allow, sha256);
    return await listCommands(outside);
  },
});

const start = defineOperation({
  name: "agent.start",
  summary: "Starts an agent, or a race of up to six, in the background; answers once the first has started.",
  effect: "mutate",
  who: OWNER,
  // Whoever is at a terminal has `verbatim agent --detach`.
  surfaces: ["http"],
  input: z.strictObject({
    command: name.optional().describe("A command of the configuration that was allowed on this machine."),
    argv: z.array(z.string().max(100_000)).min(1).max(200).optional().describe("The words of a command instead."),
    goal: z.string().min(1).max(20_000),
    verify: z.array(z.string().min(1).max(10_000)).max(20).default([]),
    no_verify: z.boolean().default(false),
    files: paths.describe("Files for the context pack."),
    allow: paths.describe("Paths that may change (default: everything)."),
    deny: paths.describe("Paths that may not change."),
    guard: z.enum(GUARD_REQUESTS).optional(),
    network: z.enum(["inherit", "none", "allow"]).optional(),
    timeout_s: z.int().min(1).max(86_400).optional(),
    count: z.int().min(1).max(6).default(1).describe("More than one makes a race."),
  }),
  output: started,
  run: (outside: AgentPorts, input) => startAgent(outside, input),
});

/** How agents are started by somebody who is not at a terminal. */
export const START_OPERATIONS = [commands, start] as const;
