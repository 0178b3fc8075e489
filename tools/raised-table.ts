import { CODES, FINDINGS } from "../src/core/errors/index.ts";

/** Every code there is, thrown or finding. */
export const ALL_CODES: ReadonlySet<string> = new Set([
  ...Object.keys(CODES),
  ...Object.values(FINDINGS).flatMap((room) => Object.keys(room)),
]);

/** What is wrong between the table, what was raised, and what is said not to be raisable. */
export function compareRaised(
  raised: ReadonlySet<string>,
  exceptions: Readonly<Record<string, string>>,
  all: ReadonlySet<string> = ALL_CODES,
): string[] {
  const missing = [...all].filter((code) => !raised.has(code) && exceptions[code] === undefined);
  const stale = Object.keys(exceptions).filter((code) => raised.has(code) || !all.has(code));
  return [
    ...missing.map((code) => `${code} was raised by no test`),
    ...stale.map((code) => `${code} is listed as not raised, and ${all.has(code) ? "was raised" : "is no code"}`),
  ];
}
