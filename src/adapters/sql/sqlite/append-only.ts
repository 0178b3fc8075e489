/** A table whose rows are never changed: its name and every set of columns that is unique in it. */
interface AppendOnlyTable {
  readonly table: string;
  readonly keys: readonly (readonly string[])[];
}

/**
 * Triggers that refuse UPDATE, DELETE and any INSERT that meets an existing row.
 *
 * `INSERT OR REPLACE` deletes the old row for any unique key, and without `recursive_triggers` no delete trigger
 * fires; `OR IGNORE` and `ON CONFLICT DO NOTHING` pass in silence. The guards before the insert stop them all.
 */
export function appendOnlyTriggers({ table, keys }: AppendOnlyTable): string {
  return [
    refusing(`${table}_no_update`, `before update on ${table}`, `${table} is append-only: no update`),
    refusing(`${table}_no_delete`, `before delete on ${table}`, `${table} is append-only: no delete`),
    ...keys.map((columns) =>
      refusing(
        `${table}_no_second_${columns.join("_")}`,
        `before insert on ${table} when exists (select 1 from ${table} where ${columns.map(sameAsNew).join(" and ")})`,
        `${table} is append-only: a row with this ${columns.join(", ")} exists`,
      ),
    ),
  ].join("\n");
}

/** A trigger that only says no. */
export function refusing(name: string, event: string, message: string): string {
  return `create trigger ${name} ${event} begin select raise(abort, '${message}'); end;`;
}

function sameAsNew(column: string): string {
  return `${column} = new.${column}`;
}
