import type { Progress } from "../core/ports.ts";
import { type App, openApp, ROOM_NAMES } from "./call.ts";
import type { CallOptions } from "./compose/compose.ts";
import type { Input, OperationName, Output, RoomName } from "./operations.ts";
import type { RoomMethods } from "./room-methods.ts";

/** How a room is opened by a program. */
export interface RoomOptions {
  /** Environment to read settings from; the process's own without it. */
  readonly env?: NodeJS.ProcessEnv;
  readonly progress?: Progress;
}

/** A workspace for the library surface, and a typed function for each operation that is bound to it. */
export function openLibraryRoom(folder: string, { env = process.env, progress }: RoomOptions) {
  const app = openApp({
    surface: "library",
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

/** The methods are made from the names they are asked by, so that no room is loaded before one of its is called. */
export function createRoomMethods(app: App): RoomMethods {
  const rooms = Object.fromEntries(ROOM_NAMES.map((room) => [room, createMethods(app, room)]));
  return rooms as Record<RoomName, object> as RoomMethods;
}

// Asked for by `await` and `JSON.stringify`, which take any object that has them for something it is not.
const NO_METHODS: readonly (string | symbol)[] = ["then", "toJSON"];

function createMethods(app: App, room: RoomName): object {
  return new Proxy(
    {},
    {
      get(_, method) {
        if (typeof method === "symbol" || NO_METHODS.includes(method)) return undefined;
        const name = `${room}.${method.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
        return (input: unknown, options?: CallOptions) => app.callUnknown(name, input, options);
      },
    },
  );
}
