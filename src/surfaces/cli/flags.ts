import { z } from "zod";
import type { Operation } from "../../core/operation.ts";
import type { Verb } from "./verb.ts";

/** A flag made from a field of an operation's input. */
export interface GeneratedFlag {
  readonly field: string;
  readonly name: string;
  readonly kind: "boolean" | "integer" | "text";
  readonly repeat: boolean;
  readonly required: boolean;
  readonly value: string;
  readonly bare: boolean;
  readonly short: string | null;
  readonly choices: readonly string[] | null;
  readonly help: string;
  readonly fallback: unknown;
}

interface FieldSchema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly items?: FieldSchema;
  readonly anyOf?: readonly FieldSchema[];
  readonly description?: string;
  readonly default?: unknown;
}

/** The flags of a verb: every field of the input that is not a positional argument. */
export function toFlags(operation: Operation, verb: Verb): GeneratedFlag[] {
  const schema = z.toJSONSchema(operation.input, { io: "input", unrepresentable: "any" }) as {
    readonly properties?: Readonly<Record<string, FieldSchema>>;
    readonly required?: readonly string[];
  };
  const positional = new Set((verb.args ?? []).filter(({ alsoFlag }) => alsoFlag !== true).map(({ field }) => field));
  const flags: GeneratedFlag[] = [];
  for (const [field, facts] of Object.entries(schema.properties ?? {})) {
    const hint = verb.flags?.[field] ?? {};
    if (positional.has(field) || hint.hidden === true) continue;
    const shape = facts.anyOf?.find((one) => one.type !== "null") ?? facts;
    const item = shape.type === "array" ? (shape.items ?? {}) : shape;
    const name = hint.name ?? field.replaceAll("_", "-");
    flags.push({
      field,
      name,
      kind:
        item.type === "boolean" ? "boolean" : item.type === "integer" || item.type === "number" ? "integer" : "text",
      repeat: shape.type === "array",
      required: schema.required?.includes(field) === true && facts.default === undefined,
      value: hint.value ?? (item.type === "integer" ? "N" : name.replaceAll("-", "_").toUpperCase()),
      bare: hint.bare === true,
      short: hint.short ?? null,
      choices: item.enum ?? null,
      help: facts.description ?? "",
      fallback: facts.default,
    });
  }
  return flags;
}
