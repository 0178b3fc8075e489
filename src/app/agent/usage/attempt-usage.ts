import { type AgentAttempt, type AgentRecord, type SecretFinder, toMicro } from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import type { AgentRequest } from "../request/request.ts";
import { SessionFiles } from "./session-files.ts";
import { type MoneyHit, readSpent, type Spending } from "./spending.ts";

/** What is counted of the attempt that begins now. */
export function beginSpending(outside: AgentPorts, record: AgentRecord, request: AgentRequest): Spending {
  const { attempts } = record.now;
  const places = request.equipment.known?.profile.sessions ?? [];
  return {
    sessions: new SessionFiles(outside.user, record.run, attempts, places),
    maxUsd: request.maxUsd,
    before: readSpent(record)?.usd ?? 0,
    hit: null,
  };
}

/** What was said in the sessions of an attempt, while its home layer can still be read. */
export function keepSessions(outside: AgentPorts, { sessions }: Spending, finder: SecretFinder): void {
  try {
    sessions.keep(finder, outside.config().agent.sessions === "home");
  } catch (thrown) {
    // The change counts for more than what was said about it.
    outside.notify(`! the sessions of the agent could not be kept: ${String(thrown)}`);
  }
}

/** Writes usage.json for good; what attempt.json says of it. */
export function keepUsage(
  outside: AgentPorts,
  record: AgentRecord,
  { sessions, maxUsd, hit }: Spending,
): Pick<AgentAttempt, "money" | "usage_sha256"> {
  if (!sessions.isRead) return {};
  const { attempts: n } = record.now;
  const { usage } = sessions;
  if (usage === null && maxUsd !== null) {
    outside.notify("! no session file of the agent was found, so nobody could see to --max-usd");
  }
  const none = { schema_version: "verbatim-agent-usage-v1", n, sessions: [], usage: null } as const;
  const usage_sha256 = record.writeUsage(usage ?? { ...none, sessions: [] });
  return { usage_sha256, ...(hit === null ? {} : { money: { ...hit } }) };
}

/** For the ledger, in millionths of a dollar. */
export function toMoneyFacts({ limit, used }: MoneyHit) {
  return { cap: "money", limit: toMicro(limit), used: used === null ? null : toMicro(used) } as const;
}
