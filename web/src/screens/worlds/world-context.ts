import { createContext, useContext } from "react";
import type { Access } from "../../api/session.ts";
import type { People, World } from "../../api/worlds.ts";
import type { Sending } from "./sending.ts";
import type { StoryWindow } from "./story-window.ts";

/** The world that is shown, and as whom. */
export interface OpenWorld {
  readonly id: string;
  readonly world: World;
  readonly people: People;
  readonly access: Access;
  /** Somebody whom the owner reads as; undefined: as oneself. */
  readonly viewer: string | undefined;
  /** Whose lines are one's own. */
  readonly self: string;
  readonly title: string;
  readonly operator: string;
  /** Whether anything may be sent as the page is now. */
  readonly speaks: boolean;
  readonly isOwner: boolean;
  readonly isOperator: boolean;
  readonly lines: StoryWindow;
  readonly sending: Sending;
}

export const WorldContext = createContext<OpenWorld | null>(null);

export function useWorld(): OpenWorld {
  const world = useContext(WorldContext);
  if (world === null) throw new Error("no world is open");
  return world;
}
