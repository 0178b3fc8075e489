import { z } from "zod";
import type { Operation } from "../../core/operation.ts";
import { listParameters, toOperationId, toOwnPaths, toTemplate } from "./own-routes.ts";
import { WORLD_ANSWERS, type WorldAnswer } from "./worlds/world-answers.ts";
import type { WorldRoute } from "./worlds/world-router.ts";

const ERROR = {
  description: "Refused; see error.code.",
  content: {
    "application/json": {
      schema: {
        type: "object",
        properties: {
          error: {
            type: "object",
            properties: {
              code: { type: "string" },
              message: { type: "string" },
              where: { type: ["string", "null"] },
              fix: { type: "string" },
              details: { type: ["object", "null"] },
            },
            required: ["code", "message", "where", "fix", "details"],
          },
        },
        required: ["error"],
      },
    },
  },
} as const;

/** The OpenAPI 3.1 document: every operation, the routes of worlds, and those of the server itself. */
export function toOpenApi(
  version: string,
  operations: readonly Operation[],
  routes: readonly WorldRoute[],
  /** Contract objects that stand in it by their names. */
  contracts: readonly { readonly title: string; readonly schema: z.ZodType }[] = [],
): object {
  const schemas = toComponents(contracts);
  const paths = toOwnPaths(ERROR);
  for (const operation of operations) {
    paths[`/api/operations/${operation.name}`] = {
      post: {
        operationId: operation.name,
        summary: operation.summary,
        requestBody: { content: { "application/json": { schema: toInput(operation) } } },
        responses: {
          200: {
            description: "Done.",
            content: { "application/json": { schema: toSchema(operation.output, "output") } },
          },
          default: ERROR,
        },
      },
    };
  }
  const byName = new Map(operations.map((operation) => [operation.name, operation]));
  for (const route of routes) {
    const known = toTemplate(route.path);
    const operation = route.operation === undefined ? undefined : byName.get(route.operation);
    paths[known] = { ...paths[known], [route.method]: toRoute(route, operation, byName) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Verbatim", version, description: "Agents and writers under contract." },
    components: { schemas, securitySchemes: { token: { type: "http", scheme: "bearer" } } },
    security: [{ token: [] }],
    paths,
  };
}

/** The contract objects by their names, and those of their parts that routes give on their own. */
function toComponents(contracts: readonly { readonly title: string; readonly schema: z.ZodType }[]): object {
  const all = Object.fromEntries(contracts.map(({ title, schema }) => [toName(title), toSchema(schema, "input")]));
  const output = all["ProjectionOutput"] as Partial<ProjectionSchema> | undefined;
  const parts =
    output?.properties === undefined
      ? {}
      : { StreamEntry: output.properties.stream.properties.entries.items, Pocket: output.properties.pocket };
  return { ...all, ...parts };
}

/** Names in the document have no spaces. */
function toName(title: string): string {
  return title.replace(/[^A-Za-z0-9]+(.)/g, (_, next: string) => next.toUpperCase());
}

interface ProjectionSchema {
  readonly properties: {
    readonly stream: { readonly properties: { readonly entries: { readonly items: object } } };
    readonly pocket: object;
  };
}

type ByName = ReadonlyMap<string, Operation>;

function toRoute(
  { method, path, summary, who, query = [] }: WorldRoute,
  operation: Operation | undefined,
  byName: ByName,
): object {
  const said = WORLD_ANSWERS[`${method} ${path.slice("/api/worlds".length)}`] ?? {};
  const inPath = listParameters(path).map((name) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const inQuery = query.map((name) => ({
    name,
    in: "query",
    required: false,
    schema: { type: name === "limit" ? "integer" : "string" },
  }));
  const once = operation !== undefined && isOnce(operation);
  const headers = { ...(once ? REPLAYED : {}), ...toHeaders(said.headers ?? []) };
  const done = {
    description: "Done.",
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    content: { [said.type ?? "application/json"]: toAnswer(said, operation, byName) },
  };
  return {
    operationId: toOperationId(method, path),
    summary,
    description: `For: ${who}.`,
    parameters: [...inPath, ...inQuery, ...(once ? [KEY] : [])],
    ...(method === "get" || method === "delete" ? {} : { requestBody: toBody(said, operation) }),
    responses: { [said.status ?? 200]: done, default: ERROR },
  };
}

function toAnswer(said: WorldAnswer, operation: Operation | undefined, byName: ByName): object {
  const events = said.events === undefined ? {} : { "x-events": said.events };
  if (said.schema !== undefined) return { schema: said.schema, ...events };
  const behind = said.output === undefined ? operation : byName.get(said.output);
  if (behind === undefined) return {};
  const schema = toSchema(behind.output, "output");
  return { schema: said.others === undefined ? schema : { anyOf: [schema, said.others] } };
}

function toHeaders(names: readonly string[]): object {
  return Object.fromEntries(names.map((name) => [name, { schema: { type: "string" } }]));
}

/** Under this key a control write happens once. */
const KEY = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  schema: { type: "string", minLength: 1, maxLength: 100 },
} as const;
const REPLAYED = {
  "Idempotent-Replayed": { description: "The same request was already answered.", schema: { const: "true" } },
} as const;

/** Whether a route writes to a world and takes a key. */
function isOnce(operation: Operation): boolean {
  const { properties = {} } = toSchema(operation.input, "input") as { readonly properties?: Record<string, object> };
  return "key" in properties;
}

function toBody({ body, fields }: WorldAnswer, operation: Operation | undefined): object {
  if (body === "file") {
    return {
      required: true,
      content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } },
    };
  }
  if (body !== undefined) {
    return { required: true, content: { "application/json": { schema: { $ref: `#/components/schemas/${body}` } } } };
  }
  const schema = fields ?? (operation === undefined ? {} : toFields(operation));
  return { content: { "application/json": { schema } } };
}

/** The operation's input without what the address and the headers say. */
function toFields(operation: Operation): object {
  const schema = toSchema(operation.input, "input") as {
    readonly properties?: Record<string, object>;
    readonly required?: readonly string[];
  };
  if (operation.name === "world.settings-set") return schema.properties?.["settings"] ?? {};
  const said = new Set(["world", "key", ...PATH_FIELDS]);
  const known = Object.entries(schema.properties ?? {}).filter(([name]) => !said.has(name));
  const properties = Object.fromEntries(known);
  return {
    ...schema,
    properties,
    required: (schema.required ?? []).filter((name) => !said.has(name)),
  };
}

const PATH_FIELDS = ["item_id"] as const;

/** What an operation takes over HTTP. */
function toInput({ input, localFields = [] }: Operation): object {
  const schema = toSchema(input, "input") as { readonly properties?: Record<string, object> };
  if (localFields.length === 0) return schema;
  const known = Object.entries(schema.properties ?? {}).filter(([name]) => !localFields.includes(name));
  return { ...schema, properties: Object.fromEntries(known) };
}

function toSchema(schema: z.ZodType, io: "input" | "output"): object {
  return z.toJSONSchema(schema, { io, unrepresentable: "any" });
}
