import { VerbatimError } from "../../../core/errors/index.ts";
import type { SigningKey } from "../../../core/trust/index.ts";
import type { AgentPorts } from "../ports.ts";

/**
 * The key that commits of agents are signed with: the one that was named, that of the configuration, the file that
 * VERBATIM_KEY_FILE names, or the key in VERBATIM_KEY. Null: there is none. KEY_UNKNOWN, KEY_FILE_MODE, KEY_INVALID.
 */
export async function findSigningKey(outside: AgentPorts, named: string | null): Promise<SigningKey | null> {
  const { keys, user } = outside;
  const file = named ?? outside.config().agent.attest.key ?? (user.env["VERBATIM_KEY_FILE"] || null);
  if (file !== null) return await keys.load(file);
  const text = user.env["VERBATIM_KEY"] ?? "";
  return text === "" ? null : await keys.parse(text, "VERBATIM_KEY");
}

export async function requireSigningKey(outside: AgentPorts, named: string | null): Promise<SigningKey> {
  const key = await findSigningKey(outside, named);
  if (key === null) throw new VerbatimError("ATTEST_KEY_MISSING");
  return key;
}
