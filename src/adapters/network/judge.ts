import { isPublicAddress } from "../../core/network/addresses.ts";
import type { Verdict } from "../../core/network/connections.ts";
import { findEntry, type HostEntry, readHostName } from "../../core/network/host-names.ts";
import type { ProxyTarget } from "../../core/network/proxy-requests.ts";

/** Every address of a name, as the machine itself resolves it; an empty list where there is none. */
export type ResolveName = (name: string) => Promise<readonly string[]>;

/** What may be connected: the name that was judged and the very addresses that were looked at. */
export type Judged =
  | { readonly verdict: "allowed"; readonly name: string; readonly addresses: readonly string[] }
  | { readonly verdict: Exclude<Verdict, "allowed">; readonly name: string | null };

const RESOLVE_MS = 10_000;

/** The rules in their order: a name, in the list with that port, resolved once, every address public unless it need not be. */
export async function judgeTarget(
  { host, port }: ProxyTarget,
  entries: readonly HostEntry[],
  resolve: ResolveName,
): Promise<Judged> {
  const reading = readHostName(host);
  if (reading.name === null) return { verdict: reading.problem, name: null };
  const { name } = reading;
  const entry = findEntry(entries, name, port);
  if (entry === null) return { verdict: "not_in_list", name };
  const addresses = await resolveInTime(name, resolve);
  if (addresses.length === 0) return { verdict: "unresolved", name };
  // One address that is not public spoils the answer: whoever made it chose the others too.
  if (!entry.private && !addresses.every(isPublicAddress)) return { verdict: "private_address", name };
  return { verdict: "allowed", name, addresses };
}

async function resolveInTime(name: string, resolve: ResolveName): Promise<readonly string[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly string[]>((done) => {
    timer = setTimeout(() => done([]), RESOLVE_MS);
  });
  try {
    // A name service that fails has found nothing; the record says `unresolved`.
    return await Promise.race([resolve(name).catch((): readonly string[] => []), late]);
  } finally {
    clearTimeout(timer);
  }
}
