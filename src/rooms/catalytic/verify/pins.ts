import { isHash, parseJson } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import { eligibleKeys, parsePolicy, toThreshold } from "../../../core/trust/policy.ts";
import type { RoomPorts } from "../operations/ports.ts";

const MAX_POLICY = 1024 * 1024;

type PinPorts = Pick<RoomPorts, "files" | "publicKey"> & { readonly crypto: SyncCrypto };

/**
 * The public keys in hex that a caller wants a proof signed with: those it names, and those of its trust policy.
 * Empty only when it asks for none: a policy that no proof can meet is refused with the code of its rule.
 */
export async function gatherPins(
  ports: PinPorts,
  asked: { readonly pin: readonly string[]; readonly trust?: string | undefined },
): Promise<string[]> {
  const pins = await Promise.all(asked.pin.map(async (pin) => (isHash(pin) ? pin : ports.publicKey(pin))));
  return asked.trust === undefined ? pins : [...pins, ...(await readTrusted(ports, asked.trust))];
}

async function readTrusted({ crypto, files }: PinPorts, file: string): Promise<string[]> {
  const policy = await parsePolicy(crypto, parseJson(await files.read(file, MAX_POLICY), { file }), file);
  const eligible = eligibleKeys(policy, "PROOF");
  const threshold = toThreshold(policy);
  const details = { scope: "PROOF", keys: eligible.size, threshold };
  if (eligible.size === 0) throw new VerbatimError("TRUST_NO_KEYS", { where: file, details });
  if (eligible.size < threshold) throw new VerbatimError("TRUST_THRESHOLD_UNREACHABLE", { where: file, details });
  if (threshold > 1) {
    throw new VerbatimError("TRUST_THRESHOLD_NOT_MET", {
      message: `the policy asks for ${threshold} signatures, but a proof has only one`,
      where: file,
      fix: "Use a policy with a threshold of 1 for proofs.",
      details,
    });
  }
  return [...eligible.values()].map(({ public_key }) => public_key);
}
