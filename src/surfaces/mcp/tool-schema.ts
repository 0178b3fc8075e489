import { z } from "zod";
import type { App } from "../../app/call.ts";
import type { Operation } from "../../core/operation.ts";
import { shareParts } from "./shared-parts.ts";
import type { ToolPlan, ToolVerb } from "./tool-table.ts";

type JsonSchema = Record<string, unknown>;
type ObjectSchema = JsonSchema & { readonly type: "object" };

/** A tool as it is listed. */
export interface ListedTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
}

const TEXT = { type: "string" };

/** What a refusal looks like; part of every output schema, because clients check refusals against it too. */
const REFUSAL = {
  type: "object",
  properties: {
    error: {
      type: "object",
      properties: {
        code: TEXT,
        message: TEXT,
        where: { type: ["string", "null"] },
        fix: TEXT,
        details: { type: ["object", "null"] },
      },
      required: ["code", "message", "where", "fix", "details"],
      additionalProperties: false,
    },
  },
  required: ["error"],
  additionalProperties: false,
};

/** Tools with their schemas, in the order in which they are given. */
export async function listTools(app: App, tools: readonly ToolPlan[]): Promise<ListedTool[]> {
  const listed: ListedTool[] = [];
  for (const tool of tools) listed.push(await describeTool(app, tool));
  return listed;
}

async function describeTool(app: App, tool: ToolPlan): Promise<ListedTool> {
  const operations = await Promise.all(tool.verbs.map(({ operation }) => app.describe(operation)));
  const effects = operations.map(({ effect }) => effect);
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: await toInputSchema(app, tool, operations),
    outputSchema: toOutputSchema(tool, operations),
    annotations: {
      readOnlyHint: effects.every((effect) => effect === "read"),
      destructiveHint: effects.includes("mutate"),
      idempotentHint: tool.idempotent,
      openWorldHint: tool.openWorld,
    },
  };
}

interface Fields extends JsonSchema {
  readonly properties: Record<string, JsonSchema>;
  readonly required?: readonly string[];
}

/** One flat object: models and the services behind them do not take alternatives at the top of an input schema. */
async function toInputSchema(app: App, tool: ToolPlan, operations: readonly Operation[]): Promise<ObjectSchema> {
  const verbs = tool.verbs.map((verb, i) => pickFields(operations[i]!, verb));
  const properties: Record<string, JsonSchema> = {};
  if (tool.verbs.length > 1) {
    const actions = tool.verbs.map(({ action }) => action);
    properties["action"] = { type: "string", enum: actions, default: actions[0], description: "What to do." };
  }
  for (const verb of verbs) Object.assign(properties, { ...verb.properties, ...properties });
  for (const [field, object] of Object.entries(tool.contracts ?? {})) {
    properties[field] = { ...properties[field], ...(await readContract(app, object)) };
  }
  const required = verbs[0]!.required?.filter((field) => verbs.every((verb) => verb.required?.includes(field)));
  return { type: "object", properties, required: required ?? [], additionalProperties: false };
}

function pickFields(operation: Operation, { fields, renamed = {}, defaults = {} }: ToolVerb): Fields {
  const schema = toJsonSchema(operation.input, "input") as Fields;
  const known = (field: string) => renamed[field] ?? field;
  const properties = Object.fromEntries(fields.map((field) => [field, schema.properties[known(field)]!]));
  const required = fields.filter((field) => schema.required?.includes(known(field)) && !Object.hasOwn(defaults, field));
  return { properties, required };
}

/** The schema of a contract object as part of another one. */
async function readContract(app: App, object: string): Promise<JsonSchema> {
  const { schema } = await app.call("contract.show", { object });
  return withoutNames(schema) as JsonSchema;
}

/** Leaves out what names a schema, what is only for our own readers, and bounds that every JSON integer has. */
function withoutNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNames);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(
    ([key, part]) => !NAMES.has(key) && !key.startsWith("x-") && Math.abs(Number(part)) !== Number.MAX_SAFE_INTEGER,
  );
  return Object.fromEntries(kept.map(([key, part]) => [key, withoutNames(part)]));
}

const NAMES: ReadonlySet<string> = new Set(["$schema", "$id"]);

function toOutputSchema(tool: ToolPlan, operations: readonly Operation[]): ObjectSchema {
  const variants = new Map<string, JsonSchema>();
  for (const [i, { output }] of operations.entries()) {
    const whole = toJsonSchema(output, "output");
    const { part } = tool.verbs[i]!;
    const schema = part === undefined ? whole : (whole as Fields).properties[part]!;
    variants.set(JSON.stringify(schema), schema);
  }
  return shareParts({ type: "object", anyOf: [...variants.values(), REFUSAL] }) as ObjectSchema;
}

function toJsonSchema(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  return withoutNames(z.toJSONSchema(schema, { io, unrepresentable: "any" })) as JsonSchema;
}
