import { z } from "zod";
import { budgets, outputName, slice, symbolId, symbolOrSectionId } from "../../../core/contracts/index.ts";

export const MAX_OPS = 1000;

const read = z.strictObject({
  type: z.literal("READ"),
  target: symbolOrSectionId,
  params: z.strictObject({ slice: slice.optional(), output: outputName.optional() }),
});

const write = z.strictObject({
  type: z.literal("WRITE"),
  target: symbolId,
  params: z.strictObject({ patch: z.string(), output: outputName.optional() }),
});

const execute = z.strictObject({
  type: z.literal("EXECUTE"),
  target: symbolId,
  params: z.strictObject({ output: outputName.optional() }),
});

/** Catalytic Chat Contract, Message. `checkMessage` judges it with the codes of its own. */
export const messageSchema = z.strictObject({
  intent: z.string().regex(/\S/),
  refs: z.array(symbolId),
  ops: z
    .array(z.discriminatedUnion("type", [read, write, execute]))
    .min(1)
    .max(MAX_OPS),
  budgets,
  required_outputs: z.array(outputName),
});

/** What somebody asks for: an intent, references, operations, budgets and the outputs that must come. */
export type Message = z.infer<typeof messageSchema>;
/** One operation of a message: READ, WRITE or EXECUTE. */
export type MessageOp = Message["ops"][number];
