import {
  formatCanonical,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  sortedByCodePoint,
} from "../../../core/canonical/index.ts";
import { type DomainDiff, formatDomainDiff } from "../tree/diff.ts";
import { readEntry, readTree } from "../tree/tree.ts";

/** What a command changed in its view of the repository. */
export interface ViewChanges extends DomainDiff {
  /** Special files, names that are not UTF-8 and what is too large: they cannot travel. */
  readonly refused: readonly string[];
  /** Those of the refused that are too large. */
  readonly large: readonly string[];
  /** Paths that belong to the tool or are forbidden to every command, and that are otherwise in the view. */
  readonly reserved: readonly string[];
  /** How many paths that git ignores changed. */
  readonly ignored: number;
  /** Paths someone else changed in the real tree meanwhile. */
  readonly concurrent: readonly string[];
  /** Commits the command made in its private repository; null when there are too many to count. */
  readonly commits: number | null;
}

/** A view in which nothing changed, or of which nothing can be taken over. */
export const NO_CHANGES: ViewChanges = {
  added: new Map(),
  removed: new Map(),
  changed: new Map(),
  refused: [],
  large: [],
  reserved: [],
  ignored: 0,
  concurrent: [],
  commits: 0,
};

/**
 * VIEW_CHANGES.json without its line feed: one domain of RESTORE_DIFF and what could not be in it. Of the refused it says
 * which are too large and which are reserved, so that the changes can be read back as they were.
 */
export function formatViewChanges(changes: ViewChanges): string {
  const diff = formatDomainDiff(changes);
  const { ignored, concurrent, commits, large } = changes;
  const reserved = sortedByCodePoint(changes.reserved);
  const refused = sortedByCodePoint([...changes.refused, ...reserved]);
  const more = formatCanonical({
    commits,
    concurrent_changes: concurrent,
    ignored_count: ignored,
    large: sortedByCodePoint(large),
    refused,
  });
  // Keys by bytes: added, changed, commits, concurrent_changes, ignored_count, large, refused, removed, reserved.
  const removed = formatDomainDiff({ added: new Map(), changed: new Map(), removed: changes.removed });
  const rest = removed.slice(removed.indexOf(',"removed":'));
  const last = formatCanonical({ reserved }).slice(1);
  return `${diff.slice(0, diff.length - rest.length)},${more.slice(1, -1)}${rest.slice(0, -1)},${last}`;
}

/** What VIEW_CHANGES.json says; null when it is not one that this version writes. */
export function readViewChanges(value: JsonObject): ViewChanges | null {
  const [added, removed, changed] = [
    readTree(value["added"]),
    readTree(value["removed"]),
    readChanged(value["changed"]),
  ];
  const [large, refused, reserved] = [value["large"], value["refused"], value["reserved"]].map(readTexts);
  const concurrent = readTexts(value["concurrent_changes"]);
  const { commits, ignored_count: ignored } = value;
  if (added === null || removed === null || changed === null || typeof ignored !== "number") return null;
  if (large == null || refused == null || reserved == null || concurrent === null) return null;
  if (commits !== null && typeof commits !== "number") return null;
  const other = new Set(reserved);
  const own = refused.filter((path) => !other.has(path));
  return { added, removed, changed, refused: own, large, reserved, ignored, concurrent, commits };
}

function readChanged(value: JsonValue | undefined): ViewChanges["changed"] | null {
  if (!isJsonObject(value)) return null;
  const changed = new Map<string, ViewChanges["changed"] extends ReadonlyMap<string, infer C> ? C : never>();
  for (const [path, one] of Object.entries(value)) {
    if (!isJsonObject(one)) return null;
    const [before, after, fields] = [readEntry(one["before"]), readEntry(one["after"]), readTexts(one["fields"])];
    if (before === null || after === null || fields === null) return null;
    changed.set(path, { before, after, fields });
  }
  return changed;
}

function readTexts(value: JsonValue | undefined): string[] | null {
  return Array.isArray(value) && value.every((one) => typeof one === "string") ? (value as string[]) : null;
}
