import type { People } from "../../api/worlds.ts";

/** 2026-01-01T07:30:00+00:00 as people read it: the day and the time where the story is. */
export function worldClock(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 16)}`;
}

/** The part of it that a field of the browser takes. */
export function toLocalField(at: string): string {
  return at.slice(0, 16);
}

/** What somebody is called; an id that nobody has is shown as it is. */
export function nameIn(people: People | undefined, id: string, narrator: string): string {
  if (id === "WORLD") return narrator;
  if (people === undefined) return id;
  if (people.operator.operator_id === id) return people.operator.name;
  return people.people.find(({ person_id }) => person_id === id)?.display_name ?? id;
}

/** An id made of a name, that none of the others has. */
export function toPersonId(name: string, taken: readonly string[], fallback: string): string {
  const plain = name
    .normalize("NFKD")
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, "_")
    .replace(/^[_0-9]+|_+$/g, "")
    .slice(0, 40);
  const base = plain === "" || plain === "WORLD" || plain === "SYSTEM" ? fallback : plain;
  for (let n = 1; ; n++) {
    const id = n === 1 ? base : `${base}_${n}`;
    if (!taken.includes(id)) return id;
  }
}
