import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import type { EntryRecord } from "../../src/core/ports.ts";
import { expectUnbrokenChain } from "../support/chain.ts";
import { buildChild, type ChildProgram } from "../support/child.ts";

/** A fresh, durable database that other processes can reach. */
export interface SharedStore {
  /** Arguments that tell `children/writer.ts` where the store is. */
  readonly place: readonly [kind: "sqlite" | "postgres", address: string];
  /** Opens the store here and reads everything in global order; also what is needed to open it at all. */
  readAll(): Promise<{ readonly index: number; readonly entry: EntryRecord }[]>;
  destroy(): Promise<void>;
}

const WRITERS = 20;
const APPENDS = 50;
const KILLS = 20;

/** What a store must survive when it is shared by processes, some of which die. */
export function describeWriters(create: () => Promise<SharedStore>): void {
  let program: ChildProgram;
  let shared: SharedStore;

  beforeAll(async () => {
    program = await buildChild("test/fault/children/writer.ts");
  });

  afterAll(() => {
    program.remove();
  });

  beforeEach(async () => {
    shared = await create();
  });

  afterEach(async () => {
    await shared.destroy();
  });

  it(`keeps all entries of ${WRITERS} processes that open a fresh store at once and append ${APPENDS} each`, async () => {
    const children = Array.from({ length: WRITERS }, (_, i) =>
      program.start([...shared.place, `writer-${i}`, String(APPENDS)]),
    );
    const ends = await Promise.all(children.map((child) => child.ended));
    expect(ends.filter((end) => end.code !== 0)).toEqual([]);

    const all = await shared.readAll();
    expect(all.map(({ index }) => index)).toEqual(Array.from({ length: WRITERS * APPENDS }, (_, i) => i));
    const entries = all.map(({ entry }) => entry);
    expectUnbrokenChain(entries);
    for (const [i, child] of children.entries()) {
      const own = entries.filter((entry) => entry.actor === `writer-${i}`);
      expect(own.map((entry) => entry.body)).toEqual(Array.from({ length: APPENDS }, (_, turn) => `{"turn":${turn}}`));
      expect(own.map((entry) => entry.hash)).toEqual(child.lines);
    }
  });

  it(`loses nothing that was acknowledged when its writers are killed ${KILLS} times`, async () => {
    const acknowledged: string[] = [];
    for (let round = 0; round < KILLS; round += 4) {
      const children = Array.from({ length: 4 }, (_, i) => program.start([...shared.place, `r${round + i}`, "100000"]));
      for (const [i, child] of children.entries()) {
        // Killed after some acknowledgements and then a little later, so that it dies at any point of an append.
        const after = 1 + ((round + i) % 7);
        child.onLine(() => {
          if (child.lines.length === after) setTimeout(() => child.process.kill("SIGKILL"), Math.random() * 4);
        });
      }
      for (const end of await Promise.all(children.map((child) => child.ended))) {
        expect(end).toEqual({ code: null, signal: "SIGKILL", errors: "" });
      }
      acknowledged.push(...children.flatMap((child) => child.lines.filter((line) => line.length === 64)));
    }

    const all = await shared.readAll();
    expect(all.map(({ index }) => index)).toEqual(Array.from({ length: all.length }, (_, i) => i));
    expectUnbrokenChain(all.map(({ entry }) => entry));
    const kept = new Set(all.map(({ entry }) => entry.hash));
    expect(acknowledged.length).toBeGreaterThanOrEqual(KILLS);
    expect(acknowledged.filter((hash) => !kept.has(hash))).toEqual([]);
    // Each killed process can have committed at most one entry that it had no time to acknowledge.
    expect(kept.size - acknowledged.length).toBeLessThanOrEqual(KILLS);
  });
}
