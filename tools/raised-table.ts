import { CODES, FINDINGS } from "../src/core/errors/index.ts";

/** Every code there is, thrown or finding. */
export const ALL_CODES: ReadonlySet<string> = new Set([
  ...Object.keys(CODES),
  ...Object.values(FINDINGS).flatMap((room) => Object.keys(room)),
]);

/** Codes that a run need not raise, each with the reason. */
export interface Exceptions {
  /** Nothing can provoke it. */
  readonly never: Readonly<Record<string, string>>;
  /** Raised on some machines only. */
  readonly sometimes: Readonly<Record<string, string>>;
}

/** What is wrong between the table, what was raised, and what is said not to be raised. */
export function compareRaised(
  raised: ReadonlySet<string>,
  { never, sometimes }: Exceptions,
  all: ReadonlySet<string> = ALL_CODES,
): string[] {
  const isExcused = (code: string) => Object.hasOwn(never, code) || Object.hasOwn(sometimes, code);
  const listed = [...Object.keys(never), ...Object.keys(sometimes)];
  return [
    ...[...all].filter((code) => !raised.has(code) && !isExcused(code)).map((code) => `${code} was raised by no test`),
    ...Object.keys(never)
      .filter((code) => raised.has(code))
      .map((code) => `${code} is listed as never raised, and was raised`),
    ...listed.filter((code) => !all.has(code)).map((code) => `${code} is listed as not raised, and is no code`),
  ];
}
