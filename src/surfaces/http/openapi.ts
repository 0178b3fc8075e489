import { z } from "zod";
import type { Operation } from "../../core/operation.ts";
import { listParameters, toOperationId, toOwnPaths, toTemplate } from "./own-routes.ts";
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
export function toOpenApi(version: string, operations: readonly Operation[], routes: readonly WorldRoute[]): object {
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
    paths[known] = { ...paths[known], [route.method]: toRoute(route, operation) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Verbatim", version, description: "Agents and writers under contract." },
    components: { securitySchemes: { token: { type: "http", scheme: "bearer" } } },
    security: [{ token: [] }],
    paths,
  };
}

/** Files come as they are; everything else is JSON. */
const FILE_ROUTES: ReadonlySet<string> = new Set(["/api/worlds/import", "/api/worlds/:id/imports"]);
const CONTRACT_BODY = { "/api/worlds/:id/invocations": "InvocationEnvelope" } as const;

function toRoute({ method, path, summary, who, query = [] }: WorldRoute, operation: Operation | undefined): object {
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
  const answer = operation === undefined ? {} : { schema: toSchema(operation.output, "output") };
  const type = path.endsWith("/stream") ? "text/event-stream" : "application/json";
  const once = operation !== undefined && isOnce(operation);
  const done = { description: "Done.", ...(once ? { headers: REPLAYED } : {}), content: { [type]: answer } };
  return {
    operationId: toOperationId(method, path),
    summary,
    description: `For: ${who}.`,
    parameters: [...inPath, ...inQuery, ...(once ? [KEY] : [])],
    ...(method === "get" || method === "delete" ? {} : { requestBody: toBody(path, operation) }),
    responses: { [path === "/api/worlds" && method === "post" ? 201 : 200]: done, default: ERROR },
  };
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

function toBody(path: string, operation: Operation | undefined): object {
  if (FILE_ROUTES.has(path)) {
    return {
      required: true,
      content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } },
    };
  }
  const contract = Object.entries(CONTRACT_BODY).find(([known]) => known === path)?.[1];
  if (contract !== undefined) {
    const schema = {
      type: "object",
      description: `The contract object ${contract}: verbatim contract show ${contract}`,
    };
    return { required: true, content: { "application/json": { schema } } };
  }
  return { content: { "application/json": { schema: operation === undefined ? {} : toFields(operation) } } };
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
