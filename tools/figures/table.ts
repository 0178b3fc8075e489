import { readFileSync } from "node:fs";
import { cruiseSources } from "../docs/floor-plan.ts";
import { listCasts } from "./casts.ts";
import { FACTS, listPlaces } from "./definitions.ts";
import { listAdapterImporters, listDeepImports } from "./imports.ts";
import { listPassedByAgent, listPassedByExpand } from "./passed.ts";
import { countSize, readSources } from "./sources.ts";

/** One figure: as someone counted by hand in the beginning, as these scripts counted then, now, and what is wanted. */
export interface Figure {
  readonly name: string;
  readonly byHand: string;
  readonly before: string;
  readonly now: string;
  readonly goal: string;
  /** What was counted, for who wants to know where. */
  readonly found: readonly string[];
}

/** Source files that a person edits to add a thing, each with a text that stands in it; no script can find these. */
export function readEdits(): Readonly<Record<string, Readonly<Record<string, string>>>> {
  return JSON.parse(readFileSync(new URL("./edits.json", import.meta.url), "utf8")) as never;
}

/** The main line of an agent run, as a reader who follows it names it; a file that the run does not pass is an error. */
export function readMainLine(passed: readonly string[]): string[] {
  const named = JSON.parse(readFileSync(new URL("./main-line.json", import.meta.url), "utf8")) as string[];
  const strange = named.filter((file) => !passed.includes(file));
  if (strange.length > 0) throw new Error(`main-line.json names files that a run does not pass: ${strange.join(", ")}`);
  return named;
}

/** Names and goals of the figures in their order; the counts of the beginning are those of 464d5f8 and of 10e9b2b. */
export const ROWS = {
  expand: { name: "files passed by `verbatim expand`, main to bytes", byHand: "34", before: "34", goal: "at most 20" },
  agent: { name: "files passed by `verbatim agent`, all of them", byHand: "-", before: "151", goal: "-" },
  mainLine: {
    name: "files on the main line of `verbatim agent`, which a reader names",
    byHand: "60",
    before: "-",
    goal: "at most 35",
  },
  places: {
    name: `places that define: ${FACTS.map(({ name }) => name).join(", ")}`,
    byHand: "7, 2, 2, 2, 10",
    before: "7, 2, 2, 3, 11",
    goal: "1 each",
  },
  edits: {
    name: `hand-edited source files to add: ${Object.keys(readEdits()).join(", ")}`,
    byHand: "5, 10, 12, 10, 9",
    before: "5, 10, 12, 10, 9",
    goal: "at most 3 each",
  },
  size: {
    name: "production files / lines",
    byHand: "767 / 77,000",
    before: "813 / 81,420",
    goal: "at most 600 / 70,000 without new features",
  },
  casts: { name: "`as never` and `as unknown as`", byHand: "189", before: "201", goal: "at most 20" },
  deep: { name: "modules inside rooms that app imports", byHand: "81", before: "84", goal: "0" },
  adapters: { name: "files that import adapters outside app/compose", byHand: "25", before: "32", goal: "0" },
} as const;

/** Counts everything from the sources below a root. Takes a while: two calls of the program are watched. */
export function countFigures(root: string): Figure[] {
  const sources = readSources(root);
  const modules = cruiseSources();
  const places = FACTS.map((fact) => listPlaces(sources, fact));
  const byAgent = listPassedByAgent(root);
  const edits = Object.values(readEdits()).map((files) => Object.keys(files));
  const { files, lines } = countSize(sources);
  const one = (row: keyof typeof ROWS, found: readonly string[], now = String(found.length)): Figure => ({
    ...ROWS[row],
    found,
    now,
  });
  return [
    one("expand", listPassedByExpand(root)),
    one("agent", byAgent),
    one("mainLine", readMainLine(byAgent)),
    one("places", places.flat(), places.map(({ length }) => length).join(", ")),
    one("edits", edits.flat(), edits.map(({ length }) => length).join(", ")),
    one("size", [], `${files} / ${lines.toLocaleString("en-US")}`),
    one("casts", listCasts(sources)),
    one("deep", listDeepImports(modules)),
    one("adapters", listAdapterImporters(modules)),
  ];
}

export function formatFigures(figures: readonly Figure[]): string {
  const rows = figures.map(
    ({ name, byHand, before, now, goal }) => `| ${[name, byHand, before, now, goal].join(" | ")} |`,
  );
  const head = ["| figure | by hand | before | now | goal |", "|---|---|---|---|---|"];
  return `${[...head, ...rows].join("\n")}\n`;
}
