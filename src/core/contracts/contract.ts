import type { z } from "zod";
import type { JsonValue } from "../canonical/index.ts";
import { VerbatimError } from "../errors/index.ts";
import type { Awaitable, Crypto } from "../ports.ts";
import { exportSchema } from "./json-schema.ts";
import { type Problem, sortedProblems, type TextProblem } from "./problem.ts";
import { compileSchema, type SchemaCheck } from "./schema-check.ts";

type Defined<T> = unknown extends T ? T : T extends object ? { [K in keyof T]: Defined<Exclude<T[K], undefined>> } : T;

/** What a schema accepts, as a parser makes it: a member is there or not, and never undefined. */
export type Instance<S extends z.ZodType> = Defined<z.output<S>>;

interface ContractHead {
  /** The room that owns the object; `hall` for what all rooms share. */
  readonly room: string;
  /** kebab-case, unique in the product. */
  readonly name: string;
  readonly title: string;
  readonly summary: string;
}

/** A contract object whose instances are JSON: one file (`json`) or one line of a file (`jsonl`). */
export interface JsonContract<S extends z.ZodType = z.ZodType> extends ContractHead {
  readonly media: "json" | "jsonl";
  readonly schema: S;
  /** Every code the check can raise, and what it says. */
  readonly codes: ReadonlyMap<string, string>;
  /** Every problem of a value of the lossless parser, by pointer and code. It cannot hash: see `checkDerived`. */
  check(value: JsonValue): Problem[];
  /** Every id and hash that does not follow from the rest of the value. Only for a value that `check` accepts. */
  checkDerived(value: JsonValue, crypto: Crypto): Promise<Problem[]>;
}

/** A contract object whose instances are text; a parser with line numbers takes the place of a schema. */
export interface TextContract extends ContractHead {
  readonly media: "text";
  readonly codes: ReadonlyMap<string, string>;
  check(text: string): TextProblem[];
}

/** A contract object: JSON with a schema and rules, or a text with its own grammar. */
export type ContractObject = JsonContract | TextContract;

/**
 * A rule that a schema cannot say, with its own code. It sees values whose shape may be wrong and answers with the
 * pointers at which the rule is broken.
 */
export interface NamedCheck {
  readonly code: string;
  readonly summary: string;
  run(value: JsonValue): readonly string[];
}

/** An id or a hash that follows from other fields, recomputed. It only ever sees values whose shape is right. */
export interface DerivedCheck<T = JsonValue> {
  readonly code: string;
  readonly summary: string;
  run(value: T, crypto: Crypto): Awaitable<readonly string[]>;
}

/** A check that takes the place of the schema's, for objects with codes of their own. */
export interface CustomCheck {
  readonly codes: Readonly<Record<string, string>>;
  check(value: JsonValue): Problem[];
}

export interface JsonContractParts<S extends z.ZodType> extends ContractHead {
  readonly media?: "json" | "jsonl";
  readonly schema: S;
  readonly checks?: readonly NamedCheck[];
  readonly derived?: readonly DerivedCheck<Instance<S>>[];
  readonly customCheck?: CustomCheck;
}

/** Makes a contract object of a strict zod schema. The schema is exported and compiled at the first check. */
export function defineContract<S extends z.ZodType>(parts: JsonContractParts<S>): JsonContract<S> {
  const { room, name, title, summary, media = "json", schema, checks = [], derived = [], customCheck } = parts;
  let compiled: SchemaCheck | undefined;
  const judge = () => {
    compiled ??=
      customCheck === undefined
        ? compileSchema(exportSchema(schema))
        : { codes: new Map(Object.entries(customCheck.codes)), check: customCheck.check };
    return compiled;
  };
  return {
    room,
    name,
    title,
    summary,
    media,
    schema,
    get codes() {
      return new Map([...judge().codes, ...[...checks, ...derived].map((one) => [one.code, one.summary] as const)]);
    },
    check(value) {
      const problems = judge().check(value);
      for (const { code, summary: message, run } of checks) {
        for (const pointer of run(value)) problems.push({ code, pointer, message });
      }
      return sortedProblems(problems);
    },
    async checkDerived(value, crypto) {
      const problems: Problem[] = [];
      for (const { code, summary: message, run } of derived) {
        for (const pointer of await run(value as Instance<S>, crypto)) problems.push({ code, pointer, message });
      }
      return sortedProblems(problems);
    },
  };
}

/** Makes a contract object of a text artifact. */
export function defineTextContract(
  parts: ContractHead & { readonly codes: Readonly<Record<string, string>>; check(text: string): TextProblem[] },
): TextContract {
  const { codes, ...rest } = parts;
  return { ...rest, media: "text", codes: new Map(Object.entries(codes)) };
}

/**
 * Every problem of a value: its shape and rules, and once those hold, the ids and hashes that follow from the rest.
 *
 * @example
 * const contract = findContract("jobs/bundle-manifest");
 * if (contract.media === "json") {
 *   const problems = await judgeObject(contract, { bundle_version: "5.0.0" }, webCrypto);
 *   problems[0]?.code; // => "SCHEMA_MISSING_FIELD"
 * }
 */
export async function judgeObject(contract: JsonContract, value: JsonValue, crypto: Crypto): Promise<Problem[]> {
  const problems = contract.check(value);
  return problems.length > 0 ? problems : contract.checkDerived(value, crypto);
}

/** The value as its type where the contract accepts it, or null. */
export function acceptContract<S extends z.ZodType>(contract: JsonContract<S>, value: JsonValue): Instance<S> | null {
  return contract.check(value).length === 0 ? (value as Instance<S>) : null;
}

/**
 * The value as its type, or CONTRACT_VIOLATED with every problem in `details.problems`.
 *
 * @example
 * const contract = findContract("hall/config");
 * if (contract.media === "json") parseContract(contract, { contxt: {} }); // throws CONTRACT_VIOLATED
 */
export function parseContract<S extends z.ZodType>(contract: JsonContract<S>, value: JsonValue): z.output<S> {
  const problems = contract.check(value);
  const first = problems[0];
  if (first === undefined) return value as z.output<S>;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  throw new VerbatimError("CONTRACT_VIOLATED", {
    message: `${contract.title}: ${first.pointer || "the value"} ${first.message}${more}`,
    where: first.pointer,
    details: { contract: `${contract.room}/${contract.name}`, problems },
  });
}
