import { VerbatimError } from "../../../core/errors/index.ts";
import type { CatalyticPorts } from "../../../rooms/catalytic/index.ts";
import { type AgentRecord, type AgentUsage, sumUsage, toMicro } from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { formatUsd } from "../report/explain-words.ts";
import type { Equipment } from "../request/equip.ts";
import type { SessionFiles } from "./session-files.ts";

/** Session files are read again this often. */
const EVERY_MS = 2000;
/** Looking takes at most this part of the time. */
const SHARE = 10;
/** An agent that was asked to end has this long, and after a second word this long. */
const ASKED_MS = 10_000;
const TOLD_MS = 2000;

/** What an attempt had cost with those before it when it was ended for that; null: what it used has no price. */
export interface MoneyHit {
  readonly limit: number;
  readonly used: number | null;
}

/** What is said of money about one attempt. */
export interface Spending {
  readonly sessions: SessionFiles;
  /** What the run may cost; null: whatever it costs. */
  readonly maxUsd: number | null;
  /** What the attempts before it have cost. */
  readonly before: number;
  hit: MoneyHit | null;
}

/** What a person writes: an amount of dollars, or `none`. USAGE. */
export function parseUsd(text: string): number | null {
  if (text === "none") return null;
  const usd = /^[0-9]{1,6}(?:\.[0-9]{1,6})?$/.test(text) ? Number(text) : 0;
  if (usd > 0) return usd;
  throw new VerbatimError("USAGE", {
    message: {
      cli: `--max-usd must be an amount like 2 or 0.50, or none: ${JSON.stringify(text)}`,
      others: `max_usd must be an amount like 2 or 0.50, or none: ${JSON.stringify(text)}`,
    },
  });
}

/** A limit of money holds only where somebody can read what was spent. COST_UNKNOWN, before anything is made. */
export function requireKnownCost(
  outside: Pick<AgentPorts, "user" | "platform">,
  { known }: Equipment,
  maxUsd: number | null,
): void {
  if (maxUsd === null) return;
  const isRead =
    (known?.profile.sessions ?? []).length > 0 && outside.user.home !== null && outside.platform === "linux";
  if (isRead) return;
  const who =
    known === null
      ? "this command is no agent with a profile"
      : `the profile ${known.profile.name} names no session files that can be read`;
  throw new VerbatimError("COST_UNKNOWN", {
    message: `this agent's cost cannot be read, so a spending limit cannot be enforced: ${who}`,
  });
}

/** COST_UNKNOWN and AGENT_OVER_LIMIT where another one could not be held to the limit. */
export function requireMoneyLeft(record: AgentRecord, maxUsd: number | null): void {
  const spent = readSpent(record);
  if (maxUsd === null || spent === null) return;
  if (spent.usd === null) {
    throw new VerbatimError("COST_UNKNOWN", {
      message: "what this run has cost so far is not known, so a spending limit cannot be enforced",
      where: record.run.folder.dir,
    });
  }
  if (spent.usd < maxUsd) return;
  throw new VerbatimError("AGENT_OVER_LIMIT", {
    message: `the run has cost ${formatUsd(spent.usd)} so far, and it may cost ${formatUsd(maxUsd)}`,
    where: record.run.folder.dir,
    fix: {
      cli: `Allow more: verbatim agent continue ${record.run.id} --max-usd ${(maxUsd * 2).toFixed(2)}`,
      others: "Allow the run to cost more.",
    },
  });
}

/** What all attempts used, as their files say now; null: none of them says anything. */
export function readSpent(record: AgentRecord): ReturnType<typeof sumUsage> {
  return sumUsage(listUsage(record).map((one) => one?.usage ?? null));
}

/** What each attempt used. One that has just begun has used nothing yet. */
export function listUsage(record: AgentRecord): (AgentUsage | null)[] {
  const { attempts } = record.now;
  const all = Array.from({ length: attempts }, (_, at) => record.usage(at + 1));
  const isNew = attempts > 0 && all.at(-1)?.usage == null && record.attempt(attempts)?.ended_at === null;
  return isNew ? all.slice(0, -1) : all;
}

/** The same for the ledger, in millionths of a dollar. */
export function readSpentMicro(record: AgentRecord): number | null {
  const usd = readSpent(record)?.usd ?? null;
  return usd === null ? null : toMicro(usd);
}

/**
 * Reads the session files of an agent while it works and at its end. One that has spent more than it may is asked to end,
 * told to end, ended: what it did until then is captured. It may be over by what one request costs.
 */
export function withSpending(
  ports: CatalyticPorts,
  { user, clock }: Pick<AgentPorts, "user" | "clock">,
  spending: Spending,
  { write, atEnd }: { readonly write: (usage: AgentUsage) => void; readonly atEnd: () => void },
): CatalyticPorts {
  const { guards } = ports;
  const { sessions, maxUsd, before } = spending;
  return {
    ...ports,
    guards: {
      ...guards,
      async launch(request) {
        sessions.remember();
        const layer = request.layers.find(({ kind }) => kind === "home");
        const running = await guards.launch(request);
        const upper = layer === undefined ? null : (running.upper?.(layer) ?? null);
        const kept = [...request.keeps.map(({ to }) => to), ...request.writable];
        sessions.begin(layer === undefined || upper === null ? null : { path: layer.path, upper }, kept);
        const timers: NodeJS.Timeout[] = [];
        const after = (ms: number, act: () => void) => void timers.push(setTimeout(act, ms).unref());
        const end = (used: number | null) => {
          if (spending.hit !== null) return;
          spending.hit = { limit: maxUsd!, used };
          running.ask("SIGINT");
          after(ASKED_MS, () => {
            running.ask("SIGTERM");
            after(TOLD_MS, () => running.end());
          });
        };
        let notBefore = 0;
        const look = (isLast: boolean) => {
          const begun = clock.now();
          if (!isLast && begun < notBefore) return;
          sessions.look(write);
          const usage = sessions.usage?.usage ?? null;
          if (maxUsd !== null && usage !== null && !isLast) {
            const used = usage.usd === null ? null : before + usage.usd;
            if (used === null || used > maxUsd) end(used);
          }
          notBefore = clock.now() + (clock.now() - begun) * SHARE;
        };
        const stop = user.every(EVERY_MS, () => look(false));
        const over = () => {
          stop();
          for (const timer of timers) clearTimeout(timer);
          look(true);
          atEnd();
        };
        return { ...running, ended: running.ended.finally(over) };
      },
    },
  };
}

/** Why an attempt was ended for money, with its numbers. */
export function describeMoney({ limit, used }: MoneyHit): string {
  if (used === null) {
    return `the agent used a model whose price is not known, so the limit of ${formatUsd(limit)} (--max-usd) could not hold`;
  }
  return `the run cost about ${formatUsd(used)}, more than the ${formatUsd(limit)} it was allowed (--max-usd)`;
}
