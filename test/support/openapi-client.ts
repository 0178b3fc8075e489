/** A part of an OpenAPI document, as far as it is read here. */
export interface Described {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Described[];
  readonly oneOf?: readonly Described[];
  readonly items?: Described;
  readonly prefixItems?: readonly Described[];
  readonly properties?: Readonly<Record<string, Described>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Described;
}

interface Method {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: Described;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: Described }>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: Described }>> }>
  >;
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Method>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Described>> };
}

/** A schema as a type. */
export function toType(schema: Described | undefined): string {
  if (schema === undefined) return "unknown";
  if (schema.$ref !== undefined) return schema.$ref.split("/").at(-1)!;
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  const many = schema.anyOf ?? schema.oneOf;
  if (many !== undefined) return many.map((one) => `(${toType(one)})`).join(" | ");
  if (Array.isArray(schema.type)) return schema.type.map((type) => `(${toType({ ...schema, type })})`).join(" | ");
  switch (schema.type) {
    case "string":
      return "string";
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    case "null":
      return "null";
    case "array":
      return schema.prefixItems === undefined
        ? `readonly (${toType(schema.items)})[]`
        : `readonly [${schema.prefixItems.map(toType).join(", ")}]`;
    case "object":
      return toObject(schema);
    default:
      return "unknown";
  }
}

function toObject({ properties, required = [], additionalProperties }: Described): string {
  if (properties === undefined) {
    return `{ readonly [name: string]: ${typeof additionalProperties === "object" ? toType(additionalProperties) : "unknown"} }`;
  }
  const fields = Object.entries(properties).map(
    ([name, one]) => `readonly ${JSON.stringify(name)}${required.includes(name) ? "" : "?"}: ${toType(one)}`,
  );
  return `{ ${fields.join("; ")} }`;
}

/** The source of a client for all routes below an address: one method for each, by its operationId. */
export function makeClient({ paths, components }: OpenApi, below: string): string {
  const types = Object.entries(components.schemas).map(([name, schema]) => `export type ${name} = ${toType(schema)};`);
  const calls: string[] = [];
  const table: string[] = [];
  for (const [path, methods] of Object.entries(paths)) {
    if (!path.startsWith(below)) continue;
    for (const [method, { operationId, parameters = [], requestBody, responses }] of Object.entries(methods)) {
      const inputs = parameters.map(
        ({ name, required, schema }) => `readonly ${JSON.stringify(name)}${required ? "" : "?"}: ${toType(schema)}`,
      );
      const sent = requestBody?.content["application/json"]?.schema;
      const file = requestBody?.content["application/octet-stream"] !== undefined;
      const body = file ? "Uint8Array" : sent === undefined ? "null" : toType(sent);
      const [done] = Object.entries(responses).filter(([status]) => status.startsWith("2"));
      const answer = toType(done?.[1].content?.["application/json"]?.schema);
      calls.push(
        `  readonly ${JSON.stringify(operationId)}: (given: { ${inputs.join("; ")} }, body: ${body}) => Promise<${answer}>;`,
      );
      const places = Object.fromEntries(parameters.map(({ name, in: where }) => [name, where]));
      table.push(
        `  ${JSON.stringify(operationId)}: ${JSON.stringify({ method, path, places, status: Number(done?.[0]) })},`,
      );
    }
  }
  return `${types.join("\n")}
export interface Client {
${calls.join("\n")}
}
export const ROUTES = {
${table.join("\n")}
} as const;
`;
}
