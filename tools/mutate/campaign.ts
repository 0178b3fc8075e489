import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { sortedByCodePoint } from "../../src/core/canonical/index.ts";
import { ThrowAwayCopy } from "./bench-copy.ts";
import { listMutants, type Mutant, plant } from "./mutants.ts";
import { ImportGraph } from "./near-tests.ts";

export interface CampaignOptions {
  readonly root: string;
  /** Files and folders below the root. */
  readonly paths: readonly string[];
  /** Where results are kept between runs. */
  readonly state: string;
  readonly minutes: number;
  /** How many test files, the nearest first, a mistake has to get past. */
  readonly tests: number;
  readonly log: Log;
}

export interface Survivor {
  readonly file: string;
  readonly line: number;
  readonly original: string;
  readonly replacement: string;
}

export interface FolderScore {
  readonly folder: string;
  readonly mutants: number;
  readonly run: number;
  readonly killed: number;
  readonly survived: number;
  /** Killed of those that ran, in per cent; null where none ran. */
  readonly score: number | null;
}

export interface CampaignReport {
  readonly folders: readonly FolderScore[];
  readonly survivors: readonly Survivor[];
  /** False when the time was over before every mistake was tried. */
  readonly complete: boolean;
}

type Verdict = "killed" | "survived";

interface Subject {
  readonly file: string;
  readonly text: string;
  readonly tests: readonly string[];
  readonly key: string;
  readonly mutants: readonly Mutant[];
}

type Log = (line: string) => void;

const SLACK_MS = 20_000;
const BASELINE_MS = 300_000;

/** Plants one mistake after another and asks the tests, until all are tried or the time is over. */
export async function runCampaign(options: CampaignOptions): Promise<CampaignReport> {
  const { root, state, log } = options;
  const graph = new ImportGraph(
    root,
    ["src", "test"].filter((folder) => existsSync(join(root, folder))),
  );
  const subjects = listSources(root, options.paths).map((file) => toSubject(root, graph, file, options.tests));
  const verdicts = readState(state);
  const ends = Date.now() + options.minutes * 60_000;
  const copy = new ThrowAwayCopy(root);
  try {
    // One mistake of every file in turn: whenever the time is over, every file has had its share.
    const known: Known = new Map();
    for (let turn = 0; Date.now() < ends; turn++) {
      const left = subjects.filter(({ mutants }) => mutants.length > turn);
      if (left.length === 0) break;
      for (const subject of left) {
        const mutant = spread(subject.mutants, turn);
        const id = `${subject.key}:${mutant.id}`;
        if (verdicts.has(id) || Date.now() >= ends) continue;
        const baseline = await measure(copy, subject, known, log);
        // A mistake that nobody was asked about has not survived anything.
        if (baseline.tests.length === 0) continue;
        const verdict = await judge(copy, subject, mutant, baseline);
        verdicts.set(id, verdict);
        writeState(state, verdicts);
        if (verdict === "survived") log(`survived ${describe(subject.file, mutant)}`);
      }
    }
  } finally {
    copy.remove();
  }
  return report(subjects, verdicts);
}

/** Another mistake at every turn, in an order that jumps through the file, so that a part of them speaks for all. */
function spread(mutants: readonly Mutant[], turn: number): Mutant {
  const order = [...mutants].sort((a, b) => (a.id < b.id ? -1 : 1));
  return order[turn]!;
}

interface Baseline {
  readonly tests: readonly string[];
  readonly ms: number;
}

/** How long each test takes without a mistake, null where it does not pass; asked once for all files. */
type Known = Map<string, number | null>;

