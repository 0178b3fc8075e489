import { ALL_CODES } from "../../tools/raised-table.ts";

type Recorders = Readonly<Record<symbol, ((code: string) => string) | undefined>>;

/** Writes down the codes that a process of the built program said. */
export function recordSaid(text: string): void {
  const record = (globalThis as unknown as Recorders)[Symbol.for("verbatim.raised")];
  for (const [word] of text.matchAll(/\b[A-Z][A-Z0-9_]+\b/g)) if (ALL_CODES.has(word)) record?.(word);
}
