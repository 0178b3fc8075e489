import { encodeUtf8 } from "../../../core/canonical/index.ts";
import type { KnownSecret } from "./redactor.ts";

const SECRET_NAME = /KEY|TOKEN|SECRET|PASS|CRED|AUTH/i;
const LEAST_BYTES = 8;
const RANDOM_LENGTH = 20;
const RANDOM_BITS = 3.5;

/**
 * The variables, and what hidden files assign, whose values are taken out of everything that is recorded: by their names,
 * or because they look random.
 */
export function findKnownSecrets(
  env: Readonly<Record<string, string | undefined>>,
  hidden: readonly KnownSecret[] = [],
): KnownSecret[] {
  const variables = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
  return [...variables, ...hidden].flatMap(({ name, value }) => {
    const found = [...(isSecret(name, value) ? [value, ...listLines(value)] : []), ...listPasswords(value)];
    return [...new Set(found)].filter(isLong).map((one) => ({ name, value: one }));
  });
}

function isSecret(name: string, value: string): boolean {
  if (!isLong(value)) return false;
  // A socket, a list of folders and the like are places, whatever their name says.
  if (SECRET_NAME.test(name)) return !isPlace(value);
  return value.length >= RANDOM_LENGTH && !/[/\s:]/.test(value) && bitsPerCharacter(value) >= RANDOM_BITS;
}

function isLong(value: string): boolean {
  return encodeUtf8(value).length >= LEAST_BYTES;
}

/** Random text may begin with a slash as well; the names of folders and files are rarely that mixed. */
function isPlace(value: string): boolean {
  return /^~?\//.test(value) && !value.split("/").some((part) => part.length >= 12 && isMixed(part));
}

function isMixed(text: string): boolean {
  return [/[a-z]/, /[A-Z]/, /[0-9]/].every((kind) => kind.test(text));
}

/** Of a secret over several lines those that could be printed alone, or with other ends, and say nothing to a person. */
function listLines(value: string): string[] {
  const lines = value.split(/[\r\n]+/);
  return lines.length < 2 ? [] : lines.filter((line) => line.length >= RANDOM_LENGTH && !/\s/.test(line));
}

/** The password of an address, such as that of a database. */
function listPasswords(value: string): string[] {
  const [, password = ""] = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#\s@:]*:([^/?#\s@]+)@/.exec(value) ?? [];
  return [password, decode(password)];
}

function decode(text: string): string {
  return text.replaceAll(/(?:%[0-9A-Fa-f]{2})+/g, (all) =>
    new TextDecoder().decode(Uint8Array.from(all.slice(1).split("%"), (pair) => Number.parseInt(pair, 16))),
  );
}

/** How much a character of a text says on average: words have less than random characters. */
function bitsPerCharacter(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
