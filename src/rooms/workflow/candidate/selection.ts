import { VerbatimError } from "../../../core/errors/index.ts";
import { compilePathPattern, isUnder, showPath } from "../../../core/paths/index.ts";
import type { Candidate, CandidateFile, CandidatePick } from "../contracts/candidate.ts";

/** What a person chose of a candidate: `--only` and `--except`, each a list of SPECs, or what exactly is taken. */
export interface SelectionRequest {
  readonly only: readonly string[];
  readonly except: readonly string[];
  /** In place of `only`: paths as they are and hunks by number, whatever a SPEC would make of them. */
  readonly picks?: readonly CandidatePick[] | undefined;
}

/** A hunk or a part of one: `3`, `3.1`. */
type Unit = string;

/** The whole of a file, or some of its hunks. */
type Wanted = "all" | ReadonlySet<Unit>;

const ID = /^h_[0-9a-f]{12}$/;
const LIST = /^(?:(?:[0-9]+(?:\.[0-9]+|-[0-9]+)?|h_[0-9a-f]{12})(?:,|$))+$/;

/**
 * The picks of a selection, by path. A SPEC is a path, a folder, a glob, `PATH:1,3-4` with numbers, parts (`3.1`) or ids of
 * hunks, or the id of one hunk alone. Without `--only` everything is chosen that `--except` leaves.
 * SELECTION_INVALID: a SPEC names nothing, or nothing is left.
 */
export function resolveSelection(candidate: Candidate, { only, except, picks }: SelectionRequest): CandidatePick[] {
  const files = joinByPath(candidate.files);
  const taken =
    picks !== undefined
      ? readPicks(files, picks)
      : new Map<string, Wanted>(only.length === 0 ? files.map(({ path }) => [path, "all"]) : collect(files, only));
  for (const [path, left] of collect(files, except)) {
    const wanted = taken.get(path);
    if (wanted === undefined) continue;
    const file = files.find((one) => one.path === path)!;
    const rest = left === "all" ? [] : [...toUnits(file, wanted)].filter((unit) => !toUnits(file, left).has(unit));
    if (rest.length === 0) taken.delete(path);
    else taken.set(path, new Set(rest));
  }
  const chosen = files.flatMap((file) => {
    const wanted = taken.get(file.path);
    return wanted === undefined ? [] : [toPick(file, wanted)];
  });
  if (chosen.length === 0) throw invalid("nothing of the change is left to choose");
  return chosen;
}

/** A path that appears twice, as a deletion and an addition, is taken or left whole. */
function joinByPath(files: readonly CandidateFile[]): CandidateFile[] {
  const joined = new Map<string, CandidateFile>();
  for (const file of files) {
    if (joined.has(file.path)) joined.set(file.path, { ...file, hunks: [] });
    else joined.set(file.path, file);
  }
  return [...joined.values()];
}

function collect(files: readonly CandidateFile[], specs: readonly string[]): Map<string, Wanted> {
  const all = new Map<string, Wanted>();
  for (const spec of specs) {
    for (const [path, wanted] of readSpec(files, spec)) {
      const before = all.get(path);
      const isWhole = before === "all" || wanted === "all";
      all.set(path, isWhole ? "all" : new Set([...(before ?? []), ...wanted]));
    }
  }
  return all;
}

function readPicks(files: readonly CandidateFile[], picks: readonly CandidatePick[]): Map<string, Wanted> {
  const all = new Map<string, Wanted>();
  for (const { path, hunks } of picks) {
    const file = files.find((one) => one.path === path);
    if (file === undefined) throw invalid(`nothing in the change is called ${showPath(path)}`);
    all.set(path, hunks === "all" ? "all" : readHunkList(file, hunks.join(",")));
  }
  return all;
}

