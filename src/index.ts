/**
 * The whole product as a library: open the workspace around a folder and call any operation, typed. Errors, canonical JSON, paths
 * and slices are here as well.
 *
 * @packageDocumentation
 */

import type { App } from "./app/call.ts";
import { openApp } from "./app/call.ts";
import { createRoomMethods } from "./app/library.ts";
import type { RoomMethods } from "./app/room-methods.ts";
import type { Progress } from "./core/ports.ts";

export type { Input, OperationName, Operations, Output } from "./app/operations.ts";
export { Float, formatCanonical, type JsonObject, type JsonValue, parseJson } from "./core/canonical/index.ts";
export { CODES, type Code, isVerbatimError, VerbatimError } from "./core/errors/index.ts";
export { isRepoPath, parseRepoPath, type RepoPath } from "./core/paths/index.ts";
export { type Budgets, chargeBudgets, sliceText } from "./core/text/index.ts";

/** How a workspace is opened by a program. */
export interface OpenOptions {
  /** Environment to read settings from; the process's own without it. */
  readonly env?: NodeJS.ProcessEnv;
  /** Is told how far long work has come. */
  readonly progress?: Progress;
}

/** An open workspace: every operation by its name, and as a method of its room. */
export interface Workspace extends App, RoomMethods {}

/**
 * Opens the workspace around a folder: `call` runs any operation of the product by its name, and `context.expand` is
 * short for `call("context.expand")`. It needs no configuration and no git repository, and nothing is created before an
 * operation must write. Close it at the end, or declare it with `await using`.
 *
 * @example
 * const workspace = openWorkspace("path/to/repository");
 * await workspace.context.indexBuild({});
 * const { results } = await workspace.context.search({ query: "tides" });
 * await workspace.close();
 */
export function openWorkspace(folder: string, options: OpenOptions = {}): Workspace {
  const app = openApp({
    surface: "library",
    start: folder,
    env: options.env ?? process.env,
    platform: process.platform,
    ...(options.progress === undefined ? {} : { progress: options.progress }),
  });
  return { ...app, ...createRoomMethods(app) };
}
