/**
 * The table of operations as types, for clients that bring their own transport.
 *
 * @packageDocumentation
 */

import type { Input, OperationName, Output } from "./app/operations.ts";

export type { OperationName } from "./app/operations.ts";
export type { Events } from "./app/studio/events.ts";

/**
 * Every operation of the product by its name: what it is called with and what it answers, as the table of operations says.
 * Types only: a client in a browser is written against them and carries none of our code.
 *
 * @example
 * import type { OperationName, Operations } from "verbatim-agent/api";
 * declare function call<N extends OperationName>(name: N, input: Operations[N]["input"]): Promise<Operations[N]["output"]>;
 */
export type Operations = {
  readonly [N in OperationName]: { readonly input: Input<N>; readonly output: Output<N> };
};
