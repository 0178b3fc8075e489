import { type Cast, isReserved } from "../people/cast.ts";

const MAX_LENGTH = 60;

/** A free person id for a name: upper-case ASCII letters, digits and underscores, numbered when it is taken. */
export function toPersonId(cast: Pick<Cast, "operator_id" | "people">, name: string): string {
  const base = toBaseId(name);
  if (isFree(cast, base)) return base;
  for (let n = 2; ; n++) {
    const id = `${base}_${n}`;
    if (isFree(cast, id)) return id;
  }
}

/** The id that a name asks for, taken or not. */
export function toBaseId(name: string): string {
  const letters = name
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "");
  const named = letters === "" ? "PERSON" : letters;
  const prefixed = /^[A-Z]/.test(named) ? named : `P_${named}`;
  return prefixed.slice(0, MAX_LENGTH).replace(/_+$/, "");
}

function isFree({ operator_id, people }: Pick<Cast, "operator_id" | "people">, id: string): boolean {
  return !people.has(id) && !isReserved(operator_id, id);
}
