import { z } from "zod";
import { formatCanonical, isJsonObject } from "../../../core/canonical/index.ts";
import type { CommandConfig } from "../../../core/contracts/config/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { formatTime } from "../../../core/time.ts";
import { formatArgv } from "../../../rooms/workflow/index.ts";
import { CONFIG_FILE } from "../../config/workspace.ts";
import type { AgentPorts } from "../ports.ts";

const VERSION = "verbatim-allowed-command-v1";

/** A command of the configuration, with everything that decides what starting it does. */
const known = z.strictObject({
  name: z.string(),
  argv: z.array(z.string()).describe("What is started, a word each; {goal} is where the goal goes."),
  feedback: z.array(z.string()).nullable().describe("What continues its work; {feedback} is what somebody said."),
  profile: z.string().nullable(),
  verify: z.array(z.string()).describe("What judges its change, also where the configuration says it for all agents."),
  setup: z.array(z.string()),
  timeout_s: z.int().nullable(),
  network: z.enum(["inherit", "none", "allow"]).nullable().describe("Null: as for all agents."),
  hosts: z.array(z.string()),
  keep: z.array(z.string()).describe("What stays writable for it outside the repository."),
  sha256: z.string().describe("Hash of all of this: a changed command has another one."),
  allowed: z.boolean().describe("Whether its owner has allowed it on this machine, as it is now."),
  allowed_at: z.string().nullable(),
});

export const agentCommands = z.strictObject({
  commands: z.array(known),
  verify: z.array(z.string()).describe("What judges a change where neither a command nor whoever starts it says so."),
  network: z.enum(["inherit", "none", "allow"]).describe("What agents have of the network where nothing else says so."),
  parallel: z.int().describe("How many agents a server has at work at once."),
  starting: z.enum(["typed", "allowed", "off"]).describe("What whoever asks may start."),
});

export type KnownCommand = z.infer<typeof known>;

/** The commands of the configuration as it is now, and which of them were allowed here. */
export async function listCommands(outside: AgentPorts): Promise<z.infer<typeof agentCommands>> {
  const { agent } = outside.configNow();
  const repo = (await outside.workflow("read")).identity.current()?.repo_id ?? null;
  const commands = Object.entries(agent.commands).map(([name, config]) => describe(outside, name, config, repo));
  const { parallel } = agent;
  const network = agent.network ?? outside.configNow().catalytic.network;
  const verify = describeVerify(outside, agent.verify.commands);
  return { commands, verify, network, parallel, starting: outside.starting() };
}

type VerifyCommands = ReturnType<AgentPorts["configNow"]>["agent"]["verify"]["commands"];

function describeVerify(outside: AgentPorts, own: VerifyCommands): string[] {
  const gate = outside.configNow().workflow.verify.gates.get("lite") ?? [];
  if (own.length === 0) return gate.map(({ argv }) => formatArgv(argv));
  return own.map((one) => (typeof one === "string" ? one : formatArgv(["/bin/sh", "-c", one.sh])));
}

/** The command of a name that was allowed as it is. COMMAND_UNKNOWN, COMMAND_NOT_ALLOWED. */
export async function requireAllowed(outside: AgentPorts, name: string): Promise<KnownCommand> {
  const command = find(await listCommands(outside), name);
  if (command.allowed) return command;
  throw new VerbatimError("COMMAND_NOT_ALLOWED", {
    message: `${JSON.stringify(name)}, as it is now, has not been allowed on this machine: ${formatArgv(command.argv)}`,
    where: `${CONFIG_FILE} /agent/commands/${name}`,
    fix: {
      cli: `Look at it, then: verbatim agent commands --allow ${name}`,
      others: "Look at it in the settings and allow it, or have it allowed in a terminal on that machine.",
    },
  });
}

