import { z } from "zod";
import { findForm, type TextForm } from "./form.ts";

/** A JSON Schema (draft 2020-12) or a part of one. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

export interface ExportedSchema {
  readonly schema: JsonSchema;
  /** The text forms the schema names, by name. */
  readonly forms: ReadonlyMap<string, TextForm>;
}

const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/** Exports a zod schema. What JSON Schema cannot say is refused, so nothing is lost in silence. */
export function exportSchema(schema: z.ZodType, io: "input" | "output" = "input"): ExportedSchema {
  const forms = new Map<string, TextForm>();
  const { $schema: _, ...exported } = z.toJSONSchema(schema, {
    target: "draft-2020-12",
    io,
    unrepresentable: "throw",
    override: ({ zodSchema, jsonSchema }) => {
      const form = findForm(zodSchema);
      if (form === null) return;
      forms.set(form.name, form);
      jsonSchema["x-form"] = form.name;
    },
  });
  return { schema: exported, forms };
}

export interface DocumentHead {
  readonly id: string;
  readonly title: string;
  readonly description: string;
}

/** The bytes of a published schema: pretty-printed, one final line feed, members in a fixed order. */
export function formatSchemaDocument(head: DocumentHead, body: JsonSchema): string {
  const { id, title, description } = head;
  return `${JSON.stringify({ $schema: DIALECT, $id: id, title, description, ...body }, null, 2)}\n`;
}
