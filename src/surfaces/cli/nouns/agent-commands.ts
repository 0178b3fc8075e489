import { quoteWords } from "../../../app/agent/request/commands.ts";
import type { Output } from "../../../app/operations.ts";
import { showLine } from "../../../core/text/index.ts";
import type { Io } from "../io.ts";
import { defineVerb } from "../verb.ts";

type Command = Output<"agent.commands">["commands"][number];

/** Agents that are started by name. Whoever allows one sees everything that it decides. */
export const commandsVerb = defineVerb("agent.commands", {
  path: ["commands"],
  flags: { allow: { value: "NAME" }, sha256: { hidden: true } },
  examples: ["verbatim agent commands", "verbatim agent commands --allow claude"],
  render({ commands, parallel }, io, { allow }) {
    if (commands.length === 0) return io.line("no command is named: agent.commands in verbatim.config.json");
    for (const command of commands) if (allow === undefined || command.name === allow) renderCommand(command, io);
    if (allow === undefined) io.line(`at most ${parallel} at work at once`);
  },
});

function renderCommand(command: Command, io: Io): void {
  const { name, allowed, argv, feedback, profile, verify, setup, timeout_s, network, hosts, keep } = command;
  io.line(`${name}  ${allowed ? "allowed on this machine" : `not allowed: verbatim agent commands --allow ${name}`}`);
  const rows: readonly (readonly [string, string | null])[] = [
    ["starts", quoteWords(argv)],
    ["continues", feedback === null ? null : quoteWords(feedback)],
    ["profile", profile],
    ["verify", verify.length === 0 ? "nothing" : verify.join("; ")],
    ["setup", setup.length === 0 ? null : setup.join("; ")],
    ["time", timeout_s === null ? null : `${timeout_s} s`],
    ["network", network === null ? "as for all agents" : [network, ...hosts].join(" ")],
    ["keeps", keep.length === 0 ? null : keep.join(", ")],
  ];
  for (const [label, value] of rows) if (value !== null) io.line(`  ${label.padEnd(10)}${showLine(value)}`);
}
