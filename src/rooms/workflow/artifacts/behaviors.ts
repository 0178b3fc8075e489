import { compareCodePoints, sortedByCodePoint } from "../../../core/canonical/index.ts";
import { isUnder } from "../../../core/paths/index.ts";
import { Fences, readLines } from "./text.ts";

/** How behaviours are marked in code and where their catalogue is (Artifact Contracts F.3). */
export interface BehaviorConfig {
  readonly index: string;
  readonly roots: readonly string[];
  readonly exclude_prefixes: readonly string[];
  readonly exclude_extensions: readonly string[];
  readonly marker: string;
  readonly comment_prefixes: readonly string[] | null;
  readonly max_file_bytes: number;
}

interface IndexEntry {
  readonly id: string;
  readonly line: number;
  /** The page named in the line, or null. */
  readonly page: string | null;
}

interface BehaviorError {
  readonly code: string;
  readonly id: string;
  readonly item?: string;
  readonly file: string;
  readonly line: number | null;
  readonly message: string;
}

/**
 * The ids a text is marked with, in order, each once; `line` is that of its first marker.
 *
 * @example
 * findMarkers("// BEHAVIOR_ID: B001", { marker: "BEHAVIOR_ID", comment_prefixes: null }); // => [{ id: "B001", line: 1 }]
 */
export function findMarkers(
  text: string,
  config: Pick<BehaviorConfig, "marker" | "comment_prefixes">,
): { readonly id: string; readonly line: number }[] {
  if (!text.includes(config.marker)) return [];
  const word = config.marker.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const marker = new RegExp(
    `(?<![A-Za-z0-9_])${word}[ \\t]*[:=][ \\t]*["'\`]?(B[0-9]{3}(?:[ \\t,]+B[0-9]{3})*)(?![A-Za-z0-9_])`,
    "g",
  );
  const found = new Map<string, number>();
  for (const [i, line] of text.split("\n").entries()) {
    if (!line.includes(config.marker)) continue;
    const start = line.trimStart();
    if (config.comment_prefixes !== null && !config.comment_prefixes.some((prefix) => start.startsWith(prefix)))
      continue;
    for (const match of line.matchAll(marker)) {
      for (const id of match[1]!.split(/[ \t,]+/)) if (!found.has(id)) found.set(id, i + 1);
    }
  }
  return [...found].map(([id, line]) => ({ id, line }));
}