/** Remembers that the owner allowed a command as they saw it. A command that is another by now is not allowed. */
export async function allowCommand(outside: AgentPorts, name: string, seen: string | null): Promise<void> {
  if (outside.starting() !== "typed") {
    throw new VerbatimError("LOCAL_ONLY", {
      message:
        "a command is allowed in a terminal on the machine of the repository, or in a session opened by its link",
      where: "/allow",
    });
  }
  const command = find(await listCommands(outside), name);
  if (seen !== null && seen !== command.sha256) {
    throw new VerbatimError("COMMAND_NOT_ALLOWED", {
      message: `${JSON.stringify(name)} is a different command now: ${formatArgv(command.argv)}`,
      where: `${CONFIG_FILE} /agent/commands/${name}`,
      fix: "Look at it again before you allow it.",
    });
  }
  const { repo_id } = (await outside.workflow("mutate")).identity.settle();
  const { argv, sha256 } = command;
  const allowed_at = formatTime(outside.clock.now());
  const record = { schema_version: VERSION, repo_id, name, argv, sha256, allowed_at };
  outside.user.writeAllowed(keyOf(outside, repo_id, sha256), encode(`${formatCanonical(record)}\n`));
}

function find({ commands }: z.infer<typeof agentCommands>, name: string): KnownCommand {
  const command = commands.find((one) => one.name === name);
  if (command !== undefined) return command;
  const names = commands.map((one) => one.name);
  throw new VerbatimError("COMMAND_UNKNOWN", {
    message: `no command is called ${JSON.stringify(name)}${names.length === 0 ? "" : `; there is ${names.join(", ")}`}`,
    where: `${CONFIG_FILE} /agent/commands`,
  });
}

function describe(outside: AgentPorts, name: string, config: CommandConfig, repo: string | null): KnownCommand {
  const { agent } = outside.configNow();
  requireProgram(name, config);
  const facts = {
    name,
    argv: [...config.argv],
    feedback: config.feedback === undefined ? null : [...config.feedback],
    profile: config.profile ?? null,
    // A command may say that nothing checks it; then what holds for all does not either.
    verify: config.verify?.length === 0 ? [] : describeVerify(outside, config.verify ?? agent.verify.commands),
    setup: [...agent.verify.setup],
    timeout_s: config.timeout_s ?? null,
    network: config.network ?? null,
    hosts: [...(config.hosts ?? [])],
    keep: [...(config.keep ?? [])],
  };
  const sha256 = hash(outside, formatCanonical(facts));
  const record = repo === null ? null : outside.user.readAllowed(keyOf(outside, repo, sha256));
  const isSame = isJsonObject(record) && record["repo_id"] === repo && record["sha256"] === sha256;
  const at = isSame && typeof record["allowed_at"] === "string" ? record["allowed_at"] : null;
  return { ...facts, sha256, allowed: at !== null, allowed_at: at };
}

/** Which program is started is never up to whoever writes the goal. */
function requireProgram(name: string, { argv, feedback }: CommandConfig): void {
  for (const [key, words] of Object.entries({ argv, feedback })) {
    const [program = ""] = words ?? ["-"];
    if (/^[^{}]+$/.test(program)) continue;
    const where = `${CONFIG_FILE} /agent/commands/${name}/${key}/0`;
    throw new VerbatimError("CONFIG_INVALID", { message: "the program of a command has no placeholder", where });
  }
}

/** Words as somebody would type them. */
export function quoteWords(words: readonly string[]): string {
  return formatArgv(words);
}

/** One file for each: two that are allowed at the same moment do not lose each other. */
function keyOf(outside: AgentPorts, repoId: string, sha256: string): string {
  return hash(outside, `${repoId}\0${sha256}`);
}

function hash(outside: AgentPorts, text: string): string {
  return outside.catalytic().crypto.sha256(encode(text));
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** A command with what stands for its placeholders. A value is never split, and never read as an option. */
export function fillCommand(argv: readonly string[], values: Readonly<Record<"goal" | "feedback", string>>): string[] {
  return argv.map((word, at) => {
    const filled = word.replaceAll(/\{(goal|feedback)\}/g, (_, name: "goal" | "feedback") => values[name]);
    if (at === 0 || !/^\{(?:goal|feedback)\}/.test(word) || !filled.startsWith("-")) return filled;
    throw new VerbatimError("USAGE", {
      message: "a goal that begins with - could be read as an option of the agent",
      where: "/goal",
      fix: "Begin it with a word.",
    });
  });
}
