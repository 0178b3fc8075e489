import { z } from "zod";
import { VerbatimError } from "../../../core/errors/index.ts";
import { defineOperation, LOCAL_SURFACES } from "../../../core/operation.ts";
import { findShellSyntax, splitWords } from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { PICKS, race, runRace } from "../race/race.ts";
import type { AgentRequest } from "../request/request.ts";

const MOST = 6;

/** The race of agents that are started as a single one is: what a run takes, and how such a run is asked for. */
export function defineRace<F extends z.ZodRawShape>(
  runFields: F,
  toRequest: (outside: AgentPorts, input: z.output<z.ZodObject<F>>, command: readonly string[]) => AgentRequest,
) {
  const input = z.strictObject({
    ...runFields,
    count: z.int().min(2).max(MOST).optional().describe("How often COMMAND is started, 2 to 6 (default: 2)."),
    entry: z.array(z.string().min(1)).max(MOST).default([]).describe("A command that takes part; repeatable."),
    jobs: z.int().min(1).max(MOST).optional().describe("How many agents work at the same time (default: all)."),
    verify_jobs: z.int().min(1).max(MOST).default(1).describe("How many are verified at the same time."),
    pick: z
      .enum(PICKS)
      .default("ask")
      .describe("What to apply: what you say, the first that passes, the smallest, or the cheapest."),
    discard_losers: z.boolean().default(false).describe("Throw the others away once one was applied."),
    command: z.array(z.string()).default([]).describe("The agent and its arguments."),
  });
  return defineOperation({
    name: "agent.race",
    summary: "Lets several agents work on one goal from one base, and ranks what they did.",
    effect: "mutate",
    surfaces: LOCAL_SURFACES,
    input,
    output: race,
    async run(outside: AgentPorts, given: z.output<typeof input>) {
      const { command, entry, count, jobs, verify_jobs, pick, discard_losers } = given as Given;
      const commands = toCommands(command, entry, count);
      const requests = commands.map((one) => toRequest(outside, given as z.output<z.ZodObject<F>>, one));
      const options = { jobs: jobs ?? commands.length, verifyJobs: verify_jobs, pick, discardLosers: discard_losers };
      return await runRace(outside, requests, options);
    },
  });
}

interface Given {
  readonly command: readonly string[];
  readonly entry: readonly string[];
  readonly count?: number | undefined;
  readonly jobs?: number | undefined;
  readonly verify_jobs: number;
  readonly pick: (typeof PICKS)[number];
  readonly discard_losers: boolean;
}

function toCommands(command: readonly string[], entry: readonly string[], count: number | undefined) {
  const isBoth = command.length > 0 && entry.length > 0;
  if (isBoth || (command.length === 0 && entry.length < 2) || (entry.length > 0 && count !== undefined)) {
    throw new VerbatimError("USAGE", {
      message: "a race is one command that is started several times, or at least two entries",
      fix: {
        cli: 'verbatim agent race --goal TEXT -n 3 -- COMMAND, or --entry "COMMAND" --entry "COMMAND"',
        others: "Give command and count, or at least two entries.",
      },
    });
  }
  if (command.length > 0) return Array.from({ length: count ?? 2 }, () => command);
  return entry.map((text) => {
    const found = findShellSyntax(text);
    if (found === null) return splitWords(text);
    throw new VerbatimError("USAGE", {
      message: `an entry is started without a shell, and ${JSON.stringify(found.syntax)} is shell syntax`,
      fix: "Put it into a script, and let the script take part.",
    });
  });
}
