/** Where a client of a proxy wants to go, as it wrote it. */
export interface ProxyTarget {
  readonly host: string;
  readonly port: number;
}

/** `host:port`, the target of CONNECT; null where it is not that. The host is judged by whoever asks. */
export function readAuthority(text: string): ProxyTarget | null {
  const at = text.lastIndexOf(":");
  const port = readPort(text.slice(at + 1));
  return at < 1 || port === null ? null : { host: text.slice(0, at), port };
}

/** `http://host[:port][/path][?query]`, the target of a request to a proxy, cut but not decoded; null for anything else. */
export function readAbsoluteTarget(text: string): (ProxyTarget & { readonly path: string }) | null {
  const [, authority, rest = ""] = /^http:\/\/([^/?#]+)([/?][^#]*)?$/i.exec(text) ?? [];
  if (authority === undefined || /[^\x21-\x7e]/.test(rest)) return null;
  const path = rest.startsWith("/") ? rest : `/${rest}`;
  const hasPort = authority.lastIndexOf(":") > authority.lastIndexOf("]");
  if (!hasPort) return { host: authority, port: 80, path };
  const target = readAuthority(authority);
  return target === null ? null : { ...target, path };
}

function readPort(text: string): number | null {
  const port = /^[1-9][0-9]{0,4}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : null;
}

/** `used`: how many bytes were read. */
type Read<T> = { readonly kind: "more" } | { readonly kind: "bad" } | ({ readonly used: number } & T);

const MORE = { kind: "more" } as const;
const BAD = { kind: "bad" } as const;

export const SOCKS_VERSION = 5;
const SOCKS_CONNECT = 1;
/** Addresses by their kind: how many bytes one has. */
const SOCKS_LITERALS: Readonly<Record<number, number>> = { 1: 4, 4: 16 };
const SOCKS_NAME = 3;

/** The greeting of SOCKS5 (RFC 1928): whether the client would come without a password. */
export function readSocksGreeting(bytes: Uint8Array): Read<{ readonly kind: "greeting"; readonly open: boolean }> {
  if ((bytes[0] ?? SOCKS_VERSION) !== SOCKS_VERSION) return BAD;
  const count = bytes[1];
  if (count === undefined || bytes.length < 2 + count) return MORE;
  return { kind: "greeting", used: 2 + count, open: bytes.subarray(2, 2 + count).includes(0) };
}

/** The request after it. A name is cut, not judged; an address is only called one. */
export function readSocksRequest(
  bytes: Uint8Array,
): Read<
  | { readonly kind: "name"; readonly target: ProxyTarget }
  | { readonly kind: "literal"; readonly target: ProxyTarget }
  | { readonly kind: "other"; readonly command: number }
> {
  const [version = SOCKS_VERSION, command, reserved = 0, type, length] = bytes;
  if (version !== SOCKS_VERSION || reserved !== 0) return BAD;
  if (command === undefined || type === undefined) return MORE;
  const literal = SOCKS_LITERALS[type];
  if (literal === undefined && type !== SOCKS_NAME) return BAD;
  if (literal === undefined && length === undefined) return MORE;
  const from = literal === undefined ? 5 : 4;
  const end = from + (literal ?? length!);
  if (bytes.length < end + 2) return MORE;
  const used = end + 2;
  if (command !== SOCKS_CONNECT) return { kind: "other", used, command };
  const name = bytes.subarray(from, end);
  const target = {
    host: literal === undefined ? String.fromCharCode(...name) : [...name].join(literal === 4 ? "." : ","),
    port: (bytes[end]! << 8) | bytes[end + 1]!,
  };
  return { kind: literal === undefined ? "name" : "literal", used, target };
}
