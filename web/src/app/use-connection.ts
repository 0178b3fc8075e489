import { useSyncExternalStore } from "react";
import { type Connection, onConnection, readConnection } from "../api/connection.ts";

/** Whether the server answers; whoever can do nothing without it says so. */
export function useConnection(): Connection {
  return useSyncExternalStore(onConnection, readConnection);
}

export function useIsLost(): boolean {
  return useConnection().state === "lost";
}
