import { ALL_CODES } from "../../tools/raised-table.ts";

/** Writes down the codes that a process of the built program said. */
export function recordSaid(text: string): void {
  const record = (globalThis as Record<symbol, unknown>)[Symbol.for("verbatim.raised")];
  if (typeof record !== "function") return;
  for (const [word] of text.matchAll(/\b[A-Z][A-Z0-9_]+\b/g)) if (ALL_CODES.has(word)) record(word);
}
