type Part = Record<string, unknown>;

// Shorter parts are not worth a reference.
const SHORTEST = 48;

/** Writes parts of a schema that occur more than once under `$defs`, so that a list of schemas stays short. */
export function shareParts(schema: Part): Part {
  const counts = new Map<string, number>();
  count(schema, counts);
  const names = new Map<string, string>();
  const definitions: Part = {};
  const rewrite = (value: unknown, isSchema: boolean): unknown => {
    if (Array.isArray(value)) return value.map((one) => rewrite(one, isSchema));
    if (!isPart(value)) return value;
    if (isSchema) {
      const text = JSON.stringify(value);
      const known = names.get(text);
      if (known !== undefined) return { $ref: `#/$defs/${known}` };
      if (text.length >= SHORTEST && (counts.get(text) ?? 0) > 1) {
        const name = `p${names.size + 1}`;
        names.set(text, name);
        definitions[name] = members(value, rewrite);
        return { $ref: `#/$defs/${name}` };
      }
    }
    return members(value, rewrite);
  };
  const shared = members(schema, rewrite);
  return Object.keys(definitions).length === 0 ? shared : { ...shared, $defs: definitions };
}

/** Rewrites the members of a schema; `properties` is a map of schemas and no schema itself. */
function members(schema: Part, rewrite: (value: unknown, isSchema: boolean) => unknown): Part {
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (key === "properties" && isPart(value)) {
        return [key, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, rewrite(one, true)]))];
      }
      return [key, SCHEMAS.has(key) ? rewrite(value, true) : value];
    }),
  );
}

/** Keywords whose value is a schema or a list of schemas. */
const SCHEMAS: ReadonlySet<string> = new Set([
  "items",
  "anyOf",
  "oneOf",
  "allOf",
  "additionalProperties",
  "propertyNames",
]);

function count(value: unknown, counts: Map<string, number>): void {
  if (Array.isArray(value)) {
    for (const one of value) count(one, counts);
  } else if (isPart(value)) {
    const text = JSON.stringify(value);
    if (text.length >= SHORTEST) counts.set(text, (counts.get(text) ?? 0) + 1);
    for (const one of Object.values(value)) count(one, counts);
  }
}

function isPart(value: unknown): value is Part {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
