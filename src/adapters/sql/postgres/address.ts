import pg from "pg";
import { VerbatimError } from "../../../core/errors/index.ts";

/** Where a store lies and how to reach it. */
export interface Address {
  /** For people: without the password. */
  readonly where: string;
  readonly schema: string;
  /** Without anything for the start of a session: a pooler hands sessions from one client to the next. */
  readonly connectionString: string;
  /** Opens a transaction with our settings for it, as one message. */
  begin(mode: TransactionMode, as?: WorksAs | null): string;
}

/** With whose rights a transaction works, and in which workspace. */
export interface WorksAs {
  readonly role: string | null;
  /** Id of the workspace; null only for what belongs to the database as a whole. */
  readonly workspace: string | null;
}

export type TransactionMode = "read committed read write" | "repeatable read read only";

const SCHEMA = /^[a-z_][a-z0-9_]{0,40}$/;
const ROLE = /^[a-z_][a-z0-9_]{0,62}$/;
const WORKSPACE = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const OPTIONS = /([?&])options=([^&#]*)&?/;
const SEARCH_PATH = /^(?:-c\s*|--)search_path=(\S+)$/;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/;

// A client that died without a word frees its locks after ten seconds.
const IDLE_MS = 10_000;

/**
 * Reads a `postgres://` address. The schema is `verbatim`, or the search_path in the address's own `options`.
 * A lock that others hold for longer than `busyMs` is STORE_BUSY; a server that anybody on the way could stand in for is
 * STORE_INSECURE.
 */
export function parseAddress(url: string, busyMs: number): Address {
  const given = decodeOptions(OPTIONS.exec(url)?.[2] ?? "").trim();
  const schema = given === "" ? "verbatim" : SEARCH_PATH.exec(given)?.[1];
  if (schema === undefined) refuse("its options may name a search_path and nothing else");
  if (!SCHEMA.test(schema)) refuse("the schema in its search_path is not a plain lower-case name");
  const bare = url.replace(OPTIONS, "$1").replace(/[?&]$/, "");
  const where = describe(bare);
  return {
    where,
    schema,
    connectionString: bare,
    begin(mode, as = null) {
      const { role, workspace } = as ?? { role: null, workspace: null };
      if (role !== null && !ROLE.test(role)) throw new VerbatimError("INTERNAL", { message: "not a plain role name" });
      if (workspace !== null && !WORKSPACE.test(workspace)) {
        throw new VerbatimError("INTERNAL", { message: "not the id of a workspace" });
      }
      const settings = Object.entries({
        search_path: schema,
        lock_timeout: busyMs,
        idle_in_transaction_session_timeout: IDLE_MS,
        client_min_messages: "warning",
        ...(workspace === null ? {} : { "verbatim.workspace": workspace }),
        ...(role === null ? {} : { role }),
      });
      const local = settings.map(([name, value]) => `set local ${name} = '${value}'`);
      return [`begin isolation level ${mode}`, ...local].join("; ");
    },
  };
}

function decodeOptions(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return refuse("its options are not correctly encoded");
  }
}

function describe(url: string): string {
  let client: pg.Client;
  try {
    client = new pg.Client({ connectionString: url });
  } catch {
    // The driver's own error quotes the address with its password.
    return refuse("it is not an address like postgres://user@host/database");
  }
  const where = `postgres ${client.user ?? ""}@${client.host}:${client.port}/${client.database ?? ""}`;
  requirePrivate(url, client.host, where);
  return where;
}

/** Records and the password go to another machine only where its certificate and its name are checked. */
function requirePrivate(url: string, host: string, where: string): void {
  if (host.startsWith("/") || LOOPBACK.test(host)) return;
  const modes = new URL(url).searchParams.getAll("sslmode");
  if (modes.length === 1 && modes[0] === "verify-full") return;
  throw new VerbatimError("STORE_INSECURE", { where, details: { host, sslmode: modes.at(-1) ?? null } });
}

function refuse(message: string): never {
  throw new VerbatimError("STORE_UNAVAILABLE", { message: `the database address cannot be used: ${message}` });
}
