import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { sortedByCodePoint } from "../src/core/canonical/index.ts";
import { type Bench, type Effort, type Result, runBench } from "./harness.ts";
import { ROOT } from "./places.ts";
import { formatTable } from "./table.ts";

const USAGE = `npm run bench -- [GROUP]... [--only NAME]... [--sizes N,N] [--rounds N] [--out FILE] [--all] [--strict] [--list]

  GROUP         run the benches whose names begin with it (agent, world), also those that only run when asked for
  --only NAME   run this bench only; may be given more than once
  --sizes N,N   these sizes instead of the bench's own, the goal is judged at the last
  --rounds N    exactly so many rounds instead of as many as fit
  --out FILE    where the results go (bench/results.json)
  --all         every bench; without it a few of each group, which take less than five minutes
  --strict      exit 1 when a goal is missed
  --list        name the benches and stop
  --here        run in this process instead of one for each

npm run bench -- --against REVISION measures the sources against those of a revision; add --help for its flags.`;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      only: { type: "string", multiple: true },
      sizes: { type: "string" },
      rounds: { type: "string" },
      out: { type: "string", default: join(ROOT, "bench/results.json") },
      all: { type: "boolean", default: false },
      strict: { type: "boolean", default: false },
      list: { type: "boolean", default: false },
      here: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return;
  }
  const benches = await loadBenches(values.only, positionals, values.all);
  if (values.list) {
    for (const bench of benches) console.log(`${bench.name}: ${bench.what}`);
    return;
  }
  const sizes = values.sizes?.split(",").map(toCount);
  const effort = toEffort(values.rounds);
  const results: Result[] = [];
  const started = performance.now();
  for (const group of toGroups(benches.filter(isAvailable))) {
    if (values.here || benches.length === 1) {
      for (const bench of group) {
        const since = performance.now();
        results.push(await runBench(sizes === undefined ? bench : { ...bench, sizes }, effort));
        console.error(`${bench.name}: ${secondsSince(since)} s`);
      }
    } else results.push(...runAlone(group));
    // After each, so that a run that is stopped leaves what it measured.
    const seconds = Number(secondsSince(started));
    writeFileSync(values.out, `${JSON.stringify({ node: process.versions.node, seconds, results }, null, 2)}\n`);
  }
  console.log(formatTable(results));
  if (!values.here) console.log(`\n${results.length} benches in ${secondsSince(started)} s`);
  if (values.strict && results.some(({ met }) => !met)) process.exitCode = 1;
}

function secondsSince(started: number): string {
  return ((performance.now() - started) / 1000).toFixed(1);
}

function isAvailable(bench: Bench): boolean {
  const reason = bench.unavailable?.() ?? null;
  if (reason !== null) console.log(`skipped ${bench.name}: ${reason}`);
  return reason === null;
}

/** Benches that share a corpus together, all others by themselves. */
function toGroups(benches: readonly Bench[]): readonly (readonly Bench[])[] {
  const groups = new Map<string, Bench[]>();
  for (const bench of benches) {
    const key = bench.shares ?? bench.name;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [bench]);
    else group.push(bench);
  }
  return [...groups.values()];
}

/** In a process of their own: what others leave in memory would slow them down, starting processes most. */
function runAlone(benches: readonly Bench[]): readonly Result[] {
  const names = benches.map(({ name }) => name);
  const folder = mkdtempSync(join(tmpdir(), "verbatim-bench-"));
  try {
    const out = join(folder, "results.json");
    const given = process.argv.slice(2).filter((arg) => arg.startsWith("--sizes") || arg.startsWith("--rounds"));
    const values = given.flatMap((arg) =>
      arg.includes("=") ? [arg] : [arg, process.argv[process.argv.indexOf(arg) + 1]!],
    );
    const only = names.flatMap((name) => ["--only", name]);
    const args = [...process.execArgv, fileURLToPath(import.meta.url), "--here", ...only, "--out", out, ...values];
    const { status } = spawnSync(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
    if (status !== 0) throw new Error(`${names.join(", ")} failed`);
    return (JSON.parse(readFileSync(out, "utf8")) as { readonly results: readonly Result[] }).results;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The benches asked for, or all, by name. Modules that cannot hold what was asked for are not loaded: that takes long. */
async function loadBenches(
  only: readonly string[] | undefined,
  groups: readonly string[],
  isAll: boolean,
): Promise<readonly Bench[]> {
  const folder = new URL("benches/", import.meta.url);
  const files = sortedByCodePoint(readdirSync(folder).filter((file) => /\.[jt]s$/.test(file)));
  if (only === undefined && groups.length === 0) {
    return (await importBenches(folder, files)).filter(({ onAsking }) => isAll || onAsking !== true);
  }
  if (only === undefined) {
    const asked = (await importBenches(folder, files)).filter(({ name }) =>
      groups.some((one) => name.startsWith(`${one}-`)),
    );
    if (asked.length === 0) throw new Error(`no bench begins with ${groups.join(" or ")}`);
    return asked;
  }
  const mentions = (file: string) => {
    const text = readFileSync(new URL(file, folder), "utf8");
    return only.some((name) => text.includes(JSON.stringify(name)));
  };
  const likely = choose(await importBenches(folder, files.filter(mentions)), only);
  if (likely.length === only.length) return likely;
  const benches = await importBenches(folder, files);
  const names = benches.map(({ name }) => name);
  const unknown = only.filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new Error(`no bench ${unknown.join(", ")}; there are ${names.join(", ")}`);
  return choose(benches, only);
}

/** Each module exports its benches. */
async function importBenches(folder: URL, files: readonly string[]): Promise<readonly Bench[]> {
  const benches: Bench[] = [];
  for (const file of files) {
    const module = (await import(new URL(file, folder).href)) as Record<string, Bench>;
    benches.push(...Object.values(module));
  }
  return benches;
}

function choose(benches: readonly Bench[], only: readonly string[]): readonly Bench[] {
  return benches.filter(({ name }) => only.includes(name));
}

function toEffort(rounds: string | undefined): Effort {
  if (rounds === undefined) return { minRounds: 5, maxRounds: 40, budgetMs: 1_600 };
  const exact = toCount(rounds);
  return { minRounds: exact, maxRounds: exact, budgetMs: 0 };
}

function toCount(text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1) throw new Error(`${text} is not a count`);
  return count;
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
});
