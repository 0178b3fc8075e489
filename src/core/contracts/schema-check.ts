import { codePointLength, Float, isJsonObject, type JsonValue } from "../canonical/index.ts";
import { FINDINGS, type Finding, VerbatimError } from "../errors/index.ts";
import type { TextForm } from "./form.ts";
import type { ExportedSchema, JsonSchema } from "./json-schema.ts";
import { describeKind, describeKinds, type Kind, kindOf } from "./kind.ts";
import { type Problem, toPointer } from "./problem.ts";
import { explainUnion, isMeant } from "./union.ts";

type Check = (value: JsonValue, pointer: string, problems: Problem[]) => void;
type SizeCheck = (size: number, pointer: string, problems: Problem[]) => void;

interface Compiled {
  readonly check: Check;
  /** What the value may be at the top; null accepts anything. */
  readonly kinds: readonly Kind[] | null;
  /** Members that are constants: they tell the branches of a union apart. */
  readonly constants: ReadonlyMap<string, unknown>;
}

/** What a schema raises for a value. */
export interface SchemaCheck {
  /** Every code it can raise, and what it says. */
  readonly codes: ReadonlyMap<string, string>;
  check(value: JsonValue): Problem[];
}

/** Keywords that say something to people only. */
const ANNOTATIONS = new Set(["$schema", "$id", "title", "description", "default", "examples"]);
const NO_CONSTANTS: ReadonlyMap<string, unknown> = new Map();
const ACCEPT: Check = () => undefined;

/**
 * Compiles an exported schema. What is checked is the published schema itself, so the two cannot come apart, and
 * the values are those of the lossless parser: `10.0` is not an integer, a large integer is one, `__proto__` is a key.
 * A keyword nobody handles is refused. Cost of a check: linear in the value, times the branches of its unions.
 */
export function compileSchema(exported: ExportedSchema): SchemaCheck {
  const compiler = new Compiler(exported.forms);
  const { check } = compiler.compile(exported.schema);
  return {
    codes: compiler.codes,
    check: (value) => {
      const problems: Problem[] = [];
      check(value, "", problems);
      return problems;
    },
  };
}

class Compiler {
  readonly codes = new Map<string, string>();
  readonly #forms: ReadonlyMap<string, TextForm>;

  constructor(forms: ReadonlyMap<string, TextForm>) {
    this.#forms = forms;
  }

  compile(schema: JsonSchema): Compiled {
    const { type, ...rest } = schema;
    if (Array.isArray(type)) return this.#union(type.map((one: unknown) => ({ ...rest, type: one })));
    switch (type) {
      case undefined:
        return this.#untyped(rest);
      case "object":
        return this.#object(rest);
      case "array":
        return this.#array(rest);
      case "string":
        return this.#string(rest);
      case "integer":
        return this.#number(["integer"], rest);
      case "number":
        return this.#number(["integer", "float"], rest);
      case "boolean":
      case "null":
        refuseKeywords(rest, ["const"]);
        return this.#typed([type], this.#constant(rest));
      default:
        throw unsupported("type", type);
    }
  }

