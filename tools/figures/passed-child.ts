import { writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

// Runs the command lines of several calls in this process: those that prepare, then the one that is watched, twice. Only
// its second run is recorded, so that what modules do while they are loaded is not. See passed.ts.

const [root = "", out = "", given = "[]"] = process.argv.slice(2);
const calls = JSON.parse(given) as {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly lines: readonly (readonly string[])[];
}[];

const { main } = (await import(pathToFileURL(join(root, "src/main.ts")).href)) as {
  main(argv: readonly string[]): Promise<void>;
};
const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
const passed: string[][] = [];
for (const { cwd, env, lines } of calls) {
  process.chdir(cwd);
  Object.assign(process.env, env);
  for (const line of lines) await main(line);
  await session.post("Profiler.takePreciseCoverage");
  await main(lines.at(-1) ?? []);
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const entered = result.filter(({ functions }) =>
    functions.some(({ ranges }) => ranges.some(({ count }) => count > 0)),
  );
  passed.push(entered.map(({ url }) => url));
}
writeFileSync(out, JSON.stringify(passed));
