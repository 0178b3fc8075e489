import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs, promisify } from "node:util";
import { reportFindings } from "./findings.ts";
import { compareFrozen, type FrozenFiles, readFrozen, writeFrozen } from "./freeze/files.ts";
import { freezeHelp } from "./freeze/help.ts";
import { RUNS, TABLES } from "./freeze/parts.ts";
import { ROOT } from "./stages.ts";

// What others rely on, written down: operations, schemas, codes, help, OpenAPI, MCP, migrations, defaults, and the bytes
// of one run of each kind. `npm run freeze` writes test/pins/frozen, `--out DIR` another folder, `--compare DIR` names
// every difference; names of parts limit it to those (`npm run freeze -- errors help`). Help needs a build.

/** What was frozen last, in the repository. */
export const FROZEN_FOLDER = fileURLToPath(new URL("../test/pins/frozen", import.meta.url));

const run = promisify(execFile);

/** What the built program prints; its lines are as wide as where there is no terminal. */
async function printBuilt(argv: readonly string[]): Promise<string> {
  const env = { PATH: process.env["PATH"], NO_COLOR: "1", HOME: "/nowhere" };
  const { stdout } = await run(process.execPath, ["bin/verbatim.js", ...argv], { cwd: ROOT, env });
  return stdout;
}

/** Parts by name: tables, help, and one run of each kind. */
const PARTS: ReadonlyMap<string, () => Promise<FrozenFiles>> = new Map([
  ...Object.entries(TABLES),
  ["help", () => freezeHelp(printBuilt)],
  ...Object.entries(RUNS).map(([name, { make }]) => [name, make] as const),
]);

/** What these parts are now. */
async function freezeParts(names: readonly string[]): Promise<FrozenFiles> {
  const all = new Map<string, string>();
  for (const name of names) {
    const make = PARTS.get(name);
    if (make === undefined) throw new Error(`there is no part ${name}; there are ${[...PARTS.keys()].join(", ")}`);
    console.error(`... ${name}`);
    for (const [path, text] of await make()) all.set(path, text);
  }
  return all;
}

async function main(args: string[]): Promise<void> {
  const options = { out: { type: "string" }, compare: { type: "string" } } as const;
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  const now = await freezeParts(positionals.length > 0 ? positionals : [...PARTS.keys()]);
  // Of some parts only their own files are looked at; help is the only one whose files come and go.
  const belongs = (path: string) =>
    positionals.length === 0 || now.has(path) || (positionals.includes("help") && path.startsWith("help/"));
  if (values.compare !== undefined) {
    const frozen = [...readFrozen(resolve(values.compare))].filter(([path]) => belongs(path));
    reportFindings(compareFrozen(new Map(frozen), now), `${now.size} frozen files`);
    return;
  }
  const folder = resolve(values.out ?? FROZEN_FOLDER);
  writeFrozen(folder, now, belongs);
  console.log(`wrote ${now.size} files below ${folder}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main(process.argv.slice(2));
