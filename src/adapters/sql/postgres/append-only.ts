/** A table whose rows are never changed: its schema, its name and every set of columns that is unique in it. */
interface AppendOnlyTable {
  readonly schema: string;
  readonly table: string;
  readonly keys: readonly (readonly string[])[];
}

/** Ends the name of the trigger that marks a table as append-only; the writer's rights are given by it. */
export const APPEND_ONLY_SUFFIX = "_append_only";

/** The function behind every refusal. A schema needs it once, before its first append-only table. */
export function refuseChangeFunction(schema: string): string {
  return `
create function ${schema}.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only: no %', tg_table_name, lower(tg_op) using errcode = 'restrict_violation';
end $$;`;
}

/**
 * Triggers that refuse UPDATE, DELETE, TRUNCATE and any INSERT that meets an existing row, so that
 * `ON CONFLICT DO NOTHING` fails too instead of passing in silence. They fire in replica mode as well.
 */
export function appendOnlyTriggers({ schema, table, keys }: AppendOnlyTable): string {
  const place = `${schema}.${table}`;
  const always = (trigger: string) => `alter table ${place} enable always trigger ${trigger};`;
  const guards = keys.map(
    (columns) => `
  if exists (select 1 from ${place} where ${columns.map((column) => `${column} = new.${column}`).join(" and ")}) then
    raise exception '${table} is append-only: a row with this ${columns.join(", ")} exists'
      using errcode = 'restrict_violation';
  end if;`,
  );
  return `
create trigger ${table}${APPEND_ONLY_SUFFIX} before update or delete on ${place}
  for each row execute function ${schema}.refuse_change();
create trigger ${table}_no_truncate before truncate on ${place}
  for each statement execute function ${schema}.refuse_change();
${always(`${table}${APPEND_ONLY_SUFFIX}`)}
${always(`${table}_no_truncate`)}${
  guards.length === 0
    ? ""
    : `
create function ${schema}.${table}_guard() returns trigger language plpgsql as $$
begin${guards.join("")}
  return new;
end $$;
create trigger ${table}_guard before insert on ${place} for each row execute function ${schema}.${table}_guard();
${always(`${table}_guard`)}`
}`;
}
