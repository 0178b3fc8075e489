import { useSyncExternalStore } from "react";
import { type Access, currentAccess, isAtLeast, onSession, type Role } from "../api/session.ts";

/** What somebody is, in the workspace or in one story. */
export function useRole(): Access["role"] {
  return useSyncExternalStore(onSession, currentAccess).role;
}

/** Whether somebody may do what takes at least this role; what they may not do is not offered. */
export function useMay(least: Role): boolean {
  useRole();
  return isAtLeast(least);
}
