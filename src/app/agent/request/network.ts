import { appendFileSync, copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { GUARD_NAMES } from "../../../core/contracts/guards.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { formatHostEntry, type HostEntry, parseHostEntry } from "../../../core/network/host-names.ts";
import {
  type CatalyticPorts,
  type ConnectionSummary,
  canConfine,
  chooseGuard,
  formatConnection,
  type GuardRequest,
  type NetworkMode,
  type Reach,
  readPolicy,
} from "../../../rooms/catalytic/index.ts";
import { type AgentAttempt, type AgentRecord, type AgentRun, type Run, toName } from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";

/** What of the network an agent run is left, and so are its verifications. */
export interface NetworkPlan {
  readonly mode: NetworkMode;
  readonly hosts: readonly HostEntry[];
}

/** The same as a person writes it. */
export interface NetworkFlags {
  readonly network?: NetworkMode | undefined;
  readonly host: readonly string[];
}

const MOST_HOSTS = 500;
/** After so many lines the log of an attempt is not continued while it is at work; the recorded one counts on. */
const MOST_LIVE_LINES = 50_000;

/** Reads flags and configuration. `--host` means `allow`; `more` are hosts that came with the agent itself. */
export function planNetwork(
  outside: Pick<AgentPorts, "config">,
  { network, host }: NetworkFlags,
  more: readonly HostEntry[] = [],
): NetworkPlan {
  const { agent, catalytic } = outside.config();
  if (host.length > 0 && network !== undefined && network !== "allow") {
    throw new VerbatimError("USAGE", {
      message: {
        cli: `--host and --network ${network} contradict each other`,
        others: `host and network ${network} contradict each other`,
      },
    });
  }
  const mode = network ?? (host.length > 0 ? "allow" : (agent.network ?? catalytic.network));
  if (mode !== "allow") return { mode, hosts: [] };
  const given = host.map((text) => toEntry("--host", text));
  const configured = agent.hosts.map((one) =>
    typeof one === "string"
      ? toEntry("agent.hosts", one)
      : {
          ...toEntry("agent.hosts", one.port === undefined ? one.host : `${one.host}:${one.port}`),
          private: one.private ?? false,
        },
  );
  const hosts = [...more, ...configured, ...given];
  if (hosts.length > MOST_HOSTS) {
    throw new VerbatimError("USAGE", { message: `${hosts.length} hosts are more than ${MOST_HOSTS}; use *.name` });
  }
  return { mode, hosts };
}

function toEntry(where: string, text: string): HostEntry {
  const entry = parseHostEntry(text);
  if (entry !== null) return { ...entry, private: false };
  throw new VerbatimError(where === "--host" ? "USAGE" : "CONFIG_INVALID", {
    message: {
      cli: `${where} must be a name, *.name or either with :PORT, not an address: ${JSON.stringify(text)}`,
      others: `a host must be a name, *.name or either with :PORT, not an address: ${JSON.stringify(text)}`,
    },
    ...(where === "--host" ? {} : { where: "verbatim.config.json /agent/hosts" }),
  });
}

/** NETWORK_NOT_ENFORCEABLE before anything exists, where no guard of this machine could keep the promise. */
export async function requireNetwork(
  outside: AgentPorts,
  { mode }: NetworkPlan,
  requested: GuardRequest | null,
  isVerified: boolean,
): Promise<void> {
  if (mode === "inherit") return;
  if (isVerified && outside.config().workflow.verify.isolation === "worktree") {
    throw new VerbatimError("NETWORK_NOT_ENFORCEABLE", {
      message: `the verify commands may not reach more of the network than the agent (${mode}), and workflow.verify.isolation is worktree, which has no guard`,
      where: "verbatim.config.json /workflow/verify/isolation",
      fix: "Remove workflow.verify.isolation, or let the agent have the network: --network inherit",
      exit: 2,
      http: 400,
    });
  }
  const ports = outside.catalytic();
  const asked = requested ?? readPolicy(outside.places().config).settings.guard;
  const named = GUARD_NAMES.find((name) => name === asked);
  // A guard that could never do it is not even tried.
  const isHopeless = named !== undefined && !canConfine(named, mode);
  const probes = isHopeless ? {} : await ports.guards.probe(false);
  const { error } = chooseGuard(ports.host.platform, asked, probes, mode);
  if (!isHopeless && error !== "NETWORK_NOT_ENFORCEABLE") return;
  const what = mode === "none" ? "cut off the network" : "limit the network to single hosts";
  const who = asked === "auto" || asked === "require" ? "no guard that works here" : `the guard ${asked}`;
  throw new VerbatimError("NETWORK_NOT_ENFORCEABLE", {
    message: `${who === "no guard that works here" ? `${who} can` : `${who} cannot`} ${what}; nothing was started`,
    fix: {
      cli: "See which guards work: verbatim doctor. Without a limit: --network inherit",
      others: "Allow the network, or set up a guard that can limit it.",
    },
    exit: 2,
    http: 400,
    details: { requested: asked, network: mode },
  });
}

/** What a run recorded before there was a choice had. */
export function readNetwork(outside: Pick<AgentPorts, "config">, { request }: AgentRun): NetworkPlan {
  return request.network ?? { mode: outside.config().catalytic.network, hosts: [] };
}

/** What the launcher is told; the run's own server is reachable in every network. */
export function toReach({ mode, hosts }: NetworkPlan, url: string | null): { readonly reach?: Reach } {
  if (mode === "inherit") return {};
  const at = url === null ? null : new URL(url);
  const server =
    at === null ? {} : { server: { port: Number(at.port), path: at.pathname, variable: "VERBATIM_MCP_URL" } };
  return { reach: { hosts, ...server } };
}

/** agent/attempts/NN/network.jsonl */
export function networkFile(n: number): string {
  return `agent/attempts/${toName(n)}/network.jsonl`;
}

/** Writes each connection next to its attempt as soon as it has ended, so that a tool that is killed loses none. */
export function withNetworkLog(ports: CatalyticPorts, run: Run, n: number): CatalyticPorts {
  const { guards } = ports;
  const file = join(run.folder.makeFolder(`agent/attempts/${toName(n)}`), "network.jsonl");
  return {
    ...ports,
    guards: {
      ...guards,
      launch(request) {
        const { reach, network } = request;
        if (reach === undefined || network !== "allow") return guards.launch(request);
        let lines = 0;
        appendFileSync(file, "", { mode: 0o600 });
        const onConnection: typeof reach.onConnection = (connection) => {
          if (lines++ < MOST_LIVE_LINES) appendFileSync(file, `${formatConnection(connection)}\n`);
          reach.onConnection(connection);
        };
        return guards.launch({ ...request, reach: { ...reach, onConnection } });
      },
    },
  };
}

/** The recorded log in place of the one that was written meanwhile: its hash is in the proof. */
export function keepNetworkLog(run: Run, n: number, proof: string): void {
  const place = join(proof, "NETWORK.jsonl");
  if (existsSync(place)) copyFileSync(place, join(run.folder.dir, networkFile(n)));
}

/** The network of an attempt as attempt.json has it. */
export function toAttemptNetwork(
  { mode, hosts }: NetworkPlan,
  summary: ConnectionSummary | null,
): AgentAttempt["network"] {
  const listed = mode === "allow" ? { hosts: hosts.map(formatHostEntry) } : {};
  if (summary === null) return { mode, ...listed };
  const { log_sha256, allowed, refused, groups, lost } = summary;
  const connections = groups.map((group) => ({ ...group }));
  return { mode, ...listed, log_sha256, allowed, refused, connections, ...(lost ? { lost } : {}) };
}

/** Says in the ledger which log belongs to an attempt that is at work. */
export async function recordNetwork(record: AgentRecord, { n, network }: AgentAttempt): Promise<void> {
  const { allowed = 0, refused = 0, log_sha256 } = network;
  if (log_sha256 === undefined || record.now.state !== "working") return;
  await record.enter("AGENT_NETWORK_RECORDED", { n, allowed, refused, log_sha256 }, "working");
}
