import type { FileStore, Finding, TeamDatabase } from "./ports.ts";

/** What somebody who looks after a team's database wants to know, one line each. */
export function describeDatabase(database: TeamDatabase): Finding[] {
  const { where, serverVersion } = database;
  const found: Finding[] = [
    { name: "database", status: "ok", message: `${where}, PostgreSQL ${serverVersion}`, fix: null },
    describeSchema(database),
  ];
  if (database.use === null) return found;
  const { entries, bytes } = database.use;
  const parts = (["ledger", "payloads", "index", "rest"] as const).map((part) => `${part} ${inUnits(bytes[part])}`);
  return [
    ...found,
    describeRole(database.role, database.use.mayChangeLedger),
    describeWorkspaces(database),
    ...(entries === null ? [] : [describeLedger(entries)]),
    { name: "space", status: "ok", message: parts.join(", "), fix: null },
  ];
}

function describeLedger(entries: number): Finding {
  return { name: "ledger", status: "ok", message: `${entries} ${entries === 1 ? "entry" : "entries"}`, fix: null };
}

function describeWorkspaces({ workspaces }: TeamDatabase): Finding {
  const names = workspaces.map(({ name }) => name).join(", ");
  if (names !== "") return { name: "workspaces", status: "ok", message: `this login works in ${names}`, fix: null };
  return {
    name: "workspaces",
    status: "warn",
    message: "this login has not been given a workspace",
    fix: {
      cli: "Have one given to it: verbatim workspace add NAME --login LOGIN.",
      others: "Have a workspace given to the login.",
    },
  };
}

function describeSchema({ schema, applied, missing, newest }: TeamDatabase): Finding {
  if (missing.length === 0) {
    return { name: "schema", status: "ok", message: `${schema} has version ${newest} of ${newest}`, fix: null };
  }
  const message =
    applied.length === 0
      ? `there is no store in ${schema} yet`
      : `${schema} has version ${Math.max(...applied)} of ${newest}; missing: ${missing.map(({ name }) => name).join(", ")}`;
  return {
    name: "schema",
    status: "fail",
    message,
    fix: {
      cli: "See what would change with verbatim store migrate --dry-run, then run verbatim store migrate.",
      others: "Bring the database up to date from a terminal.",
    },
  };
}

function describeRole({ name, why }: TeamDatabase["role"], mayChange: boolean): Finding {
  if (name !== null && !mayChange) {
    return { name: "roles", status: "ok", message: `${name} cannot change the ledger: tried`, fix: null };
  }
  const message = why ?? `${String(name)} may change the ledger; only triggers protect it`;
  return {
    name: "roles",
    status: "warn",
    message,
    fix: {
      cli: "Run verbatim store migrate with a login that may create roles.",
      others: "Migrate with a login that may create roles.",
    },
  };
}

/** A store in a file is brought up to date by whoever opens it. */
export function describeFile({ where, use }: FileStore): Finding[] {
  if (use === null) {
    return [
      { name: "database", status: "ok", message: "no store yet: it is created when it is first needed", fix: null },
    ];
  }
  const entries = `${use.entries} ${use.entries === 1 ? "entry" : "entries"}`;
  return [
    { name: "database", status: "ok", message: where, fix: null },
    {
      name: "schema",
      status: "ok",
      message: `version ${use.version}, brought up to date when it is opened`,
      fix: null,
    },
    { name: "ledger", status: "ok", message: entries, fix: null },
    { name: "space", status: "ok", message: inUnits(use.bytes), fix: null },
  ];
}

/** Decimal units, as disks are sold and `ls -h --si` prints them. */
function inUnits(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}
