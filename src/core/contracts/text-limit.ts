import { z } from "zod";
import { codePointLength } from "../canonical/index.ts";

/** A text of at most so many code points, as JSON Schema counts; zod's own `max` would count UTF-16 units. */
export function textUpTo(most: number): z.ZodString {
  return z
    .string()
    .check((ctx) => {
      if (codePointLength(ctx.value) <= most) return;
      ctx.issues.push({ code: "too_big", origin: "string", maximum: most, inclusive: true, input: ctx.value });
    })
    .meta({ maxLength: most });
}
