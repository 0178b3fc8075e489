import { formatCanonical, sortedByCodePoint } from "../../../core/canonical/index.ts";
import { type DomainDiff, formatDomainDiff } from "../tree/diff.ts";

/** What a command changed in its view of the repository. */
export interface ViewChanges extends DomainDiff {
  /** Special files, names that are not UTF-8 and what is too large: they cannot travel. */
  readonly refused: readonly string[];
  /** Those of the refused that are too large. */
  readonly large: readonly string[];
  /** Paths that belong to the tool or are forbidden to every command, and that are otherwise in the view. */
  readonly reserved: readonly string[];
  /** How many git-ignored paths changed. */
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

/** VIEW_CHANGES.json without its line feed: one domain of RESTORE_DIFF and what could not be in it. */
export function formatViewChanges(changes: ViewChanges): string {
  const diff = formatDomainDiff(changes);
  const { ignored, concurrent, commits } = changes;
  const refused = sortedByCodePoint([...changes.refused, ...changes.reserved]);
  const more = formatCanonical({ commits, concurrent_changes: concurrent, ignored_count: ignored, refused });
  // Keys by bytes: added, changed, commits, concurrent_changes, ignored_count, refused, removed.
  const removed = formatDomainDiff({ added: new Map(), changed: new Map(), removed: changes.removed });
  const rest = removed.slice(removed.indexOf(',"removed":'));
  return `${diff.slice(0, diff.length - rest.length)},${more.slice(1, -1)}${rest}`;
}