function readSpec(files: readonly CandidateFile[], spec: string): (readonly [path: string, wanted: Wanted])[] {
  // A name is what it says, whatever characters it holds.
  const named = files.filter(({ path }) => isUnder(path, spec.replace(/\/+$/, "")));
  if (named.length > 0 && spec !== "") return named.map(({ path }) => [path, "all"]);
  if (ID.test(spec)) return [findById(files, spec)];
  const colon = spec.lastIndexOf(":");
  const file = colon === -1 ? undefined : files.find(({ path }) => path === spec.slice(0, colon));
  if (file !== undefined) return [[file.path, readHunkList(file, spec.slice(colon + 1))]];
  const pattern = compilePathPattern(spec, { fold: false });
  const matched = spec === "" ? [] : files.filter(({ path }) => pattern.matches(path));
  if (matched.length === 0) throw invalid(`nothing in the change is called ${showPath(spec)}`);
  return matched.map(({ path }) => [path, "all"]);
}

function findById(files: readonly CandidateFile[], id: string): readonly [string, Wanted] {
  for (const file of files) {
    const hunk = file.hunks?.find((one) => one.id === id);
    if (hunk !== undefined) return [file.path, unitsOf(file, hunk.n)];
  }
  throw invalid(`there is no hunk ${id} in the change`);
}

function readHunkList(file: CandidateFile, list: string): ReadonlySet<Unit> {
  const where = showPath(file.path);
  if (!LIST.test(list) || list.endsWith(",")) {
    throw invalid(`${JSON.stringify(list)} does not name hunks of ${where}; write for example 1,3-4 or 3.1`);
  }
  const hunks = file.hunks ?? [];
  if (hunks.length === 0) throw invalid(`there are no hunks in ${where}; it is taken or left whole`);
  const units = new Set<Unit>();
  for (const item of list.split(",")) {
    const range = /^([0-9]+)-([0-9]+)$/.exec(item);
    const [first, last] = range === null ? [item, item] : [range[1]!, range[2]!];
    const whole = hunks.filter(({ n, id }) =>
      range === null ? String(n) === item || id === item : n >= Number(first) && n <= Number(last),
    );
    const parts = hunks.flatMap((hunk) => hunk.parts ?? []).filter(({ n }) => n === item);
    const isThere = range === null || [first, last].every((end) => hunks.some(({ n }) => String(n) === end));
    if (!isThere || whole.length + parts.length === 0) {
      throw invalid(`there is no hunk ${item} in ${where}; it has ${describe(file)}`);
    }
    for (const { n } of whole) for (const unit of unitsOf(file, n)) units.add(unit);
    for (const { n } of parts) units.add(n);
  }
  return units;
}

function describe({ hunks = [] }: CandidateFile): string {
  return hunks.length === 1 ? "one" : `${hunks.length}`;
}

/** A hunk in its smallest parts. */
function unitsOf(file: CandidateFile, n: number): ReadonlySet<Unit> {
  const parts = file.hunks?.find((hunk) => hunk.n === n)?.parts;
  return new Set(parts === undefined ? [String(n)] : parts.map((part) => part.n));
}

function toUnits(file: CandidateFile, wanted: Wanted): ReadonlySet<Unit> {
  if (wanted !== "all") return wanted;
  return new Set((file.hunks ?? []).flatMap(({ n }) => [...unitsOf(file, n)]));
}

/** All parts of a hunk are the hunk, and all hunks are the file. */
function toPick(file: CandidateFile, wanted: Wanted): CandidatePick {
  const { path, hunks = [] } = file;
  if (wanted === "all") return { path, hunks: "all" };
  const picked = hunks.flatMap(({ n, parts }): (number | string)[] => {
    const units = (parts ?? [{ n: String(n) }]).map((part) => part.n).filter((unit) => wanted.has(unit));
    return units.length === (parts ?? [n]).length ? [n] : units;
  });
  const isWhole = picked.length === hunks.length && picked.every((n) => typeof n === "number");
  return { path, hunks: isWhole ? "all" : picked };
}

function invalid(message: string): VerbatimError {
  return new VerbatimError("SELECTION_INVALID", { message });
}
