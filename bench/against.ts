import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { sortedByCodePoint } from "../src/core/canonical/index.ts";
import type { Bench, Pair } from "./harness.ts";

const USAGE = `npm run bench -- --against REVISION [GROUP]... [--only NAME]... [--seconds N]

Measures the sources as they are against those of a revision, in turns, in one process for each bench: processor time of
our side, which load disturbs least; what other processes take is not counted. Below one is faster now.

  GROUP         the benches whose names begin with it (context, world)
  --only NAME   this bench only; may be given more than once
  --seconds N   how long the pairs of one bench may take (default: 12)

Examples:
  npm run bench -- --against HEAD~1 --only canonical-json
  npm run bench -- --against v0.1.0 context`;

/** What one bench took on both sides, in milliseconds of the processor. */
interface Compared {
  readonly name: string;
  readonly size: number;
  readonly pairs: number;
  readonly then_ms: number;
  readonly now_ms: number;
  /** The median of the ratios of the pairs. */
  readonly ratio: number;
}

const MOST_PAIRS = 60;
const LEAST_PAIRS = 5;
const WARM_PAIRS = 2;
/** A bench on a large corpus builds it on both sides first. */
const PATIENCE_MS = 600_000;

function main(): Promise<void> | void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      against: { type: "string" },
      earlier: { type: "string" },
      only: { type: "string", multiple: true },
      pair: { type: "string" },
      seconds: { type: "string", default: "12" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help || values.earlier === undefined) {
    console.log(USAGE);
    return;
  }
  const seconds = Number(values.seconds);
  if (!(seconds > 0)) throw new Error(`${values.seconds} is not a number of seconds`);
  if (values.pair !== undefined) return comparePair(values.earlier, values.pair, seconds);
  return compareAll(values.earlier, { only: values.only, groups: positionals, seconds });
}

interface Asked {
  readonly only: readonly string[] | undefined;
  readonly groups: readonly string[];
  readonly seconds: number;
}

async function compareAll(then: string, { only, groups, seconds }: Asked): Promise<void> {
  const [old, own] = [await loadBenches(then), await loadBenches(here())];
  const unknown = (only ?? []).filter((name) => !own.has(name));
  if (unknown.length > 0) throw new Error(`no bench ${unknown.join(", ")}; there are ${[...own.keys()].join(", ")}`);
  const asked = [...own.keys()].filter(
    (name) =>
      (only === undefined && groups.length === 0) ||
      only?.includes(name) === true ||
      groups.some((group) => name.startsWith(`${group}-`)),
  );
  console.log("| bench | size | pairs | then | now | ratio |\n|---|---|---|---|---|---|");
  for (const name of asked) {
    if (!old.has(name)) {
      console.log(`| ${name} | not there then | | | | |`);
      continue;
    }
    const self = fileURLToPath(import.meta.url);
    const args = [self, "--earlier", then, "--pair", name, "--seconds", String(seconds)];
    const done = spawnSync(process.execPath, args, { encoding: "utf8", timeout: PATIENCE_MS });
    console.log(done.status === 0 ? done.stdout.trimEnd() : `| ${name} | failed: ${firstLine(done.stderr)} | | | | |`);
  }
}

function firstLine(text: string): string {
  return text.split("\n").find((line) => /error/i.test(line)) ?? "no reason was given";
}

async function comparePair(then: string, name: string, seconds: number): Promise<void> {
  const old = (await loadBenches(then)).get(name)!;
  const own = (await loadBenches(here())).get(name)!;
  const missing = own.unavailable?.() ?? old.unavailable?.() ?? null;
  if (missing !== null) {
    console.log(`| ${name} | skipped: ${missing} | | | | |`);
    return;
  }
  // The smallest size: what is compared is the code, and a large corpus takes long to make twice.
  const size = own.sizes.find((one) => old.sizes.includes(one)) ?? own.sizes[0]!;
  const sides = [await old.prepare(size), await own.prepare(size)] as const;
  const compared = await measure(name, size, sides, seconds);
  for (const side of sides) await side.close?.();
  console.log(formatRow(compared));
  // What a bench leaves open ends with its process.
  process.exit(0);
}

async function measure(name: string, size: number, sides: readonly [Pair, Pair], seconds: number): Promise<Compared> {
  const taken: [number, number][] = [];
  const end = performance.now() + seconds * 1000;
  for (let at = -WARM_PAIRS; at < LEAST_PAIRS || (at < MOST_PAIRS && performance.now() < end); at++) {
    // Whoever comes second finds caches and memory as the other left them, so that they change places.
    const isTurned = at % 2 !== 0;
    const first = await take(sides[isTurned ? 1 : 0]);
    const second = await take(sides[isTurned ? 0 : 1]);
    if (at >= 0) taken.push(isTurned ? [second, first] : [first, second]);
  }
  return {
    name,
    size,
    pairs: taken.length,
    then_ms: median(taken.map(([then]) => then)),
    now_ms: median(taken.map(([, now]) => now)),
    ratio: median(taken.map(([then, now]) => now / then)),
  };
}

async function take(side: Pair): Promise<number> {
  await side.before?.();
  const started = process.cpuUsage();
  await side.ours();
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1000;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}

function formatRow({ name, size, pairs, then_ms, now_ms, ratio }: Compared): string {
  return `| ${name} | ${size} | ${pairs} | ${then_ms.toFixed(2)} ms | ${now_ms.toFixed(2)} ms | ${ratio.toFixed(2)}x |`;
}

function here(): string {
  return fileURLToPath(new URL(".", import.meta.url));
}

/** The benches of a bundle, by name. A module that needs what is not installed any more is passed over, and said. */
async function loadBenches(bundle: string): Promise<ReadonlyMap<string, Bench>> {
  const benches: Bench[] = [];
  const files = readdirSync(join(bundle, "benches")).filter((file) => file.endsWith(".js"));
  for (const file of sortedByCodePoint(files)) {
    try {
      const module = (await import(pathToFileURL(join(bundle, "benches", file)).href)) as Record<string, Bench>;
      benches.push(...Object.values(module));
    } catch (thrown) {
      console.error(`${file} does not load: ${firstLine(String(thrown))}`);
    }
  }
  return new Map(benches.map((bench) => [bench.name, bench]));
}

Promise.resolve()
  .then(main)
  .catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 2;
  });
