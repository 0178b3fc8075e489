import { z } from "zod";

/**
 * A text with a grammar and codes of its own. Where a value breaks it, the form's code is raised in place of
 * FIELD_EMPTY, FIELD_TOO_LONG and FIELD_PATTERN. The published schema names the form as `x-form`.
 */
export interface TextForm {
  /** kebab-case */
  readonly name: string;
  /** Every code the form can raise, and what it says. */
  readonly codes: Readonly<Record<string, string>>;
  /** The code of the first rule a text breaks, or null. */
  judge(text: string): string | null;
}

const forms = z.registry<TextForm>();

/** Ties a form to the zod schema that describes it to everyone else. */
export function defineForm<S extends z.ZodString>(schema: S, form: TextForm): S {
  forms.add(schema, form);
  return schema;
}

/** The form of a zod schema, or null. */
export function findForm(schema: z.core.$ZodType): TextForm | null {
  return forms.get(schema as z.ZodType) ?? null;
}
