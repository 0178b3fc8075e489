import type { OutputFilter } from "../../../rooms/catalytic/index.ts";
import {
  findKnownSecrets,
  type HiddenValue,
  Redactor,
  redactBytes,
  SECRET_FORMS,
  SecretFinder,
  toSecretForms,
  type Verified,
} from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";

/**
 * What must not be written down of anything that an agent or a verify command prints: values of the user's variables and
 * of hidden files.
 */
export function findSecrets(
  { user, config }: Pick<AgentPorts, "user" | "config">,
  hidden: readonly HiddenValue[],
  set: Readonly<Record<string, string>> = {},
): SecretFinder {
  const forms = [...SECRET_FORMS, ...toSecretForms(config().agent.redact.patterns)];
  return new SecretFinder(findKnownSecrets({ ...user.env, ...set }, hidden), forms);
}

/** A filter for each stream that is recorded. */
export function redactWith(
  outside: Pick<AgentPorts, "user" | "config">,
  { set }: { readonly set: Readonly<Record<string, string>> },
  hidden: readonly HiddenValue[],
): () => OutputFilter {
  const finder = findSecrets(outside, hidden, set);
  return () => new Redactor(finder);
}

/** What a verification says, without secrets: its logs, and the last lines of what failed. */
export function redactVerified(finder: SecretFinder, verified: Verified): Verified {
  const clean = (text: string) => decoder.decode(redactBytes(finder, encoder.encode(text)));
  // A key may have many lines: they are read together.
  const cleanAll = (lines: readonly string[]) => (lines.length === 0 ? [] : clean(lines.join("\n")).split("\n"));
  const { report } = verified;
  return {
    stdout: redactBytes(finder, verified.stdout),
    stderr: redactBytes(finder, verified.stderr),
    report: {
      ...report,
      reason: report.reason === null ? null : clean(report.reason),
      setup: report.setup.map(({ tail, ...one }) => (tail === undefined ? one : { ...one, tail: cleanAll(tail) })),
      commands: report.commands.map((command) => ({ ...command, tail: cleanAll(command.tail) })),
    },
  };
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
