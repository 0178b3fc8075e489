import { buildIndex } from "../../src/rooms/context/index-build.ts";
import { openRoom } from "./context-room.ts";

// Builds the index of a folder and prints it.

const [root, state] = process.argv.slice(2) as [string, string];
const room = await openRoom({ root, state, config: { sources: ["**/*"], exclude: [] } });
await buildIndex(room, { full: false });
process.stdout.write(await room.exported());
await room.close();
