import { writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

// Runs command lines in this process: those that prepare, then the one that is watched, twice. Only its second run is
// recorded, so that what modules do while they are loaded is not. See passed.ts.

const [root = "", out = "", ...given] = process.argv.slice(2);
const lines = given.map((line) => JSON.parse(line) as string[]);
const watched = lines.at(-1) ?? [];

const { main } = (await import(pathToFileURL(join(root, "src/main.ts")).href)) as {
  main(argv: readonly string[]): Promise<void>;
};
for (const line of lines) await main(line);
const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
await session.post("Profiler.takePreciseCoverage");
await main(watched);
const { result } = await session.post("Profiler.takePreciseCoverage");
const entered = result.filter(({ functions }) => functions.some(({ ranges }) => ranges.some(({ count }) => count > 0)));
writeFileSync(out, JSON.stringify(entered.map(({ url }) => url)));
