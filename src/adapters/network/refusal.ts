import type { Socket } from "node:net";
import type { Verdict } from "../../core/network/connections.ts";
import { readHostName } from "../../core/network/host-names.ts";
import type { ProxyTarget } from "../../core/network/proxy-requests.ts";

/** How much of a name is shown and recorded. */
export const LONGEST_SHOWN = 300;

/** A connection that is judged: told once, when it has ended. */
export interface Pending {
  finish(verdict: Verdict, more?: { readonly address: string; readonly origin: Socket }): void;
}

/** A name as it is compared; what is not one as it was written. */
export function toShown(host: string): string {
  return readHostName(host).name ?? host;
}

const STATUS: Partial<Record<Verdict, string>> = {
  bad_request: "400 Bad Request",
  unresolved: "502 Bad Gateway",
  unreachable: "502 Bad Gateway",
};

/** The answer to a client whose connection was refused; the verdict is the word of the record. */
export function describeRefusal(verdict: Verdict, { host, port }: ProxyTarget): string {
  const status = STATUS[verdict] ?? "403 Forbidden";
  const shown = `${host.replace(/[^\x21-\x7e]/g, "?").slice(0, LONGEST_SHOWN)}:${port}`;
  const body = `Verbatim did not connect ${shown}: ${verdict}\n`;
  return `HTTP/1.1 ${status}\r\ncontent-type: text/plain\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`;
}