const ENTRY = /^[ \t]*(?:(?:[-*+]|[0-9]+[.)])[ \t]+|\|[ \t]*)\[?(B[0-9]{3})(?![A-Za-z0-9_])/;
const PAGE = /(?<![A-Za-z0-9_-])B[0-9]{3}-[a-z0-9][a-z0-9-]*\.md(?![A-Za-z0-9_-])/;

/** The entries of INDEX.md, repeated ones included. */
export function readBehaviorIndex(text: string): IndexEntry[] {
  return readLines(text, "").lines.flatMap((line, i) => {
    const id = ENTRY.exec(line)?.[1];
    return id === undefined ? [] : [{ id, line: i + 1, page: PAGE.exec(line)?.[0] ?? null }];
  });
}

/** The headings every behaviour page must have. */
const PAGE_HEADINGS = ["## Reason", "## Behavior", "## Result"] as const;

/** The required headings a page lacks. */
export function findMissingHeadings(page: string): string[] {
  const fences = new Fences();
  const present = new Set(readLines(page, "").lines.filter((line) => !fences.covers(line)));
  return PAGE_HEADINGS.filter((heading) => !present.has(heading));
}

/** Whether a tracked file is searched for markers. */
export function isMarkedFile(path: string, config: BehaviorConfig): boolean {
  const folder = config.index.includes("/") ? config.index.slice(0, config.index.lastIndexOf("/")) : null;
  const lower = path.toLowerCase();
  return (
    config.roots.some((root) => root === "." || isUnder(path, root.replace(/\/+$/, ""))) &&
    (folder === null || !isUnder(path, folder)) &&
    !config.exclude_prefixes.some((prefix) => isUnder(path, prefix.replace(/\/+$/, ""))) &&
    !config.exclude_extensions.some((extension) => lower.endsWith(extension.toLowerCase()))
  );
}

/** What the catalogue check reads: the index and its pages, and the marked files. */
interface CatalogInput {
  readonly index: string | null;
  /** The text of a page next to the index, or null. */
  readonly page: (name: string) => string | null;
  /** Texts of the files that are searched, by path. */
  readonly code: Iterable<readonly [path: string, text: string]>;
}

/**
 * The gate behavior_catalog_check: marker -> index entry -> page, and back.
 *
 * @example
 * declare const config: BehaviorConfig;
 * const code = [["src/clock.mjs", "// BEHAVIOR_ID: B001"]] as const;
 * const { errors } = checkBehaviors({ index: null, page: () => null, code }, config);
 */
export function checkBehaviors(
  input: CatalogInput,
  config: BehaviorConfig,
): { readonly errors: readonly BehaviorError[]; readonly note?: "catalog_absent" } {
  const errors: BehaviorError[] = [];
  const marked = new Map<string, { readonly file: string; readonly line: number }>();
  for (const [file, text] of input.code) {
    for (const { id, line } of findMarkers(text, config)) if (!marked.has(id)) marked.set(id, { file, line });
  }
  const indexed = input.index === null ? new Map<string, IndexEntry>() : collectEntries(input.index, config, errors);
  for (const id of sortedByCodePoint(marked.keys())) {
    if (!indexed.has(id)) {
      errors.push({
        code: "BEHAVIOR_NOT_IN_INDEX",
        id,
        ...marked.get(id)!,
        message: `${id} is marked but not in the index`,
      });
    }
  }
  for (const entry of indexed.values()) {
    if (!marked.has(entry.id))
      errors.push(indexError("BEHAVIOR_NO_MARKER", entry, config, "no code is marked with it"));
    checkPage(entry, input, config, errors);
  }
  errors.sort(
    (a, b) =>
      compareCodePoints(a.code, b.code) ||
      compareCodePoints(a.id, b.id) ||
      compareCodePoints(a.item ?? "", b.item ?? ""),
  );
  return input.index === null ? { errors, note: "catalog_absent" } : { errors };
}

function collectEntries(index: string, config: BehaviorConfig, errors: BehaviorError[]): Map<string, IndexEntry> {
  const entries = new Map<string, IndexEntry>();
  for (const entry of readBehaviorIndex(index)) {
    if (!entries.has(entry.id)) entries.set(entry.id, entry);
    else
      errors.push(
        indexError("BEHAVIOR_INDEX_DUPLICATE", entry, config, "is in the index twice; the first entry is used"),
      );
  }
  return entries;
}

function checkPage(entry: IndexEntry, input: CatalogInput, config: BehaviorConfig, errors: BehaviorError[]): void {
  const { id, page } = entry;
  if (page === null) {
    errors.push(indexError("BEHAVIOR_INDEX_NO_PAGE", entry, config, "its line does not name a page B###-<slug>.md"));
  } else if (!page.startsWith(`${id}-`)) {
    errors.push(indexError("BEHAVIOR_PAGE_ID_MISMATCH", entry, config, `its line names the page ${page}`, page));
  } else {
    const text = input.page(page);
    if (text === null)
      errors.push(indexError("BEHAVIOR_PAGE_MISSING", entry, config, `the page ${page} does not exist`, page));
    for (const heading of text === null ? [] : findMissingHeadings(text)) {
      errors.push({
        code: "BEHAVIOR_HEADING_MISSING",
        id,
        item: heading,
        file: pagePath(config, page),
        line: null,
        message: `${page} has no line ${heading}`,
      });
    }
  }
}

/** Where a page is: next to the index. */
export function pagePath(config: Pick<BehaviorConfig, "index">, page: string): string {
  const slash = config.index.lastIndexOf("/");
  return slash === -1 ? page : `${config.index.slice(0, slash)}/${page}`;
}

function indexError(
  code: string,
  { id, line }: IndexEntry,
  config: BehaviorConfig,
  message: string,
  item?: string,
): BehaviorError {
  return { code, id, file: config.index, line, message: `${id}: ${message}`, ...(item === undefined ? {} : { item }) };
}
