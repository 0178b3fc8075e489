import { isVerbatimError, VerbatimError } from "../../core/errors/index.ts";
import { toHex } from "../../core/hex.ts";
import { acquireLocks, recoverDead, releaseLocks } from "../../rooms/catalytic/index.ts";
import { createCatalyticPorts, toCatalyticPlaces } from "./catalytic-ports.ts";
import type { Composition } from "./compose.ts";

/**
 * Locks paths of the real tree for a change of it: DOMAIN_BUSY while a view is open or someone else changes them. Views
 * that are at work see the tree as it was when they began. Gives back what lets go of exactly this lock.
 */
export async function lockTree(composition: Composition, name: string, paths: readonly string[]): Promise<() => void> {
  const ports = createCatalyticPorts(composition);
  const { root, state } = toCatalyticPlaces(composition);
  // Whoever takes the lock has a name of its own for it, so that nobody lets go of the lock of someone else.
  const once = toHex(composition.random.bytes(8));
  const run_id = `apply-${name
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, "-")
    .slice(0, 40)}-${once}`;
  for (const line of await recoverDead(ports, state)) composition.notify(line);
  await acquireLocks(ports, state, { run_id, root, paths, shared: false }).catch((thrown: unknown) => {
    throw isVerbatimError(thrown) && thrown.code === "DOMAIN_BUSY" ? describeBusy(thrown) : thrown;
  });
  return () => releaseLocks(ports, state, run_id);
}

/** The same refusal for somebody who wanted to change their own tree and knows nothing of domains. */
function describeBusy(refused: VerbatimError): VerbatimError {
  const { run_id: holder, pid } = refused.details ?? {};
  // Without a holder it was the moment in which locks are taken.
  if (typeof holder !== "string") return refused;
  const who = holder.startsWith("apply-")
    ? "another command is changing your tree"
    : "an agent or a verification is at work on your tree and must not see it change";
  return new VerbatimError("DOMAIN_BUSY", {
    message: `${who} (${holder}, process ${String(pid)}); nothing was changed`,
    fix: {
      cli: "Try again when it has ended. What is at work: verbatim agent list",
      others: "Try again when it has ended.",
    },
    details: refused.details ?? {},
    cause: refused,
  });
}