/** Which tests of a file pass without a mistake, the quickest first, and how long they take together. */
async function measure(copy: ThrowAwayCopy, { tests }: Subject, known: Known, log: Log): Promise<Baseline> {
  for (const test of tests) {
    if (known.has(test)) continue;
    const answer = await copy.run([test], BASELINE_MS);
    const one = answer?.ran[0];
    known.set(test, one === undefined || one.failed ? null : one.ms);
    if (known.get(test) === null) log(`left out: ${test} does not pass here without a mistake`);
  }
  const passed = tests.flatMap((test) => {
    const ms = known.get(test);
    return ms == null ? [] : [{ test, ms }];
  });
  passed.sort((x, y) => x.ms - y.ms);
  return { tests: passed.map(({ test }) => test), ms: passed.reduce((sum, { ms }) => sum + ms, 0) };
}

async function judge(
  copy: ThrowAwayCopy,
  { file, text }: Subject,
  mutant: Mutant,
  baseline: Baseline,
): Promise<Verdict> {
  copy.write(file, plant(text, mutant));
  try {
    const answer = await copy.run(baseline.tests, baseline.ms * 4 + SLACK_MS);
    // Tests that never end have noticed.
    return answer === null || answer.ran.some(({ failed }) => failed) ? "killed" : "survived";
  } finally {
    copy.write(file, text);
  }
}

function toSubject(root: string, graph: ImportGraph, file: string, most: number): Subject {
  const text = readFileSync(join(root, file), "utf8");
  const tests = graph.nearTests(file, most);
  const hash = createHash("sha256");
  for (const test of tests) hash.update(`${test}\0${graph.textOf(test)}\0`);
  return { file, text, tests, key: `${file}:${hash.digest("hex").slice(0, 16)}`, mutants: listMutants(file, text) };
}

function listSources(root: string, paths: readonly string[]): string[] {
  const found: string[] = [];
  const visit = (path: string): void => {
    if (!statSync(join(root, path)).isDirectory()) {
      if (path.endsWith(".ts") && !path.endsWith(".test.ts")) found.push(path);
      return;
    }
    for (const name of readdirSync(join(root, path))) visit(`${path}/${name}`);
  };
  for (const path of paths) visit(path.replace(/\/+$/, ""));
  return sortedByCodePoint(new Set(found));
}

function report(subjects: readonly Subject[], verdicts: ReadonlyMap<string, Verdict>): CampaignReport {
  const folders = new Map<string, { mutants: number; run: number; killed: number; survived: number }>();
  const survivors: Survivor[] = [];
  for (const { file, key, mutants } of subjects) {
    const folder = dirname(file);
    const sums = folders.get(folder) ?? { mutants: 0, run: 0, killed: 0, survived: 0 };
    folders.set(folder, sums);
    for (const mutant of mutants) {
      const verdict = verdicts.get(`${key}:${mutant.id}`);
      sums.mutants += 1;
      if (verdict === undefined) continue;
      sums.run += 1;
      sums[verdict] += 1;
      const { line, original, replacement } = mutant;
      if (verdict === "survived") survivors.push({ file, line, original, replacement });
    }
  }
  const rows = [...folders].map(([folder, sums]) => {
    return { folder, ...sums, score: sums.run === 0 ? null : Math.round((sums.killed * 1000) / sums.run) / 10 };
  });
  return { folders: rows, survivors, complete: rows.every(({ mutants, run }) => mutants === run) };
}

/** One line for a mistake: where, and what stands there instead. */
export function describe(file: string, { line, original, replacement }: Omit<Survivor, "file">): string {
  const short = (text: string) => {
    const plain = text.replace(/\s+/g, " ");
    return plain.length > 60 ? `${plain.slice(0, 57)}...` : plain;
  };
  return `${file}:${line}: ${short(original)} -> ${replacement === ";" ? "(removed)" : short(replacement)}`;
}

function readState(file: string): Map<string, Verdict> {
  if (!existsSync(file)) return new Map();
  return new Map(Object.entries(JSON.parse(readFileSync(file, "utf8")) as Record<string, Verdict>));
}

function writeState(file: string, verdicts: ReadonlyMap<string, Verdict>): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(verdicts), null, 1)}\n`);
}
