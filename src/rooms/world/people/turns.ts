import { refuse } from "../contracts/fields.ts";
import { appendRecord } from "../history/commit.ts";
import { candidatesOf } from "../knowledge/turns.ts";
import type { WorldPorts } from "../operations/ports.ts";
import { controlWorld } from "./control.ts";
import { unknownPerson } from "./people.ts";
import { withPlayers } from "./players.ts";

const MOST_TURNS = 8;

/** Says whose turn it is in the next beat; with it that is spent. */
export async function setTurn(
  ports: WorldPorts,
  worldId: string,
  next: readonly string[],
  key: string | null,
): Promise<{ readonly next: readonly string[] }> {
  return controlWorld(ports, worldId, { key, body: { turn: [...next] } }, async (tx, open) => {
    const world = await withPlayers(tx.world, open, ports.clock.now());
    const { settings } = world.state;
    if (settings.cast !== "turns")
      refuse("FIELD_VALUE", "/next", `the cast of this world is ${settings.cast}, not turns`);
    if (next.length > MOST_TURNS) refuse("FIELD_VALUE", "/next", `at most ${MOST_TURNS} people act in a beat`);
    const candidates = candidatesOf(world);
    for (const [i, id] of next.entries()) {
      const where = `/next/${i}`;
      if (!world.cast.people.has(id)) throw unknownPerson(id, where);
      if (next.indexOf(id) !== i) refuse("VISIBILITY_DUPLICATE", where, `${id} is listed twice`);
      if (!candidates.includes(id)) refuse("PERSON_NOT_PRESENT", where, `${id} is not here, or is played by somebody`);
    }
    await appendRecord(ports, tx, world, "WORLD_TURN_SET", { next: [...next] });
    return { next: [...next] };
  });
}
