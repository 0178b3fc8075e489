/** A host that may be reached: an exact name, or `*.` and what every name below it ends with. */
export interface HostEntry {
  readonly host: string;
  readonly port: number;
  /** Whether it may resolve to an address that is not public. */
  readonly private: boolean;
}

/** What a text that should name a host is. */
export type HostReading =
  | { readonly name: string }
  | { readonly name: null; readonly problem: "bad_name" | "literal_address" };

export const DEFAULT_PORT = 443;

const LONGEST_NAME = 253;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** Resolvers of many systems take names that end so for an address: decimal, octal, hexadecimal, short. */
const NUMBER = /^(?:[0-9]+|0x[0-9a-f]*)$/;

/**
 * Reads the name of a host as it is compared everywhere: lower case, without the dot at its end. Nothing is decoded or
 * mapped: what is not plainly a name is refused, and so is an address in any spelling.
 */
export function readHostName(text: string): HostReading {
  if (/[^\x21-\x7e]|[@%#?/\\]/.test(text)) return { name: null, problem: "bad_name" };
  if (/[:[\]]/.test(text)) return { name: null, problem: "literal_address" };
  const lower = text.toLowerCase();
  const name = lower.endsWith(".") ? lower.slice(0, -1) : lower;
  const labels = name.split(".");
  if (name.length > LONGEST_NAME || !labels.every((label) => LABEL.test(label))) {
    return { name: null, problem: "bad_name" };
  }
  return NUMBER.test(labels.at(-1)!) ? { name: null, problem: "literal_address" } : { name };
}

/** `name`, `*.name`, either with `:PORT`; null when it is none of these. */
export function parseHostEntry(text: string): Pick<HostEntry, "host" | "port"> | null {
  const [, star = "", written = "", digits] = /^(\*\.)?([^:*]+)(?::([1-9][0-9]{0,4}))?$/.exec(text) ?? [];
  const { name } = readHostName(written);
  const port = digits === undefined ? DEFAULT_PORT : Number(digits);
  return name === null || port > 65_535 ? null : { host: `${star}${name}`, port };
}

/** As `parseHostEntry` reads it. */
export function formatHostEntry({ host, port }: Pick<HostEntry, "host" | "port">): string {
  return port === DEFAULT_PORT ? host : `${host}:${port}`;
}

/** The entry that lists a name with a port; one that also allows private addresses goes before one that does not. */
export function findEntry(entries: readonly HostEntry[], name: string, port: number): HostEntry | null {
  const listed = entries.filter((entry) => entry.port === port && isNamed(entry.host, name));
  return listed.find((entry) => entry.private) ?? listed[0] ?? null;
}

/** A star stands for at least one label, so the name after it is not meant itself. */
function isNamed(host: string, name: string): boolean {
  return host.startsWith("*.") ? name.length >= host.length && name.endsWith(host.slice(1)) : name === host;
}
