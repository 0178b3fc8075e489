import { encodeUtf8, formatCanonical } from "../../../core/canonical/index.ts";
import type { Connection, Verdict } from "../../../core/network/connections.ts";
import type { SyncCrypto } from "../../../core/ports.ts";

/** Connections that have so much in common that a person wants to read of them once. */
export interface ConnectionGroup {
  readonly host: string;
  readonly port: number | null;
  readonly verdict: Verdict;
  readonly count: number;
}

/** What a command did with the network it was left. */
export interface ConnectionSummary {
  readonly allowed: number;
  readonly refused: number;
  /** The first of them, in the order in which they came. */
  readonly groups: readonly ConnectionGroup[];
  /** The command ended what passed its connections on, and had no network from then on. */
  readonly lost: boolean;
  /** Of the whole log. */
  readonly log_sha256: string;
}

const MOST_LINES = 50_000;
const MOST_GROUPS = 40;

/** Every connection on a line of its own; when there are too many, only how many. */
export class ConnectionLog {
  readonly #lines: string[] = [];
  readonly #groups = new Map<string, ConnectionGroup>();
  readonly #counts = { allowed: 0, refused: 0 };
  readonly #more = { allowed: 0, refused: 0 };
  #lost = false;

  add(connection: Connection): void {
    const kind = connection.verdict === "allowed" ? "allowed" : "refused";
    this.#counts[kind]++;
    if (this.#lines.length < MOST_LINES) this.#lines.push(formatConnection(connection));
    else this.#more[kind]++;
    this.#group(connection);
  }

  /** The relay ended before the command did. */
  lose(t: string): void {
    this.#lost = true;
    this.#lines.push(formatCanonical({ t, relay: "lost" }));
  }

  /** NETWORK.jsonl. */
  finish(): Uint8Array {
    const { allowed, refused } = this.#more;
    const rest = allowed + refused === 0 ? [] : [formatCanonical({ more: { allowed, refused } })];
    return encodeUtf8([...this.#lines, ...rest].map((line) => `${line}\n`).join(""));
  }

  summarize(crypto: SyncCrypto): ConnectionSummary {
    return {
      ...this.#counts,
      groups: [...this.#groups.values()],
      lost: this.#lost,
      log_sha256: crypto.sha256(this.finish()),
    };
  }

  #group({ host, port, verdict }: Connection): void {
    const key = formatCanonical([host, port, verdict]);
    const known = this.#groups.get(key);
    if (known === undefined && this.#groups.size >= MOST_GROUPS) return;
    this.#groups.set(key, { host, port, verdict, count: (known?.count ?? 0) + 1 });
  }
}

/** One line of the log, without its end. */
export function formatConnection(connection: Connection): string {
  return formatCanonical({ ...connection });
}
