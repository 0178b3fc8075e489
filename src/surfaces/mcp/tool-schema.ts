import { z } from "zod";
import type { App } from "../../app/call.ts";
import type { Operation } from "../../core/operation.ts";
import type { ToolPlan, ToolVerb } from "./tool-table.ts";

type JsonSchema = Record<string, unknown>;
type ObjectSchema = JsonSchema & { readonly type: "object" };

/** A tool as it is listed. It has no output schema: with one, a server must send structured content (ADR 0059). */
export interface ListedTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
}

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

function pickFields(operation: Operation, { fields, needs = [], renamed = {}, defaults = {} }: ToolVerb): Fields {
  const schema = toJsonSchema(operation.input) as Fields;
  const known = (field: string) => renamed[field] ?? field;
  const properties = Object.fromEntries(
    fields.map((field) => {
      const own = Object.hasOwn(defaults, field) && defaults[field] !== "" ? { default: defaults[field] } : {};
      return [field, { ...schema.properties[known(field)]!, ...own }];
    }),
  );
  const isNeeded = (field: string) => needs.includes(field) || schema.required?.includes(known(field)) === true;
  const required = fields.filter((field) => isNeeded(field) && !Object.hasOwn(defaults, field));
  return { properties, required };
}

/** The schema of a contract object as part of another one. */
async function readContract(app: App, object: string): Promise<JsonSchema> {
  const { schema } = await app.call("contract.show", { object });
  return withoutNames(schema) as JsonSchema;
}

/** Leaves out what names a schema, what is only for our own readers, and what says nothing. */
function withoutNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNames);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(
    ([key, part]) => !NAMES.has(key) && !key.startsWith("x-") && !isNoise(key, part),
  );
  return Object.fromEntries(kept.map(([key, part]) => [key, withoutNames(part)]));
}

/** Bounds that every integer has, and patterns longer than what they say in words. */
function isNoise(key: string, part: unknown): boolean {
  if (key === "pattern") return typeof part === "string" && part.length > LONGEST_PATTERN;
  return typeof part === "number" && Math.abs(part) === Number.MAX_SAFE_INTEGER;
}

const LONGEST_PATTERN = 120;
const NAMES: ReadonlySet<string> = new Set(["$schema", "$id"]);

function toJsonSchema(schema: z.ZodType): JsonSchema {
  return withoutNames(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" })) as JsonSchema;
}
