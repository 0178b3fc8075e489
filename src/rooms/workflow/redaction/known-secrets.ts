import type { KnownSecret } from "./redactor.ts";

const SECRET_NAME = /KEY|TOKEN|SECRET|PASS|CRED|AUTH/i;
const LEAST_LENGTH = 8;
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
  return [...variables, ...hidden].filter(({ name, value }) => isSecret(name, value));
}

function isSecret(name: string, value: string): boolean {
  if (value.length < LEAST_LENGTH || value.startsWith("/") || value.startsWith("~/")) return false;
  // A socket, a list of folders and the like are places, whatever their name says.
  if (SECRET_NAME.test(name)) return true;
  return value.length >= RANDOM_LENGTH && !/[/\s:]/.test(value) && bitsPerCharacter(value) >= RANDOM_BITS;
}

/** How much a character of a text says on average: words have less than random characters. */
function bitsPerCharacter(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
