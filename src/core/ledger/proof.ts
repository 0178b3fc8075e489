import { isJsonObject, type JsonValue } from "../canonical/index.ts";
import { VerbatimError } from "../errors/index.ts";
import {
  COUNT,
  checkMembers,
  checkValue,
  describeProblems,
  type FieldProblem,
  HASH,
  type MemberRule,
  toPlace,
} from "../members.ts";

/** Shows that an entry is part of a ledger with this root. */
export interface InclusionProof {
  readonly entry_hash: string;
  readonly index: number;
  readonly tree_size: number;
  readonly path: readonly string[];
  readonly root_hash: string;
}

/** Shows that a ledger only grew between two sizes. */
export interface ConsistencyProof {
  readonly first_size: number;
  readonly second_size: number;
  readonly first_root: string;
  readonly second_root: string;
  readonly path: readonly string[];
}

const PATH: MemberRule = { must: "must be an array of hashes", type: Array.isArray };

const INCLUSION_RULES = {
  entry_hash: HASH,
  index: COUNT,
  tree_size: COUNT,
  path: PATH,
  root_hash: HASH,
} as const satisfies Record<keyof InclusionProof, MemberRule>;

const CONSISTENCY_RULES = {
  first_size: COUNT,
  second_size: COUNT,
  first_root: HASH,
  second_root: HASH,
  path: PATH,
} as const satisfies Record<keyof ConsistencyProof, MemberRule>;

/** A proof of either kind. */
export type LedgerProof =
  | { readonly kind: "inclusion"; readonly proof: InclusionProof }
  | { readonly kind: "consistency"; readonly proof: ConsistencyProof };

/** Reads a proof of either kind; what has no `entry_hash` is read as a consistency proof. */
export function parseProof(value: JsonValue, file = ""): LedgerProof {
  return isJsonObject(value) && Object.hasOwn(value, "entry_hash")
    ? { kind: "inclusion", proof: parseInclusionProof(value, file) }
    : { kind: "consistency", proof: parseConsistencyProof(value, file) };
}

/** Reads an inclusion proof: exactly its five members, else PROOF_MALFORMED with every problem. */
export function parseInclusionProof(value: JsonValue, file = ""): InclusionProof {
  return checkProof<InclusionProof>(value, INCLUSION_RULES, file);
}

/** Reads a consistency proof: exactly its five members, else PROOF_MALFORMED with every problem. */
export function parseConsistencyProof(value: JsonValue, file = ""): ConsistencyProof {
  return checkProof<ConsistencyProof>(value, CONSISTENCY_RULES, file);
}

function checkProof<T>(value: JsonValue, rules: Readonly<Record<keyof T & string, MemberRule>>, file: string): T {
  const problems: FieldProblem[] = [];
  const isObject = checkMembers<T>(value, "", rules, problems);
  const path: unknown = isObject ? value["path"] : [];
  if (Array.isArray(path)) {
    for (let i = 0; i < path.length; i++) checkValue(path[i], `/path/${i}`, HASH, problems);
  }
  if (!isObject || problems.length > 0) {
    throw new VerbatimError("PROOF_MALFORMED", {
      message: describeProblems("the proof is not well formed", problems),
      where: toPlace(file, problems[0]!.pointer),
      details: { problems },
    });
  }
  return value;
}
