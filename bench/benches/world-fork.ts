import { toWriteBundle } from "../../src/rooms/world/beat/bundle.ts";
import { appendRecord } from "../../src/rooms/world/history/commit.ts";
import { forkWorld } from "../../src/rooms/world/history/fork.ts";
import { createWorld } from "../../src/rooms/world/history/worlds.ts";
import type { WorldPorts } from "../../src/rooms/world/operations/ports.ts";
import { loadWorld } from "../../src/rooms/world/projection/reading.ts";
import { readPage } from "../../src/rooms/world/projection/views.ts";
import type { Bench } from "../harness.ts";
import { seededIntegers } from "../seed.ts";
import { lineOf, openBenchRoom } from "../world-corpus.ts";

const FORKS = 10;
const SMALL = 250;
const LINES_A_RECORD = 250;

/** Forks share the rows of their parent, so what a fork costs is not how much there is to share. */
export const worldFork: Bench = {
  name: "world-fork",
  what: `${FORKS} forks behind the newest line of a world of N entries`,
  baseline: `the same of a world of ${SMALL} entries`,
  corpus: "seeded 14-word lines, 250 a record",
  sizes: [25_000],
  goal: { kind: "time", atMost: 1.5 },
  async prepare(size) {
    const { ports, close } = await openBenchRoom();
    const [large, small] = [await fill(ports, "w_large", size), await fill(ports, "w_small", SMALL)];
    let made = 0;
    const fork = async (id: string, cursor: string): Promise<void> => {
      for (let i = 0; i < FORKS; i++) {
        await forkWorld(ports, id, { cursor, viewer: null, world_id: `w_fork-${++made}`, title: "Fork" });
      }
    };
    return { ours: () => fork("w_large", large), baseline: () => fork("w_small", small), close };
  },
};

/** Makes a world with so many entries and gives the cursor of the last one. */
async function fill(ports: WorldPorts, id: string, count: number): Promise<string> {
  const next = seededIntegers(33);
  const people = [{ person_id: "ANA", display_name: "Ana" }];
  await createWorld(ports, { world_id: id, start: "2026-01-01T00:00Z", people, settings: { title: id } });
  const author = { author_id: "ANA", author_class: "PERSON" } as const;
  const visibility = { scope: "PRIVATE", visible_to: ["ANA", "GEORGE"] } as const;
  for (let written = 0; written < count; written += LINES_A_RECORD) {
    const lines = Array.from({ length: LINES_A_RECORD }, () => ({
      author,
      channel: "PEOPLE" as const,
      text: lineOf(next),
      visibility,
    }));
    await ports.store.transact(async (tx) => {
      const world = await loadWorld(tx.world, id);
      const write_bundle = toWriteBundle(ports.crypto, world.state, {
        request_id: `bench-${written}`,
        created_at_world: "2026-01-01T00:00:00+00:00",
        proposed_by: { engine: "ENGINE_1_INVOCATION", actor: "bench" },
        lines,
      });
      const body = { people: [], present: [...world.state.present], source_sha256: "0".repeat(64), write_bundle };
      await appendRecord(ports, tx, world, "WORLD_IMPORTED", body);
    });
  }
  return (await readPage(ports, id, { viewer: null, after: null, before: null, limit: 1 })).cursor_after!;
}
