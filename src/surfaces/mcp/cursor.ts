import { createHash } from "node:crypto";
import { VerbatimError } from "../../core/errors/index.ts";

/** Where a list goes on: in which part of it, after which item. */
export interface Cursor {
  readonly part: string;
  readonly after: string;
}

/** A cursor as clients carry it. They must not read or make one, and the sum at its end finds out who did. */
export function formatCursor({ part, after }: Cursor): string {
  const body = Buffer.from(JSON.stringify([part, after]), "utf8").toString("base64url");
  return `${body}.${sumOf(body)}`;
}

/** Reads a cursor that was given out; CURSOR_INVALID. */
export function parseCursor(text: string, parts: readonly string[]): Cursor {
  const [body = "", sum, ...more] = text.split(".");
  if (more.length > 0 || sum !== sumOf(body)) throw refused();
  const value: unknown = JSON.parse(Buffer.from(body, "base64url").toString("utf8"));
  if (!Array.isArray(value)) throw refused();
  const [part, after] = value as unknown[];
  if (typeof part !== "string" || typeof after !== "string" || !parts.includes(part)) throw refused();
  return { part, after };
}

export function refused(): VerbatimError {
  return new VerbatimError("CURSOR_INVALID", { where: "/cursor", fix: "Start the list again without a cursor." });
}

function sumOf(body: string): string {
  return createHash("sha256").update(`verbatim list cursor\n${body}`).digest("hex").slice(0, 16);
}
