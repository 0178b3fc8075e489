import type { z } from "zod";

/** What an operation may do: nothing, append to the ledger, or change things outside the store as well. */
export type Effect = "read" | "append" | "mutate";

/** The four surfaces. An operation that touches the caller's own files is for the local surfaces only. */
export type Surface = "cli" | "mcp" | "http" | "library";

/** Surfaces that run on the caller's own machine and may name files there. */
export const LOCAL_SURFACES: readonly Surface[] = ["cli", "library"];

/** Roles of a workspace, least first. Whoever has the token of a server is its owner; a team's tokens name their role. */
export const WORKSPACE_ROLES = ["reader", "reviewer", "owner"] as const;
/** Roles in a world, least first. */
export const WORLD_ROLES = ["viewer", "player", "operator"] as const;

/** Who may call an operation over HTTP: the least role of a workspace, and the least in the world it is about. */
export interface Who {
  readonly workspace: (typeof WORKSPACE_ROLES)[number];
  readonly world?: (typeof WORLD_ROLES)[number];
}

export const READER: Who = { workspace: "reader" };
export const REVIEWER: Who = { workspace: "reviewer" };
export const OWNER: Who = { workspace: "owner" };
export const OPERATOR: Who = { workspace: "owner", world: "operator" };
export const PLAYER: Who = { workspace: "owner", world: "player" };
export const VIEWER: Who = { workspace: "owner", world: "viewer" };

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
  /** The only list of rights over HTTP. Absent: nobody calls it there. */
  readonly who?: Who;
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
