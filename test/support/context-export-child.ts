import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { buildIndex } from "../../src/rooms/context/index/index-build.ts";
import { openRoom } from "./context-room.ts";
import { seededNumbers } from "./markdown-fuzz.ts";

// Builds the index of a folder and prints it. With a seed, every listing of a folder comes in another order.

const [root, state, seed] = process.argv.slice(2) as [string, string, string | undefined];
if (seed !== undefined) shuffleListings(Number(seed));
const room = await openRoom({ root, state, config: { sources: ["**/*"], exclude: [] } });
await buildIndex(room, { full: false });
process.stdout.write(await room.exported());
await room.close();

function shuffleListings(start: number): void {
  const next = seededNumbers(start);
  const { readdirSync } = fs;
  const shuffled = (...args: Parameters<typeof readdirSync>): unknown[] => {
    const entries: unknown[] = readdirSync(...args);
    for (let i = entries.length - 1; i > 0; i--) {
      const j = next(i + 1);
      [entries[i], entries[j]] = [entries[j], entries[i]];
    }
    return entries;
  };
  fs.readdirSync = shuffled as typeof readdirSync;
  syncBuiltinESMExports();
}
