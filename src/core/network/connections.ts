/** How a connection was asked for; `name`: only a name was asked for, and none was given. */
export const VIAS = ["connect", "http", "socks5", "name", "transparent"] as const;

/** What became of it. */
export const VERDICTS = [
  "allowed",
  "not_in_list",
  "literal_address",
  "bad_name",
  "private_address",
  "tls_name_differs",
  "no_tls_name",
  "unresolved",
  "unreachable",
  "bad_request",
] as const;

export type Via = (typeof VIAS)[number];
export type Verdict = (typeof VERDICTS)[number];

/** One connection of a confined command, as it is recorded when it has ended. */
export interface Connection {
  /** When it was asked for. */
  readonly t: string;
  readonly via: Via;
  /** As the command wrote it; the name itself where it is one. */
  readonly host: string;
  /** Null where no port was said. */
  readonly port: number | null;
  /** What it was connected with; null where it was not. */
  readonly address: string | null;
  readonly verdict: Verdict;
  readonly bytes_out: number;
  readonly bytes_in: number;
  readonly ms: number;
}
