import { z } from "zod";
import { decodeUtf8, parseJson } from "../../../core/canonical/index.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import { VERDICTS, VIAS } from "../../../core/network/connections.ts";
import { DEFAULT_PORT } from "../../../core/network/host-names.ts";
import { ConnectionLog } from "../../../rooms/catalytic/index.ts";
import type { AgentAttempt, Run } from "../../../rooms/workflow/index.ts";
import { count, type ExplainLine, type ExplainPart } from "../report/explain-words.ts";
import { networkFile } from "../request/network.ts";

/** One line of network.jsonl. */
export const connectionLine = z.strictObject({
  t: z.string(),
  via: z.enum(VIAS),
  host: z.string().describe("As the agent asked for it."),
  port: z.int().nullable(),
  address: z.string().nullable().describe("The address that was connected."),
  verdict: z.enum(VERDICTS),
  bytes_out: z.int(),
  bytes_in: z.int(),
  ms: z.int(),
});

type Connection = z.infer<typeof connectionLine>;

/** What of the network an attempt had and what it did with it. */
export const networkPart = z.strictObject({
  mode: z.enum(["inherit", "none", "allow"]),
  hosts: z.array(z.string()).describe("What could be reached, with allow."),
  allowed: z.int(),
  refused: z.int(),
  connections: z
    .array(z.strictObject({ host: z.string(), port: z.int().nullable(), verdict: z.enum(VERDICTS), count: z.int() }))
    .describe("The first of them, those with the same end together."),
  lost: z.boolean().describe("The agent ended what passed its connections on, and had no network from then on."),
});

export type NetworkPart = z.infer<typeof networkPart>;

export function toNetworkPart({ network }: AgentAttempt): NetworkPart {
  const { mode, hosts = [], allowed = 0, refused = 0, connections = [], lost = false } = network;
  return { mode, hosts, allowed, refused, connections, lost };
}

/** The recorded connections of an attempt; lines that say something else are left out. */
export function readConnections(run: Run, n: number): Connection[] {
  const bytes = run.read(networkFile(n));
  const text = bytes === null ? "" : (decodeUtf8(bytes) ?? "");
  return text.split("\n").flatMap((line) => {
    const read = line === "" ? null : connectionLine.safeParse(parseLine(line));
    return read?.success === true ? [read.data] : [];
  });
}

/** A tool that was killed may have left half a line. */
function parseLine(line: string): unknown {
  try {
    return parseJson(line);
  } catch (thrown) {
    if (isVerbatimError(thrown)) return null;
    throw thrown;
  }
}

/** What an attempt did, from what was written while it was at work; null where nothing was. */
export function recallNetwork(run: Run, n: number) {
  const bytes = run.read(networkFile(n));
  if (bytes === null) return null;
  const log = new ConnectionLog();
  for (const connection of readConnections(run, n)) log.add(connection);
  return { ...log.summarize(run.ports.crypto), log_sha256: run.ports.crypto.sha256(bytes) };
}

/** Hosts that are listed and did not answer: nobody refused anything. */
const FAILED: readonly string[] = ["unresolved", "unreachable"];
const MOST_HOSTS = 3;
const MOST_HINTS = 5;

/** `14 connections to api.anthropic.com; 1 refused: telemetry.example:443` */
export function explainNetwork(network: NetworkPart | null, typed = true): ExplainPart | null {
  if (network === null || network.mode === "inherit") return null;
  if (network.mode === "none") {
    return { part: "network", mark: null, says: "the agent had no network", lines: [] };
  }
  const { allowed, refused, connections, lost } = network;
  const reached = connections.filter(({ verdict }) => verdict === "allowed");
  const failed = connections.filter(({ verdict }) => FAILED.includes(verdict));
  const denied = connections.filter((one) => !reached.includes(one) && !failed.includes(one));
  const to = reached.length === 0 ? "" : ` to ${listHosts(reached.map((one) => formatPlace(one, true)))}`;
  const made = allowed === 0 ? "no connections" : `${count(allowed, "connection")}${to}`;
  const unreached = failed.reduce((sum, one) => sum + one.count, 0);
  const tell = (number: number, how: string, all: NetworkPart["connections"]) =>
    number === 0 ? "" : `; ${number} ${how}: ${listHosts(all.map((one) => formatPlace(one, false)))}`;
  const not = `${tell(refused - unreached, "refused", denied)}${tell(unreached, "not reached", failed)}`;
  const hints = typed ? [...new Set(denied.flatMap(toHint))] : [];
  const lines: ExplainLine[] = hints.slice(0, MOST_HINTS).map((flag) => ({
    mark: null,
    says: `allow it: ${flag}`,
  }));
  if (lost) lines.unshift({ mark: "notice", says: "the agent ended its relay and had no network from then on" });
  return { part: "network", mark: null, says: `${made}${not}`, lines };
}

function toHint({ host, port, verdict }: NetworkPart["connections"][number]): string[] {
  if (verdict !== "not_in_list") return [];
  return [`--host ${host}${port === null || port === DEFAULT_PORT ? "" : `:${port}`}`];
}

function formatPlace({ host, port }: NetworkPart["connections"][number], isShort: boolean): string {
  const name = host === "" ? "(no name)" : host;
  return port === null || (isShort && port === DEFAULT_PORT) ? name : `${name}:${port}`;
}

function listHosts(all: readonly string[]): string {
  const unique = [...new Set(all)];
  const shown = unique.slice(0, MOST_HOSTS);
  const rest = unique.length - shown.length;
  return rest > 0 ? `${shown.join(", ")} and ${rest} more` : shown.join(", ");
}
