import { AGENT_CODES } from "./codes/agent.ts";
import { CATALYTIC_CODES } from "./codes/catalytic.ts";
import { CONTEXT_CODES } from "./codes/context.ts";
import { HALL_CODES } from "./codes/hall.ts";
import { JOBS_CODES } from "./codes/jobs.ts";
import { LEDGER_CODES } from "./codes/ledger.ts";
import { STORE_CODES } from "./codes/store.ts";
import { WORKFLOW_CODES } from "./codes/workflow.ts";
import { WORLD_CODES } from "./codes/world.ts";
import type { FixWords } from "./fix.ts";

/** What is fixed about a thrown code: its exit, its HTTP status, what it says and what to do next. */
export interface CodeFacts {
  readonly exit: number;
  readonly http: number;
  readonly says: string;
  readonly fix: FixWords;
}

/**
 * Every code that can be thrown, unique in the product. Each room keeps its part in its own file.
 *
 * @example
 * CODES.STORE_BUSY.exit; // => 4
 * CODES.STORE_BUSY.http; // => 503
 */
export const CODES = {
  ...HALL_CODES,
  ...STORE_CODES,
  ...LEDGER_CODES,
  ...AGENT_CODES,
  ...CATALYTIC_CODES,
  ...CONTEXT_CODES,
  ...JOBS_CODES,
  ...WORKFLOW_CODES,
  ...WORLD_CODES,
} as const satisfies Record<string, CodeFacts>;

/** A code that can be thrown. */
export type Code = keyof typeof CODES;

/** The facts of one code. */
export function codeFacts(code: Code): CodeFacts {
  return CODES[code];
}
