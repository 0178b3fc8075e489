import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { compareCodePoints, sortedByCodePoint } from "../../src/core/canonical/index.ts";
import { ThrowAwayCopy } from "./bench-copy.ts";
import { Judge, type Log, type Verdict } from "./judge.ts";
import { listMutants, type Mutant } from "./mutants.ts";
import { ImportGraph } from "./near-tests.ts";
import { plantAll } from "./switched.ts";

export interface CampaignOptions {
  readonly root: string;
  /** Files and folders below the root. */
  readonly paths: readonly string[];
  /** Where results are kept between runs. */
  readonly state: string;
  readonly minutes: number;
  /** How many test files, the nearest first, a mistake has to get past. */
  readonly tests: number;
  /** Test files that take longer than this without a mistake are left out; 300 unless told otherwise. */
  readonly seconds?: number;
  /** How many mistakes of a folder are tried, or all. */
  readonly most?: number;
  /** Only mistakes that may turn a refusal into an acceptance. */
  readonly refusals?: boolean;
  readonly log: Log;
}

export interface Survivor {
  readonly file: string;
  readonly line: number;
  readonly original: string;
  readonly replacement: string;
  readonly refusal: boolean;
}

export interface FolderScore {
  readonly folder: string;
  readonly mutants: number;
  /** How many of them this run was asked to try. */
  readonly chosen: number;
  readonly run: number;
  readonly killed: number;
  readonly survived: number;
  /** Of those that ran: may turn a refusal into an acceptance, and how many of these survived. */
  readonly refusals: number;
  readonly refusals_survived: number;
  /** Killed of those that ran, in per cent; null where none ran. */
  readonly score: number | null;
}

export interface CampaignReport {
  readonly folders: readonly FolderScore[];
  readonly survivors: readonly Survivor[];
  /** False when the time was over before every chosen mistake was tried. */
  readonly complete: boolean;
}

interface Subject {
  readonly file: string;
  readonly text: string;
  readonly tests: readonly string[];
  readonly key: string;
  readonly mutants: readonly Mutant[];
  /** Tests that noticed a mistake of this file, the latest first: they are asked first. */
  readonly noticed: string[];
}

interface Chosen {
  readonly subject: Subject;
  readonly mutant: Mutant;
}

type Sums = { -readonly [K in Exclude<keyof FolderScore, "folder" | "score">]: number };

const NONE: Sums = { mutants: 0, chosen: 0, run: 0, killed: 0, survived: 0, refusals: 0, refusals_survived: 0 };

/** Plants one mistake after another and asks the tests, until all are tried or the time is over. */
export async function runCampaign(options: CampaignOptions): Promise<CampaignReport> {
  const { root, state, log } = options;
  const graph = new ImportGraph(
    root,
    ["src", "test"].filter((folder) => existsSync(join(root, folder))),
  );
  const subjects = listSources(root, options.paths).map((file) => toSubject(root, graph, file, options.tests));
  const chosen = choose(subjects, options);
  const verdicts = readState(state);
  const ends = Date.now() + options.minutes * 60_000;
  const copy = new ThrowAwayCopy(root);
  try {
    const numbers = plantIn(copy, subjects);
    const judge = new Judge(copy, (options.seconds ?? 300) * 1000, log);
    for (const { subject, mutant } of chosen) {
      if (Date.now() >= ends) break;
      const id = idOf(subject, mutant);
      if (verdicts.has(id)) continue;
      const verdict = await judge.judge(subject, numbers.get(mutant)!);
      // A mistake that nobody was asked about has not survived anything.
      if (verdict === null) continue;
      verdicts.set(id, verdict);
      writeState(state, verdicts);
      if (verdict === "survived") log(describe(subject.file, mutant));
    }
  } finally {
    copy.remove();
  }
  return report(subjects, chosen, verdicts);
}

/**
 * A sample of each folder in the order of the ids, which jumps through the files, so that a part speaks for all. Those
 * that may turn a refusal into an acceptance come first; then every folder has its share whenever the time is over.
 */
