import { z } from "zod";
import type { Operation } from "../../core/operation.ts";
import type { WorldRoute } from "./worlds.ts";

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

/** The OpenAPI 3.1 document: every operation, and the routes of worlds. */
export function toOpenApi(version: string, operations: readonly Operation[], routes: readonly WorldRoute[]): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations) {
    paths[`/api/operations/${operation.name}`] = {
      post: {
        operationId: operation.name,
        summary: operation.summary,
        requestBody: { content: { "application/json": { schema: toSchema(operation.input, "input") } } },
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
  for (const { method, path, summary, who } of routes) {
    const known = path.replace(/:([a-z]+)/g, "{$1}");
    const parameters = [...path.matchAll(/:([a-z]+)/g)].map(([, name]) => ({
      name,
      in: "path",
      required: true,
      schema: { type: "string" },
    }));
    paths[known] = {
      ...paths[known],
      [method]: {
        summary,
        description: `For: ${who}.`,
        parameters,
        responses: { 200: { description: "Done." }, default: ERROR },
      },
    };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Verbatim", version, description: "Agents and writers under contract." },
    components: { securitySchemes: { token: { type: "http", scheme: "bearer" } } },
    security: [{}, { token: [] }],
    paths,
  };
}

function toSchema(schema: z.ZodType, io: "input" | "output"): object {
  return z.toJSONSchema(schema, { io, unrepresentable: "any" });
}
