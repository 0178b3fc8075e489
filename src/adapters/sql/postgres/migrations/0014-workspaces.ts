import { appendOnlyTriggers } from "../append-only.ts";
import type { PostgresMigration } from "../migration.ts";

/** Tables of the database as a whole: whoever works in a workspace has no say in them. */
export const CONTROL_TABLES = ["migration", "workspace", "access_login", "incarnation"] as const;

const names = CONTROL_TABLES.map((name) => `'${name}'`).join(", ");

/**
 * Many workspaces in one database. Every table but those above gets `workspace_id` as the first column of each key, and
 * row-level security that shows a transaction only the rows of the workspace it works in. Who connects must have been
 * given that workspace: the setting alone, which anybody can write, opens nothing.
 */
export const workspacesMigration: PostgresMigration = {
  version: 14,
  name: "workspaces",
  sql: (s) => `
create table ${s}.workspace (
  id uuid primary key,
  name text collate "C" not null unique check (name ~ '^[a-z][a-z0-9-]{1,38}$'),
  time text collate "C" not null check (length(time) = 24)
);
create table ${s}.access_login (
  login text collate "C" not null,
  workspace_id uuid not null references ${s}.workspace (id),
  primary key (login, workspace_id)
);
create table ${s}.incarnation (
  number bigint generated always as identity primary key,
  id uuid not null unique,
  time text collate "C" not null check (length(time) = 24)
);
${appendOnlyTriggers({ schema: s, table: "workspace", keys: [["id"], ["name"]] })}
${appendOnlyTriggers({ schema: s, table: "incarnation", keys: [["number"], ["id"]] })}

create function ${s}.time_now() returns text language sql as $$
  select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- The workspace of this transaction, for a login that was given it; an error for everybody else.
create function ${s}.current_workspace() returns uuid language plpgsql stable security definer
  set search_path = pg_catalog, pg_temp as $$
declare
  wanted uuid := nullif(current_setting('verbatim.workspace', true), '')::uuid;
begin
  if wanted is null then
    raise exception 'no workspace is set' using errcode = 'insufficient_privilege';
  end if;
  if not exists (select 1 from ${s}.access_login a where a.login = session_user and a.workspace_id = wanted) then
    raise exception 'this login was not given the workspace' using errcode = 'insufficient_privilege';
  end if;
  return wanted;
end $$;

create function ${s}.workspaces_of_login() returns table (id uuid, name text) language sql stable security definer
  set search_path = pg_catalog, pg_temp as $$
  select w.id, w.name from ${s}.workspace w join ${s}.access_login a on a.workspace_id = w.id
    where a.login = session_user order by w.name
$$;

-- Divides every table that is not divided yet, and guards all of them. Run again after each later migration.
create function ${s}.isolate_tables() returns void language plpgsql as $fn$
declare
  fresh oid[];
  links jsonb;
  one record;
begin
  select coalesce(array_agg(c.oid), '{}') into fresh from pg_class c
    where c.relnamespace = '${s}'::regnamespace and c.relkind = 'r' and c.relname not in (${names})
      and not exists (select 1 from pg_attribute a where a.attrelid = c.oid and a.attname = 'workspace_id' and not a.attisdropped);
  select coalesce(jsonb_agg(jsonb_build_object('place', k.conrelid::regclass::text, 'name', k.conname,
      'is', regexp_replace(pg_get_constraintdef(k.oid), '\\(', '(workspace_id, ', 'g')) order by k.oid), '[]') into links
    from pg_constraint k where k.contype = 'f' and k.conrelid = any (fresh);
  for one in select * from jsonb_to_recordset(links) as l (place text, name text) loop
    execute format('alter table %s drop constraint %I', one.place, one.name);
  end loop;
  for one in select f.id::regclass::text as place from unnest(fresh) as f (id) loop
    execute format('alter table %s add column workspace_id uuid not null
      default nullif(current_setting(''verbatim.workspace'', true), '''')::uuid', one.place);
  end loop;
  for one in select k.conrelid::regclass::text as place, k.conname as name,
      regexp_replace(pg_get_constraintdef(k.oid), '\\(', '(workspace_id, ') as is
      from pg_constraint k where k.contype in ('p', 'u') and k.conrelid = any (fresh) order by k.oid loop
    execute format('alter table %s drop constraint %I', one.place, one.name);
    execute format('alter table %s add constraint %I %s', one.place, one.name, one.is);
  end loop;
  for one in select i.indexrelid::regclass::text as name,
      regexp_replace(pg_get_indexdef(i.indexrelid), 'USING btree \\(', 'USING btree (workspace_id, ') as is
      from pg_index i where i.indrelid = any (fresh)
        and not exists (select 1 from pg_constraint k where k.conindid = i.indexrelid) order by i.indexrelid loop
    execute format('drop index %s', one.name);
    execute one.is;
  end loop;
  for one in select * from jsonb_to_recordset(links) as l (place text, name text, "is" text) loop
    execute format('alter table %s add constraint %I %s', one.place, one.name, one.is);
  end loop;
  for one in select f.id::regclass::text as place from unnest(fresh) as f (id) loop
    execute format('create policy own_workspace on %s using (workspace_id = (select ${s}.current_workspace()))
      with check (workspace_id = (select ${s}.current_workspace()))', one.place);
  end loop;
  perform ${s}.guard_tables(true);
end $fn$;

-- Row-level security of all divided tables; without force while a later migration of the owner changes rows.
create function ${s}.guard_tables(forced boolean) returns void language plpgsql as $fn$
declare
  one record;
begin
  for one in select c.oid::regclass::text as place from pg_class c
      where c.relnamespace = '${s}'::regnamespace and c.relkind = 'r' and c.relname not in (${names})
        and (c.relrowsecurity, c.relforcerowsecurity) is distinct from (true, forced) loop
    execute format('alter table %s enable row level security', one.place);
    execute format('alter table %s %s row level security', one.place, case when forced then 'force' else 'no force' end);
  end loop;
end $fn$;

-- What was one store is the first workspace, under the id its ledger has.
insert into ${s}.workspace (id, name, time)
  select value::uuid, coalesce(nullif(current_setting('verbatim.workspace_name', true), ''), 'main'), ${s}.time_now()
  from ${s}.store_fact where name = 'ledger_id';
insert into ${s}.access_login (login, workspace_id) select session_user, id from ${s}.workspace;
insert into ${s}.incarnation (id, time) values (gen_random_uuid(), ${s}.time_now());
select set_config('verbatim.workspace', (select id::text from ${s}.workspace), true);

drop function ${s}.ledger_hold(text);
-- Holds a stream until the end of the transaction; gives its head and the time of the server.
create function ${s}.ledger_hold(name text, out head_position bigint, out head_hash text, out head_time text,
  out now_ms bigint) language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended(
    'verbatim ${s} ' || ${s}.current_workspace() || ' stream ' || name collate "C", 0));
  select e.position, e.hash, e.time into head_position, head_hash, head_time from ${s}.ledger_entry e
    where e.stream = name collate "C" order by e.position desc limit 1;
  now_ms := floor(extract(epoch from clock_timestamp()) * 1000);
end $$;

create or replace function ${s}.ledger_index(hashes text[]) returns void language plpgsql as $$
declare
  next bigint;
begin
  perform pg_advisory_xact_lock(hashtextextended('verbatim ${s} ' || ${s}.current_workspace() || ' order', 0));
  select coalesce(max(idx) + 1, 0) into next from ${s}.ledger_order;
  insert into ${s}.ledger_order (idx, hash)
    select next + given.n - 1, given.hash from unnest(hashes) with ordinality as given (hash, n) order by given.n;
end $$;

select ${s}.isolate_tables();
`,
};
