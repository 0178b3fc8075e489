import type { App } from "./app/call.ts";
import { openApp } from "./app/call.ts";
import { createRoomMethods, type RoomMethods } from "./app/library.ts";
import type { Progress } from "./core/ports.ts";

export type { Input, OperationName, Operations, Output } from "./app/operations.ts";
export { Float, formatCanonical, type JsonObject, type JsonValue, parseJson } from "./core/canonical/index.ts";
export { CODES, type Code, isVerbatimError, VerbatimError } from "./core/errors/index.ts";
export { isRepoPath, parseRepoPath, type RepoPath } from "./core/paths/index.ts";
export { type Budgets, chargeBudgets, sliceText } from "./core/text/index.ts";

export interface OpenOptions {
  /** Environment to read settings from; the process's own without it. */
  readonly env?: NodeJS.ProcessEnv;
  readonly progress?: Progress;
}

/** An open workspace: every operation by its name, and as a method of its room. */
export interface Workspace extends App, RoomMethods {}

/**
 * Opens the workspace around a folder: `call` runs any operation of the product by its name, and `context.expand` is
 * short for `call("context.expand")`. Nothing is created before an operation must write. Close it, or use
 * `await using`.
 *
 * @example
 * await using workspace = openWorkspace("path/to/repository");
 * await workspace.call("context.index-build", {});
 * const { results } = await workspace.context.search({ query: "tides" });
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
