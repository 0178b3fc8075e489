import type { z } from "zod";

/** What an operation may do: nothing, append to the ledger, or change things outside the store as well. */
export type Effect = "read" | "append" | "mutate";

/** The four surfaces. An operation that touches the caller's own files is for the local surfaces only. */
export type Surface = "cli" | "mcp" | "http" | "library";

/** Surfaces that run on the caller's own machine and may name files there. */
export const LOCAL_SURFACES: readonly Surface[] = ["cli", "library"];

/**
 * One thing the product can do. `app.call` parses the input, runs it, and parses the output;
 * every surface is generated from the table of operations.
 */
export interface Operation<
  Ports = never,
  I extends z.core.$ZodType = z.ZodType,
  O extends z.core.$ZodType = z.ZodType,
  N extends string = string,
> {
  /** `<room>.<verb>` */
  readonly name: N;
  readonly summary: string;
  readonly effect: Effect;
  /** Absent: all surfaces. */
  readonly surfaces?: readonly Surface[];
  readonly input: I;
  /** Fields that only the local surfaces take: what would widen what an operation may do. Elsewhere: LOCAL_ONLY. */
  readonly localFields?: readonly string[];
  readonly output: O;
  run(ports: Ports, input: z.output<I>): Promise<z.input<O>>;
  /**
   * Where the document wants JSON Lines: the same result as canonical lines, without their line feeds.
   * What it returns at the end is the exit of the verb; nothing means 0.
   */
  lines?(ports: Ports, input: z.output<I>): AsyncGenerator<string, unknown>;
}

/**
 * Keeps the types of an operation, its name among them, while checking its shape. Schemas are held to zod's small core
 * type: comparing each with the whole of `ZodType` is what takes the compiler longest.
 */
export function defineOperation<Ports, I extends z.core.$ZodType, O extends z.core.$ZodType, N extends string>(
  operation: Operation<Ports, I, O, N>,
): Operation<Ports, I, O, N> {
  return operation;
}

/**
 * A loose schema with an exact type. What runs must return a T and who calls gets a T, while the published schema
 * promises no more than it did.
 */
export function typed<T>(schema: z.ZodType): z.ZodType<T, T> {
  return schema as z.ZodType<T, T>;
}
