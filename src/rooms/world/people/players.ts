import { storyOf } from "../history/state.ts";
import type { WorldReader } from "../ports.ts";
import type { OpenWorld } from "../projection/reading.ts";

/** A world with those whom somebody plays: people of its story with a token of a player that still opens it. */
export async function withPlayers(tables: WorldReader, world: OpenWorld, now: number): Promise<OpenWorld> {
  const players = await tables.players(storyOf(world.state), now);
  return players.length === 0 ? world : { ...world, cast: { ...world.cast, players: new Set(players) } };
}
