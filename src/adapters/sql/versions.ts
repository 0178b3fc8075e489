import { VerbatimError } from "../../core/errors/index.ts";

interface Numbered {
  readonly version: number;
}

/** The highest version this program knows. */
export function newestVersion(migrations: readonly Numbered[]): number {
  return Math.max(0, ...migrations.map((migration) => migration.version));
}

/** The migrations a store lacks, in ascending order; one that only a newer program knows is STORE_FROM_FUTURE. */
export function missingMigrations<M extends Numbered>(
  migrations: readonly M[],
  applied: readonly number[],
  where: string,
): M[] {
  const known = new Set(migrations.map((migration) => migration.version));
  const foreign = applied.find((version) => !known.has(version));
  if (foreign !== undefined) throw fromFuture(foreign, newestVersion(migrations), where);
  const done = new Set(applied);
  return migrations.filter(({ version }) => !done.has(version)).toSorted((a, b) => a.version - b.version);
}

/** The error for a store that a newer program has changed. */
export function fromFuture(version: number, newest: number, where: string): VerbatimError {
  return new VerbatimError("STORE_FROM_FUTURE", {
    message: `the store has version ${version}; this Verbatim knows versions up to ${newest}`,
    where,
    details: { version, newest },
  });
}
