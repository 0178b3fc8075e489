import { hostname, networkInterfaces } from "node:os";
import { VerbatimError } from "../../core/errors/index.ts";

const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "::1", "localhost"]);
const EVERYWHERE: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/** Whether only this machine can reach an address. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.has(host);
}

/** Names under which this server may be called; a page of another site must not reach it through a name of its own. */
export function allowedHosts(host: string): ReadonlySet<string> {
  if (isLoopback(host)) return new Set(["127.0.0.1", "localhost", "[::1]"]);
  if (!EVERYWHERE.has(host)) return new Set([host, "localhost", "127.0.0.1"]);
  const own = Object.values(networkInterfaces()).flatMap((all) =>
    (all ?? []).map(({ address, family }) => (family === "IPv6" ? `[${address}]` : address)),
  );
  return new Set([...own, hostname().toLowerCase(), "localhost", "127.0.0.1", "[::1]"]);
}

/** HOST_REFUSED unless the request was meant for this server, by its own page or by a program. */
export function requireOwnHost(
  host: string | undefined,
  origin: string | undefined,
  allowed: ReadonlySet<string>,
): void {
  const name = host?.toLowerCase().replace(/:\d+$/, "");
  if (name === undefined || !allowed.has(name)) throw new VerbatimError("HOST_REFUSED", { where: "Host" });
  if (
    origin !== undefined &&
    origin.toLowerCase() !== `http://${host?.toLowerCase()}` &&
    origin.toLowerCase() !== `https://${host?.toLowerCase()}`
  ) {
    throw new VerbatimError("HOST_REFUSED", { where: "Origin" });
  }
}

/** HOST_REFUSED for what a browser sends on behalf of another site; an address that was typed in comes from none. */
export function requireOwnSite(site: string | undefined): void {
  if (site === undefined || site === "same-origin" || site === "none") return;
  throw new VerbatimError("HOST_REFUSED", { where: "Sec-Fetch-Site" });
}
