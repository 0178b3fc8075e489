import { VerbatimError } from "../../core/errors/index.ts";

/** Refuses a page that starts before the beginning or has no whole number of items. */
export function requirePage(from: number, limit: number): void {
  for (const [name, value] of [
    ["from", from],
    ["limit", limit],
  ] as const) {
    if (!Number.isSafeInteger(value) || value < 0) {
      throw new VerbatimError("LEDGER_RANGE_INVALID", {
        message: `${name} must be a whole number from 0 on`,
        where: name,
        details: { [name]: value },
      });
    }
  }
}