function choose(subjects: readonly Subject[], { most = Infinity, refusals = false }: CampaignOptions): Chosen[] {
  const ranks = new Map<string, number>();
  return subjects
    .flatMap((subject) => subject.mutants.map((mutant) => ({ subject, mutant })))
    .filter(({ mutant }) => mutant.refusal || !refusals)
    .sort((a, b) => compareCodePoints(a.mutant.id, b.mutant.id))
    .map(({ subject, mutant }) => {
      const rank = ranks.get(dirname(subject.file)) ?? 0;
      ranks.set(dirname(subject.file), rank + 1);
      return { subject, mutant, rank };
    })
    .filter(({ rank }) => rank < most)
    .sort((a, b) => Number(b.mutant.refusal) - Number(a.mutant.refusal) || a.rank - b.rank);
}

/** Puts every mistake of every file into the copy, behind a switch; the number of each. */
function plantIn(copy: ThrowAwayCopy, subjects: readonly Subject[]): Map<Mutant, number> {
  const numbers = new Map<Mutant, number>();
  for (const { file, text, mutants } of subjects) {
    copy.write(file, plantAll(file, text, mutants, numbers.size + 1));
    for (const mutant of mutants) numbers.set(mutant, numbers.size + 1);
  }
  return numbers;
}

function idOf(subject: Subject, mutant: Mutant): string {
  return `${subject.key}:${mutant.id}`;
}

function toSubject(root: string, graph: ImportGraph, file: string, most: number): Subject {
  const text = readFileSync(join(root, file), "utf8");
  const tests = graph.nearTests(file, most);
  const hash = createHash("sha256");
  for (const test of tests) hash.update(`${test}\0${graph.textOf(test)}\0`);
  const key = `${file}:${hash.digest("hex").slice(0, 16)}`;
  return { file, text, tests, key, mutants: listMutants(file, text), noticed: [] };
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

function report(
  subjects: readonly Subject[],
  chosen: readonly Chosen[],
  verdicts: ReadonlyMap<string, Verdict>,
): CampaignReport {
  const folders = new Map<string, Sums>();
  for (const { file, mutants } of subjects) {
    const sums = folders.get(dirname(file)) ?? { ...NONE };
    folders.set(dirname(file), { ...sums, mutants: sums.mutants + mutants.length });
  }
  const survivors: (Survivor & { readonly start: number })[] = [];
  for (const { subject, mutant } of chosen) {
    const sums = folders.get(dirname(subject.file))!;
    const verdict = verdicts.get(idOf(subject, mutant));
    sums.chosen += 1;
    if (verdict === undefined) continue;
    const { line, start, original, replacement, refusal } = mutant;
    sums.run += 1;
    sums[verdict] += 1;
    if (refusal) sums.refusals += 1;
    if (verdict === "killed") continue;
    if (refusal) sums.refusals_survived += 1;
    survivors.push({ file: subject.file, line, start, original, replacement, refusal });
  }
  survivors.sort((a, b) => compareCodePoints(a.file, b.file) || a.start - b.start);
  const rows = [...folders].map(([folder, sums]) => {
    return { folder, ...sums, score: sums.run === 0 ? null : Math.round((sums.killed * 1000) / sums.run) / 10 };
  });
  return {
    folders: rows,
    survivors: survivors.map(({ start: _, ...one }) => one),
    complete: rows.every(({ chosen, run }) => chosen === run),
  };
}

/** One line for a survivor: where, what stands there instead, and whether it may accept what was refused. */
export function describe(file: string, { line, original, replacement, refusal }: Omit<Survivor, "file">): string {
  const short = (text: string) => {
    const plain = text.replace(/\s+/g, " ");
    return plain.length > 60 ? `${plain.slice(0, 57)}...` : plain;
  };
  return `survived${refusal ? " (refusal)" : ""} ${file}:${line}: ${short(original)} -> ${replacement === ";" ? "(removed)" : short(replacement)}`;
}

function readState(file: string): Map<string, Verdict> {
  if (!existsSync(file)) return new Map();
  return new Map(Object.entries(JSON.parse(readFileSync(file, "utf8")) as Record<string, Verdict>));
}

function writeState(file: string, verdicts: ReadonlyMap<string, Verdict>): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(verdicts), null, 1)}\n`);
}
