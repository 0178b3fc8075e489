import { z } from "zod";

/** What a look at a machine or a store answers: one line each, and whether something must be fixed. */
export const CHECKED = z.strictObject({
  ok: z.boolean(),
  checks: z.array(
    z.strictObject({
      name: z.string(),
      status: z.enum(["ok", "warn", "fail"]),
      message: z.string(),
      fix: z.string().nullable(),
    }),
  ),
});
