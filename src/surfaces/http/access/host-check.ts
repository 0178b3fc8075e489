import { hostname, networkInterfaces } from "node:os";
import { VerbatimError } from "../../../core/errors/index.ts";

const LOOPBACK = /^(?:localhost|::1|127\.(?:\d{1,3}\.){2}\d{1,3})$/;
const EVERYWHERE: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/** Whether only this machine can reach an address. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

/** Under which names a server may be called, and from which pages. */
export interface OwnNames {
  readonly hosts: ReadonlySet<string>;
  readonly scheme: "http" | "https";
  /** The address of a proxy in front of it, or of the name in its certificate. */
  readonly publicUrl: URL | null;
}

interface Reached {
  readonly host: string;
  readonly publicUrl?: URL | null;
  readonly tls?: object | null;
}

/** Names under which this server may be called; a page of another site must not reach it through a name of its own. */
export function ownNames({ host, publicUrl = null, tls = null }: Reached): OwnNames {
  // Behind a proxy the address itself is in the clear: only whoever came through the proxy is answered.
  const isBehind = publicUrl?.protocol === "https:" && tls === null && !isLoopback(host);
  const hosts = isBehind ? [] : listenedNames(host);
  const more = publicUrl === null ? [] : [publicUrl.hostname];
  return { hosts: new Set([...hosts, ...more]), scheme: tls === null ? "http" : "https", publicUrl };
}

function listenedNames(host: string): string[] {
  if (isLoopback(host)) return ["127.0.0.1", "localhost", "[::1]", ...(host.startsWith("127.") ? [host] : [])];
  if (!EVERYWHERE.has(host)) return [host.includes(":") ? `[${host}]` : host.toLowerCase(), "localhost", "127.0.0.1"];
  const own = ownAddresses().map(({ address, family }) => (family === "IPv6" ? `[${address}]` : address));
  return [...own, hostname().toLowerCase(), "localhost", "127.0.0.1", "[::1]"];
}

/** An address that others can type, for one that is listened on. */
export function reachableHost(host: string): string {
  if (!EVERYWHERE.has(host)) return host;
  return ownAddresses().find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? "127.0.0.1";
}

function ownAddresses() {
  return Object.values(networkInterfaces()).flatMap((all) => all ?? []);
}

/** HOST_REFUSED unless the request was meant for this server, by its own page or by a program. */
export function requireOwnHost(host: string | undefined, origin: string | undefined, own: OwnNames): void {
  const asked = host?.toLowerCase();
  const name = asked?.replace(/:\d+$/, "");
  if (name === undefined || !own.hosts.has(name)) throw new VerbatimError("HOST_REFUSED", { where: "Host" });
  if (origin === undefined) return;
  const page = origin.toLowerCase();
  // A proxy may name the server as it knows it; the page keeps the address that people know.
  if (page === own.publicUrl?.origin) return;
  if (name !== own.publicUrl?.hostname && page === `${own.scheme}://${asked}`) return;
  throw new VerbatimError("HOST_REFUSED", { where: "Origin" });
}

/** HOST_REFUSED for what a browser sends on behalf of another site; an address that was typed in comes from none. */
export function requireOwnSite(site: string | undefined): void {
  if (site === undefined || site === "same-origin" || site === "none") return;
  throw new VerbatimError("HOST_REFUSED", { where: "Sec-Fetch-Site" });
}
