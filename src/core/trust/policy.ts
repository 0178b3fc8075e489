import { isHash, type JsonValue } from "../canonical/index.ts";
import { VerbatimError } from "../errors/index.ts";
import {
  checkMembers,
  describeProblems,
  type FieldProblem,
  HASH,
  type MemberRule,
  TEXT,
  textRule,
  toPlace,
} from "../members.ts";
import type { Crypto } from "../ports.ts";
import { parsePublicKey } from "./key.ts";

/** What a key may vouch for. */
export const SCOPES = ["BUNDLE", "CHECKPOINT", "PROOF", "AGENT"] as const;
export type Scope = (typeof SCOPES)[number];

/** One pinned key. */
export interface PolicyKey {
  readonly key_id: string;
  readonly public_key: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly enabled: boolean;
}

/** Whose signatures count, and how many are needed. */
export interface TrustPolicy {
  readonly policy_version: "1.0.0";
  /** At least 1; a number beyond the safe range is a policy nobody can meet. */
  readonly threshold: number | bigint;
  readonly keys: readonly PolicyKey[];
  /** Commands that must have passed before a commit of an agent counts, as they are shown. */
  readonly require_commands?: readonly string[];
  /** Protected or secret paths that a commit of an agent may change, as patterns. */
  readonly permit?: readonly string[];
}

const TEXTS: MemberRule = {
  must: "must be an array of texts, none of them empty",
  type: Array.isArray,
  value: (texts) => Array.isArray(texts) && texts.every((text) => typeof text === "string" && text !== ""),
};

/** What only commits of agents are judged by. */
const OPTIONAL: readonly (keyof TrustPolicy)[] = ["require_commands", "permit"];

const POLICY_RULES = {
  policy_version: textRule('must be "1.0.0"', (text) => text === "1.0.0"),
  threshold: {
    must: "must be an integer of at least 1",
    type: (value) => typeof value === "bigint" || Number.isInteger(value),
    value: (value) => (typeof value === "bigint" || typeof value === "number") && value >= 1,
  },
  keys: { must: "must be an array of keys", type: Array.isArray },
  require_commands: TEXTS,
  permit: TEXTS,
} as const satisfies Record<keyof TrustPolicy, MemberRule>;

const KEY_RULES = {
  key_id: HASH,
  public_key: HASH,
  name: TEXT,
  scopes: {
    must: `must be at least one of ${SCOPES.join(", ")}, each once`,
    type: Array.isArray,
    value: (scopes) =>
      Array.isArray(scopes) &&
      scopes.length > 0 &&
      new Set(scopes).size === scopes.length &&
      scopes.every((scope) => isScope(scope)),
  },
  enabled: { must: "must be true or false", type: (value) => typeof value === "boolean" },
} as const satisfies Record<keyof PolicyKey, MemberRule>;

/**
 * Reads a trust policy: all members but those for agents, no others, each in its form, else TRUST_POLICY_INVALID with every problem.
 * `file` is named in the error.
 */
export async function parsePolicy(crypto: Crypto, value: JsonValue, file = ""): Promise<TrustPolicy> {
  const problems: FieldProblem[] = [];
  const isObject = checkMembers<TrustPolicy>(value, "", POLICY_RULES, problems, OPTIONAL);
  const keys: unknown = isObject ? value["keys"] : [];
  if (Array.isArray(keys)) await checkKeys(crypto, keys, problems);
  if (!isObject || problems.length > 0) {
    throw new VerbatimError("TRUST_POLICY_INVALID", {
      message: describeProblems("the trust policy is not valid", problems),
      where: toPlace(file, problems[0]!.pointer),
      details: { problems },
    });
  }
  return value;
}

/** The threshold as a number; what is beyond 2^53-1 is as far out of reach as 2^53-1. */
export function toThreshold({ threshold }: TrustPolicy): number {
  return Number(threshold > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : threshold);
}

/** The keys of a policy that count for a scope, by key id. */
export function eligibleKeys(policy: TrustPolicy, scope: Scope): ReadonlyMap<string, PolicyKey> {
  const eligible = policy.keys.filter((key) => key.enabled && key.scopes.includes(scope));
  return new Map(eligible.map((key) => [key.key_id, key]));
}

async function checkKeys(crypto: Crypto, keys: readonly unknown[], problems: FieldProblem[]): Promise<void> {
  const seen = new Set<unknown>();
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    if (!checkMembers(key, `/keys/${i}`, KEY_RULES, problems)) continue;
    const { key_id, public_key } = key;
    if (typeof public_key !== "string" || !isHash(public_key)) continue;
    const pointer = `/keys/${i}/key_id`;
    if ((await crypto.sha256(parsePublicKey(public_key))) !== key_id) {
      problems.push({ code: "FIELD_VALUE", pointer, message: "must be the SHA-256 of the public key's bytes" });
    }
    if (seen.has(public_key)) problems.push({ code: "FIELD_VALUE", pointer, message: "must not appear twice" });
    seen.add(public_key);
  }
}

function isScope(value: unknown): value is Scope {
  return SCOPES.some((scope) => scope === value);
}
