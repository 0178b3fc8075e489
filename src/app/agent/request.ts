import { VerbatimError } from "../../core/errors/index.ts";
import {
  findVerifyCommands,
  type ParsedCommand,
  parseVerifyCommand,
  type VerifyCandidate,
  verifyNotConfigured,
} from "../../rooms/workflow/index.ts";
import type { AgentPorts } from "./ports.ts";

/** How a change is to be verified, as a person writes it. */
export interface VerifyFlags {
  readonly verify: readonly string[];
  readonly verify_sh: readonly string[];
  readonly no_verify: boolean;
  readonly setup: readonly string[];
  readonly no_setup: boolean;
}

/** The same, checked: whatever would fail only after the agent has worked fails here. */
export interface VerifyPlan {
  /** In words; empty: the configured commands, or none. */
  readonly commands: readonly ParsedCommand[];
  readonly setup: VerifyCandidate["setup"];
}

/**
 * Reads the verify and set-up commands before anything exists: VERIFY_NEEDS_SHELL, VERIFY_PROGRAM_MISSING, and
 * VERIFY_NOT_CONFIGURED with what the repository itself would suggest.
 */
export function planVerification(outside: AgentPorts, flags: VerifyFlags): VerifyPlan {
  const facts = outside.commandFacts();
  const commands = [
    ...flags.verify.map((text) => parseVerifyCommand(text, facts)),
    ...flags.verify_sh.map((sh) => parseVerifyCommand({ sh }, facts)),
  ];
  if (commands.length > 0 && flags.no_verify) {
    throw new VerbatimError("USAGE", { message: "--verify and --no-verify contradict each other" });
  }
  if (flags.setup.length > 0 && flags.no_setup) {
    throw new VerbatimError("USAGE", { message: "--setup and --no-setup contradict each other" });
  }
  // A gate that is configured and empty verifies nothing either.
  const configured = outside.config().workflow.verify.gates.get("lite") ?? [];
  if (commands.length === 0 && !flags.no_verify && configured.length === 0) {
    throw verifyNotConfigured(findVerifyCommands(facts));
  }
  const setup = flags.setup.map((text) => parseVerifyCommand(text, facts, "--setup"));
  return { commands, setup: flags.no_setup ? "none" : setup.length > 0 ? setup : "detect" };
}