  #untyped(schema: JsonSchema): Compiled {
    const branches = schema["anyOf"] ?? schema["oneOf"];
    refuseKeywords(schema, branches === undefined ? [] : ["anyOf", "oneOf"]);
    if (branches !== undefined) return this.#union(branches as JsonSchema[]);
    return { check: ACCEPT, kinds: null, constants: NO_CONSTANTS };
  }

  #object(schema: JsonSchema): Compiled {
    refuseKeywords(schema, ["properties", "required", "additionalProperties", "propertyNames"]);
    const members = new Map<string, Check>();
    const constants = new Map<string, unknown>();
    for (const [key, member] of Object.entries((schema["properties"] ?? {}) as Record<string, JsonSchema>)) {
      members.set(key, this.compile(member).check);
      if ("const" in member) constants.set(key, member["const"]);
    }
    const required = (schema["required"] ?? []) as string[];
    if (required.length > 0) this.#raises("FIELD_MISSING");
    const names = schema["propertyNames"] as JsonSchema | undefined;
    const checkName = names === undefined ? ACCEPT : this.compile(names).check;
    const others = this.#others(schema["additionalProperties"]);
    return this.#typed(
      ["object"],
      (value, pointer, problems) => {
        if (!isJsonObject(value)) return;
        for (const key of required) {
          if (!Object.hasOwn(value, key)) report(problems, "FIELD_MISSING", toPointer(pointer, key), "is missing");
        }
        for (const key of Object.keys(value)) {
          const at = toPointer(pointer, key);
          checkName(key, at, problems);
          (members.get(key) ?? others)(value[key]!, at, problems);
        }
      },
      constants,
    );
  }

  /** What happens to members without a schema of their own. An object that keeps silent about them is not strict. */
  #others(schema: unknown): Check {
    if (schema === undefined) throw unsupported("additionalProperties", "absent");
    if (schema !== false) return this.compile(schema as JsonSchema).check;
    this.#raises("FIELD_UNKNOWN");
    return (_, pointer, problems) => report(problems, "FIELD_UNKNOWN", pointer, "is not a field of this object");
  }

  #array(schema: JsonSchema): Compiled {
    refuseKeywords(schema, ["items", "minItems", "maxItems"]);
    const item = this.compile((schema["items"] ?? {}) as JsonSchema).check;
    const size = this.#size(schema, "minItems", "maxItems", "items");
    return this.#typed(["array"], (value, pointer, problems) => {
      const items = value as readonly JsonValue[];
      size(items.length, pointer, problems);
      for (let i = 0; i < items.length; i++) item(items[i]!, toPointer(pointer, i), problems);
    });
  }

  #string(schema: JsonSchema): Compiled {
    refuseKeywords(schema, ["const", "enum", "minLength", "maxLength", "pattern", "x-form"]);
    const form = this.#form(schema);
    if (form !== null) {
      return this.#typed(["string"], (value, pointer, problems) => {
        const code = form.judge(value as string);
        if (code !== null) problems.push({ code, pointer, message: form.codes[code] ?? code });
      });
    }
    const allowed = this.#constant(schema);
    const size = this.#size(schema, "minLength", "maxLength", "characters");
    const source = schema["pattern"] as string | undefined;
    const pattern = source === undefined ? null : new RegExp(source, "u");
    if (pattern !== null) this.#raises("FIELD_PATTERN");
    return this.#typed(["string"], (value, pointer, problems) => {
      const text = value as string;
      const before = problems.length;
      allowed(text, pointer, problems);
      size(codePointLength(text), pointer, problems);
      // One problem per text: the first rule it breaks explains the others.
      if (pattern !== null && problems.length === before && !pattern.test(text)) {
        report(problems, "FIELD_PATTERN", pointer, `must match ${source}`);
      }
    });
  }

  #form(schema: JsonSchema): TextForm | null {
    const name = schema["x-form"];
    if (name === undefined) return null;
    const form = this.#forms.get(String(name));
    if (form === undefined) throw unsupported("x-form", name);
    for (const [code, says] of Object.entries(form.codes)) this.codes.set(code, says);
    return form;
  }

  #number(kinds: readonly Kind[], schema: JsonSchema): Compiled {
    refuseKeywords(schema, ["const", "enum", "minimum", "maximum"]);
    const allowed = this.#constant(schema);
    const minimum = (schema["minimum"] ?? Number.NEGATIVE_INFINITY) as number;
    const maximum = (schema["maximum"] ?? Number.POSITIVE_INFINITY) as number;
    if ("minimum" in schema || "maximum" in schema) this.#raises("FIELD_VALUE");
    return this.#typed(kinds, (value, pointer, problems) => {
      allowed(value, pointer, problems);
      const number = value instanceof Float ? value.value : (value as number | bigint);
      if (number < minimum) report(problems, "FIELD_VALUE", pointer, `must be at least ${minimum}`);
      if (number > maximum) report(problems, "FIELD_VALUE", pointer, `must be at most ${maximum}`);
    });
  }

  #union(schemas: readonly JsonSchema[]): Compiled {
    const branches = schemas.map((schema) => this.compile(schema));
    const open = branches.some(({ kinds }) => kinds === null);
    const kinds = open ? null : [...new Set(branches.flatMap((branch) => branch.kinds ?? []))];
    return this.#typed(kinds, (value, pointer, problems) => {
      const results = branches
        .filter((branch) => isOf(branch.kinds, value))
        .map((branch) => {
          const found: Problem[] = [];
          branch.check(value, pointer, found);
          return { problems: found, meant: isMeant(branch.constants, value) };
        });
      if (!results.some((result) => result.problems.length === 0)) problems.push(...explainUnion(results));
    });
  }

  #size(schema: JsonSchema, low: string, high: string, unit: string): SizeCheck {
    const min = (schema[low] ?? 0) as number;
    const max = (schema[high] ?? Number.POSITIVE_INFINITY) as number;
    if (min > 0) this.#raises("FIELD_EMPTY");
    if (min > 1) this.#raises("FIELD_VALUE");
    if (high in schema) this.#raises("FIELD_TOO_LONG");
    return (size, pointer, problems) => {
      if (size < min && size === 0) report(problems, "FIELD_EMPTY", pointer, "must not be empty");
      else if (size < min) report(problems, "FIELD_VALUE", pointer, `must have at least ${min} ${unit}, has ${size}`);
      if (size > max) report(problems, "FIELD_TOO_LONG", pointer, `must have at most ${max} ${unit}, has ${size}`);
    };
  }

  #constant(schema: JsonSchema): Check {
    const allowed = "const" in schema ? [schema["const"]] : (schema["enum"] as unknown[] | undefined);
    if (allowed === undefined) return ACCEPT;
    this.#raises("FIELD_VALUE");
    const list = allowed.map((one) => JSON.stringify(one)).join(", ");
    return (value, pointer, problems) => {
      if (!allowed.includes(value)) report(problems, "FIELD_VALUE", pointer, `must be ${list}`);
    };
  }

  #typed(kinds: readonly Kind[] | null, check: Check, constants = NO_CONSTANTS): Compiled {
    if (kinds === null) return { check, kinds, constants };
    this.#raises("FIELD_TYPE");
    const typed: Check = (value, pointer, problems) => {
      if (isOf(kinds, value)) check(value, pointer, problems);
      else report(problems, "FIELD_TYPE", pointer, `must be ${describeKinds(kinds)}, is ${describeKind(value)}`);
    };
    return { check: typed, kinds, constants };
  }

  #raises(code: Finding<"contract">): void {
    this.codes.set(code, FINDINGS.contract[code]);
  }
}

function isOf(kinds: readonly Kind[] | null, value: JsonValue): boolean {
  if (kinds === null) return true;
  const kind = kindOf(value);
  return kind !== null && kinds.includes(kind);
}

function report(problems: Problem[], code: Finding<"contract">, pointer: string, message: string): void {
  problems.push({ code, pointer, message });
}

function refuseKeywords(schema: JsonSchema, known: readonly string[]): void {
  for (const keyword of Object.keys(schema)) {
    if (!known.includes(keyword) && !ANNOTATIONS.has(keyword)) throw unsupported(keyword, schema[keyword]);
  }
}

function unsupported(keyword: string, value: unknown): VerbatimError {
  return new VerbatimError("INTERNAL", {
    message: `a contract's schema uses ${keyword} in a way no check understands: ${JSON.stringify(value)}`,
  });
}
