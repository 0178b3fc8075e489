import pg from "pg";
import { VerbatimError } from "../../../core/errors/index.ts";

/** Where a store lies and how to reach it. */
export interface Address {
  /** For people: without the password. */
  readonly where: string;
  readonly schema: string;
  /** The connection string with our settings for every session. */
  connectionString(role: string | null): string;
}

const SCHEMA = /^[a-z_][a-z0-9_]{0,40}$/;
const OPTIONS = /([?&])options=([^&#]*)&?/;

// A client that died without a word frees its locks after a minute.
const SETTINGS = "-c idle_in_transaction_session_timeout=60000 -c client_min_messages=warning";

/**
 * Reads a `postgres://` address. The schema is `verbatim`, or the search_path in the address's own `options`.
 * A lock that others hold for longer than `busyMs` is STORE_BUSY.
 */
export function parseAddress(url: string, busyMs: number): Address {
  const given = decodeOptions(OPTIONS.exec(url)?.[2] ?? "");
  const schema = /search_path=([^\s,]+)/.exec(given)?.[1] ?? "verbatim";
  if (!SCHEMA.test(schema)) refuse("the schema in its search_path is not a plain lower-case name");
  const bare = url.replace(OPTIONS, "$1").replace(/[?&]$/, "");
  const rest = given.replace(/(?:-c\s*|--)search_path=\S+/, "").trim();
  return {
    where: describe(bare),
    schema,
    connectionString(role) {
      const ours = [`-c search_path=${schema}`, `-c lock_timeout=${busyMs}`, SETTINGS];
      const text = [rest, ...ours, role === null ? "" : `-c role=${role}`].filter((part) => part !== "").join(" ");
      return `${bare}${bare.includes("?") ? "&" : "?"}options=${encodeURIComponent(text)}`;
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
  return `postgres ${client.user ?? ""}@${client.host}:${client.port}/${client.database ?? ""}`;
}

function refuse(message: string): never {
  throw new VerbatimError("STORE_UNAVAILABLE", { message: `the database address cannot be used: ${message}` });
}
