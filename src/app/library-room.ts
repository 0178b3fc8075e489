import type { Progress } from "../core/ports.ts";
import { openApp } from "./call.ts";
import type { Input, OperationName, Output } from "./operation-types.ts";

/** How a room is opened by a program. */
export interface RoomOptions {
  /** Environment to read settings from; the process's own without it. */
  readonly env?: NodeJS.ProcessEnv;
  readonly progress?: Progress;
}

/** A workspace for the library door, and a typed function for each operation that is bound to it. */
export function openLibraryRoom(folder: string, { env = process.env, progress }: RoomOptions) {
  const app = openApp({
    door: "library",
    start: folder,
    env,
    platform: process.platform,
    ...(progress === undefined ? {} : { progress }),
  });
  const bind =
    <N extends OperationName>(name: N) =>
    (input: Input<N>): Promise<Output<N>> =>
      app.call(name, input);
  const close = () => app.close();
  return { app, bind, ends: { close, [Symbol.asyncDispose]: close } };
}
