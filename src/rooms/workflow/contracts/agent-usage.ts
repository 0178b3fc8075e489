import { z } from "zod";
import { defineContract, hashHex } from "../../../core/contracts/index.ts";

const text = z.string().min(1);
const amount = z.int().min(0);
const number = z.int().min(1);

/** How many tokens of each kind, each counted once. */
export const tokens = {
  /** Neither read from a cache nor written to one. */
  input: amount,
  cached_input: amount,
  cache_write: amount,
  /** Thoughts included. */
  output: amount,
  /** The part of the output that nobody was shown. */
  reasoning: amount,
} as const;

/** What an agent used of one model. */
const modelUsage = z.strictObject({
  /** Null: its session does not name one. */
  model: text.nullable(),
  ...tokens,
  /** Null: there is no price for this model. */
  usd: z.number().min(0).nullable(),
  /** Whether the agent said what it cost, or the table of prices did. */
  usd_from: z.enum(["agent", "table"]).nullable(),
});

const session = z.strictObject({
  /** In the home folder of the user. */
  path: text,
  format: text,
  /** The id the agent gave it. */
  session: text.nullable(),
  /** The redacted copy: transcript/01.jsonl, and its hash. Null while the agent is at work. */
  file: text.nullable(),
  sha256: hashHex.nullable(),
  bytes: amount,
  /** Only its first 64 MiB were read. */
  truncated: z.literal(true).optional(),
});

const usage = z.strictObject({
  models: z.array(modelUsage).max(100),
  /** All models together. */
  ...tokens,
  /** Null: the price of at least one model is not known. */
  usd: z.number().min(0).nullable(),
  /** The date of the table of prices. */
  prices: text,
});

const agentUsage = z.strictObject({
  schema_version: z.literal("verbatim-agent-usage-v1"),
  n: number,
  sessions: z.array(session),
  usage: usage.nullable(),
});

export type Usage = z.infer<typeof usage>;
export type ModelUsage = z.infer<typeof modelUsage>;
export type AgentUsage = z.infer<typeof agentUsage>;
export type AgentSession = z.infer<typeof session>;

/** agent/attempts/NN/usage.json */
export const AGENT_USAGE = defineContract({
  room: "workflow",
  name: "agent-usage",
  title: "What an attempt used",
  summary: "usage.json: tokens by model, what they cost by the table of prices, and the session files that say so.",
  schema: agentUsage,
});

const price = {
  input: z.number().min(0),
  cached_input: z.number().min(0),
  cache_write: z.number().min(0),
  output: z.number().min(0),
};

const agentPrices = z.strictObject({
  schema_version: z.literal("verbatim-agent-prices-v1"),
  date: z.string().regex(/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/),
  /** USD for a million tokens, by the name of the model without its date. */
  models: z.record(
    z.string(),
    z.strictObject({
      ...price,
      /** For requests with more input than that, caches included. */
      long: z.strictObject({ over: number, ...price }).optional(),
    }),
  ),
});

export type AgentPrices = z.infer<typeof agentPrices>;

/** prices.json of the package, or of the user. */
export const AGENT_PRICES = defineContract({
  room: "workflow",
  name: "agent-prices",
  title: "Prices of models",
  summary: "prices.json: what a million tokens of each model cost in USD, with the date somebody looked.",
  schema: agentPrices,
});
