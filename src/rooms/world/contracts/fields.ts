import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  sortedByCodePoint,
  toPointerToken,
  utf8Length,
} from "../../../core/canonical/index.ts";
import { describeKind } from "../../../core/contracts/index.ts";
import { type Code, VerbatimError } from "../../../core/errors/index.ts";

// World Contracts: the first failure is the answer, and the order of the checks is part of the contract.

/** Refuses what stands at a pointer. */
export function refuse(code: Code, where: string, message?: string): never {
  throw new VerbatimError(code, {
    message: `${where === "" ? "the object" : where}: ${message ?? "is refused"}`,
    where,
  });
}

/** One known field: how its value is read when it is there, and what it is when it is absent or null. */
export interface Field<T> {
  read(value: JsonValue, where: string): T;
  absent(where: string): T;
  /** Null is not absence here but a value of the wrong type, for `read` to refuse. */
  readonly isNullWrong?: true;
}

export type Fields = Readonly<Record<string, Field<unknown>>>;
export type FieldsOf<F extends Fields> = { -readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never };

type Read<T> = (value: JsonValue, where: string) => T;

/** A field that must be there; null is absent. */
export function required<T>(read: Read<T>): Field<T> {
  return { read, absent: (where) => refuse("FIELD_MISSING", where, "is required") };
}

/** A field that is null when it is absent. */
export function optional<T>(read: Read<T>): Field<T | null> {
  return { read, absent: () => null };
}

/** A field whose absence means something else than null. */
export function withDefault<T>(read: Read<T>, absent: () => T): Field<T> {
  return { read, absent };
}

/** An object that is, when absent or null, the same as one without any field. */
export function optionalObject<T>(read: Read<T>): Field<T> {
  return { read, absent: (where) => read({}, where) };
}

/** Reads an object: its type, its known fields in the order of the table, then unknown ones by code point. */
export function readObject<F extends Fields>(value: JsonValue, where: string, fields: F): FieldsOf<F> {
  const object = requireObject(value, where);
  const result: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) {
    const field = fields[name]!;
    const member = Object.hasOwn(object, name) ? object[name]! : undefined;
    const at = `${where}/${name}`;
    const isAbsent = member === undefined || (member === null && field.isNullWrong !== true);
    result[name] = isAbsent ? field.absent(at) : field.read(member, at);
  }
  for (const name of sortedByCodePoint(Object.keys(object))) {
    if (!Object.hasOwn(fields, name))
      refuse("FIELD_UNKNOWN", `${where}/${toPointerToken(name)}`, "is not a field of this object");
  }
  return result as FieldsOf<F>;
}

/** The value as an object, or FIELD_TYPE. */
function requireObject(value: JsonValue, where: string): JsonObject {
  return isJsonObject(value) ? value : wrongType(value, where, "an object");
}

/** The items of an array, or FIELD_TYPE. */
export function requireArray(value: JsonValue, where: string): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : wrongType(value, where, "an array");
}

/** Reads a boolean. */
export function boolean(value: JsonValue, where: string): boolean {
  return typeof value === "boolean" ? value : wrongType(value, where, "a boolean");
}

function wrongType(value: JsonValue, where: string, wanted: string): never {
  return refuse("FIELD_TYPE", where, `is ${describeKind(value)}, must be ${wanted}`);
}

interface TextRules {
  readonly mayBeEmpty?: boolean;
  readonly values?: readonly string[];
  /** Code for a value that is not in the list. */
  readonly valueCode?: Code;
  /** A text people read: invisible characters alone are refused. */
  readonly visible?: boolean;
  readonly maxBytes?: number;
  readonly sizeCode?: Code;
  readonly pattern?: RegExp;
  /** The field's own rule, last. */
  rule?(text: string, where: string): void;
}

const INVISIBLE = /^\p{Default_Ignorable_Code_Point}+$/u;

/** Reads a string with the checks of every string field, in their order. */
export function text<T extends string = string>(rules: TextRules = {}): Read<T> {
  const { mayBeEmpty = false, values, valueCode = "FIELD_VALUE", visible = false, maxBytes, pattern } = rules;
  return (value, where) => {
    if (typeof value !== "string") return wrongType(value, where, "a string");
    if (!value.isWellFormed()) refuse("TEXT_NOT_WELL_FORMED", where, "contains half of a surrogate pair");
    if (value.includes("\0")) refuse("TEXT_HAS_NUL", where, `contains U+0000 at offset ${value.indexOf("\0")}`);
    if (value === "" && !mayBeEmpty) refuse("FIELD_EMPTY", where, "must not be empty");
    if (values !== undefined && !values.includes(value)) {
      refuse(valueCode, where, `is ${show(value)}, must be ${values.join(" or ")}`);
    }
    if (visible && INVISIBLE.test(value)) refuse("TEXT_INVISIBLE", where, "contains only invisible characters");
    if (maxBytes !== undefined && value.length * 3 > maxBytes && utf8Length(value) > maxBytes) {
      refuse(rules.sizeCode ?? "FIELD_TOO_LONG", where, `has ${utf8Length(value)} bytes; the limit is ${maxBytes}`);
    }
    if (pattern !== undefined && !pattern.test(value)) {
      refuse("FIELD_PATTERN", where, `is ${show(value)}, must match ${pattern.source}`);
    }
    rules.rule?.(value, where);
    return value as T;
  };
}

function show(value: string): string {
  const cut = value.length > 40 ? `${value.slice(0, 40).toWellFormed()}...` : value;
  return JSON.stringify(cut);
}

/** `request_id`, `invoker_id`. */
export const ID_PATTERN = /^[A-Za-z0-9._:-]{1,128}$/;
/** Entry, write bundle and tool request ids. */
export const SHORT_ID_PATTERN = /^[A-Za-z0-9._:-]{1,64}$/;
/** Person ids and other identities inside a world. */
export const PERSON_PATTERN = /^[A-Z][A-Z0-9_]*$/;

export const MAX_TEXT_BYTES = 65_536;

/** Reads a short id. */
export const shortId = text({ pattern: SHORT_ID_PATTERN });
