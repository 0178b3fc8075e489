import type { JsonValue } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { AGENT_PRICES, type AgentPrices } from "../contracts/agent-usage.ts";
import builtIn from "./prices.json" with { type: "json" };
import type { Call } from "./reading.ts";

type Price = AgentPrices["models"][string];

/** The prices of the package, and in their place those that the user wrote. CONFIG_INVALID for a file that is none. */
export function readPrices(own: { readonly place: string; readonly value: JsonValue } | null): AgentPrices {
  const known = parse(builtIn as JsonValue, "prices.json");
  if (own === null) return known;
  const { date, models } = parse(own.value, own.place);
  return { ...known, date, models: { ...known.models, ...models } };
}

function parse(value: JsonValue, where: string): AgentPrices {
  const [first] = AGENT_PRICES.check(value);
  if (first === undefined) return AGENT_PRICES.schema.parse(value);
  throw new VerbatimError("CONFIG_INVALID", {
    message: `the prices are not valid at ${first.pointer === "" ? "their top" : first.pointer}: ${first.message}`,
    where: `${where} ${first.pointer}`.trim(),
  });
}

/** `claude-sonnet-5-20260701`, `claude-sonnet-5@20260701`, `gpt-5-2026-04-01`, `x-latest` and `anthropic/x` name one model. */
function findPrice({ models }: AgentPrices, model: string): Price | null {
  const own = model.slice(model.lastIndexOf("/") + 1);
  const bare = own.replace(/(?:[-@]\d{8}|-\d{4}-\d{2}-\d{2}|-latest)$/, "");
  for (const name of [model, own, bare]) if (Object.hasOwn(models, name)) return models[name]!;
  return null;
}

/** What a call costs in millionths of a dollar; null: nobody knows the price of its model. */
export function toMicroUsd(prices: AgentPrices, call: Call): number | null {
  if (call.usd !== null) return call.usd * 1_000_000;
  const price = call.model === null ? null : findPrice(prices, call.model);
  if (price === null) return null;
  const { input, cached_input, cache_write, output } = call;
  const rate = price.long !== undefined && input + cached_input + cache_write > price.long.over ? price.long : price;
  return input * rate.input + cached_input * rate.cached_input + cache_write * rate.cache_write + output * rate.output;
}
