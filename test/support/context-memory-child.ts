import { buildIndex } from "../../src/rooms/context/index/index-build.ts";
import { openRoom } from "./context-room.ts";

// Builds the index of a folder and says how much memory that took at most.

const [root, state] = process.argv.slice(2) as [string, string];
const room = await openRoom({ root, state, config: { sources: ["docs/**/*.md"] } });
room.watched.reads.push = () => 0;
const { files, sections } = await buildIndex(room, { full: false });
await room.close();
const megabytes = Math.round((process.resourceUsage().maxRSS * 1024) / 1_000_000);
console.log(JSON.stringify({ files, sections, megabytes }));
