import { compareCodePoints } from "../../../core/canonical/index.ts";
import type { AgentPrices, ModelUsage, Usage } from "../contracts/agent-usage.ts";
import { toMicroUsd } from "./prices.ts";
import type { Call } from "./reading.ts";

/** An agent that names more models than that is not counted by them. */
const MOST_MODELS = 100;
const TOKENS = ["input", "cached_input", "cache_write", "output", "reasoning"] as const;

/** Calls as tokens and money, by model. */
export function countUsage(calls: readonly Call[], prices: AgentPrices): Usage {
  const byModel = new Map<string | null, Call[]>();
  for (const call of calls) {
    const isKnown = byModel.has(call.model) || byModel.size < MOST_MODELS - 1;
    const model = isKnown ? call.model : null;
    byModel.set(model, [...(byModel.get(model) ?? []), call]);
  }
  const models = [...byModel]
    .map(([model, own]) => countModel(model, own, prices))
    .sort((a, b) => compareCodePoints(a.model ?? "", b.model ?? ""));
  return { models, ...sumTokens(models), usd: sumUsd(models), prices: prices.date };
}

function countModel(model: string | null, calls: readonly Call[], prices: AgentPrices): ModelUsage {
  const micro = calls.map((call) => toMicroUsd(prices, call));
  const isKnown = micro.every((one) => one !== null);
  return {
    model,
    ...sumTokens(calls),
    usd: isKnown ? toDollars(micro.reduce((sum: number, one) => sum + one!, 0)) : null,
    usd_from: isKnown ? (calls.every(({ usd }) => usd !== null) ? "agent" : "table") : null,
  };
}

function sumTokens(parts: readonly Readonly<Record<(typeof TOKENS)[number], number>>[]) {
  const sum = (key: (typeof TOKENS)[number]) => parts.reduce((total, part) => total + part[key], 0);
  return {
    input: sum("input"),
    cached_input: sum("cached_input"),
    cache_write: sum("cache_write"),
    output: sum("output"),
    reasoning: sum("reasoning"),
  };
}

function sumUsd(models: readonly ModelUsage[]): number | null {
  if (models.some(({ usd }) => usd === null)) return null;
  return toDollars(models.reduce((sum, { usd }) => sum + toMicro(usd!), 0));
}

/** Dollars with at most six digits after the point. */
export function toDollars(micro: number): number {
  return Math.round(micro) / 1_000_000;
}

export function toMicro(usd: number): number {
  return Math.round(usd * 1_000_000);
}

/** Several attempts by model; null: none of them says anything. */
export function mergeModels(parts: readonly (Usage | null)[]): ModelUsage[] {
  const byModel = new Map<string | null, ModelUsage[]>();
  for (const one of parts.flatMap((part) => part?.models ?? [])) {
    byModel.set(one.model, [...(byModel.get(one.model) ?? []), one]);
  }
  return [...byModel]
    .map(([model, own]) => {
      const usd = sumUsd(own);
      const isStated = own.every(({ usd_from }) => usd_from === "agent");
      return {
        model,
        ...sumTokens(own),
        usd,
        usd_from: usd === null ? null : isStated ? ("agent" as const) : ("table" as const),
      };
    })
    .sort((a, b) => compareCodePoints(a.model ?? "", b.model ?? ""));
}

/** All attempts of a run together; null: none of them says anything. */
export function sumUsage(parts: readonly (Usage | null)[]): Pick<Usage, (typeof TOKENS)[number] | "usd"> | null {
  const known = parts.filter((part) => part !== null);
  if (known.length === 0) return null;
  const isWhole = known.length === parts.length && known.every(({ usd }) => usd !== null);
  const usd = isWhole ? toDollars(known.reduce((sum, part) => sum + toMicro(part.usd!), 0)) : null;
  return { ...sumTokens(known), usd };
}
