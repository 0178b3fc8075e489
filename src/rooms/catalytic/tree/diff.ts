import { compareCodePoints, sortedUnique } from "../../../core/canonical/index.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import { type Entry, entryHash, formatSortedMap, formatTreeEntry, type Tree } from "./tree.ts";

interface ChangedEntry {
  readonly before: Entry;
  readonly after: Entry;
  readonly fields: readonly string[];
}

/** RESTORE_DIFF of one domain. */
export interface DomainDiff {
  readonly added: ReadonlyMap<string, Entry>;
  readonly removed: ReadonlyMap<string, Entry>;
  readonly changed: ReadonlyMap<string, ChangedEntry>;
}

export type MismatchType = "missing" | "extra" | "hash_mismatch" | "metadata_mismatch";

export interface Mismatch {
  readonly domain: string;
  readonly path: string;
  readonly type: MismatchType;
  readonly expected: string | null;
  readonly actual: string | null;
  readonly fields?: readonly string[];
}

export type RestorationCondition =
  | "RESTORATION_FAILED_DOMAIN_UNREACHABLE"
  | "RESTORATION_FAILED_HASH_MISMATCH"
  | "RESTORATION_FAILED_MISSING_FILES"
  | "RESTORATION_FAILED_EXTRA_FILES"
  | "RESTORATION_FAILED_METADATA_MISMATCH";

export interface TreesDiff {
  readonly restore_diff: ReadonlyMap<string, DomainDiff>;
  /** No difference, and every domain could be looked at. */
  readonly empty: boolean;
  readonly mismatches: readonly Mismatch[];
  readonly condition: RestorationCondition | null;
}

/**
 * Compares what was with what is; a tree of null could not be taken (CMP-01, Phase 5). Cost: linear in entries.
 *
 * @example
 * diffTrees(nodeCrypto, new Map([["src", new Map()]]), new Map([["src", new Map()]])).empty; // => true
 */
export function diffTrees(
  crypto: SyncCrypto,
  pre: ReadonlyMap<string, Tree>,
  post: ReadonlyMap<string, Tree | null>,
): TreesDiff {
  const diffs = new Map<string, DomainDiff>();
  const mismatches: Mismatch[] = [];
  let unreachable = false;
  for (const domain of sortedUnique([...pre.keys(), ...post.keys()])) {
    const after = post.get(domain) ?? null;
    if (after === null) unreachable = true;
    const diff = diffTree(pre.get(domain) ?? new Map(), after ?? pre.get(domain) ?? new Map());
    diffs.set(domain, diff);
    mismatches.push(...toMismatches(crypto, domain, diff));
  }
  const condition = conditionOf(mismatches, unreachable);
  return { restore_diff: diffs, empty: condition === null, mismatches, condition };
}

/** The three maps of one domain, by bytes. */
export function diffTree(before: Tree, after: Tree): DomainDiff {
  const added = new Map<string, Entry>();
  const removed = new Map<string, Entry>();
  const changed = new Map<string, ChangedEntry>();
  if (before === after) return { added, removed, changed };
  for (const [path, entry] of before) {
    const now = after.get(path);
    if (now === undefined) removed.set(path, entry);
    else {
      const fields = differingFields(entry, now);
      if (fields.length > 0) changed.set(path, { before: entry, after: now, fields });
    }
  }
  for (const [path, entry] of after) if (!before.has(path)) added.set(path, entry);
  return { added, removed, changed };
}

const ALL_FIELDS = ["link_group", "mode", "mtime_ns", "sha256", "size", "target", "type"] as const;

type Fields = { readonly [F in (typeof ALL_FIELDS)[number]]?: unknown };

function differingFields(a: Fields, b: Fields): string[] {
  return ALL_FIELDS.filter((field) => a[field] !== b[field]);
}

const CONTENT_FIELDS = ["type", "sha256", "size", "target"];

function toMismatches(crypto: SyncCrypto, domain: string, diff: DomainDiff): Mismatch[] {
  const found: Mismatch[] = [];
  for (const [path, entry] of diff.removed) {
    found.push({ domain, path, type: "missing", expected: entryHash(crypto, entry), actual: null });
  }
  for (const [path, entry] of diff.added) {
    found.push({ domain, path, type: "extra", expected: null, actual: entryHash(crypto, entry) });
  }
  for (const [path, { before, after, fields }] of diff.changed) {
    const type = fields.some((field) => CONTENT_FIELDS.includes(field)) ? "hash_mismatch" : "metadata_mismatch";
    const [expected, actual] = [entryHash(crypto, before), entryHash(crypto, after)];
    found.push({ domain, path, type, expected, actual, fields });
  }
  return found.sort((a, b) => compareCodePoints(a.path, b.path));
}

const BY_PRIORITY: readonly (readonly [MismatchType, RestorationCondition])[] = [
  ["hash_mismatch", "RESTORATION_FAILED_HASH_MISMATCH"],
  ["missing", "RESTORATION_FAILED_MISSING_FILES"],
  ["extra", "RESTORATION_FAILED_EXTRA_FILES"],
  ["metadata_mismatch", "RESTORATION_FAILED_METADATA_MISMATCH"],
];

/** What a failed restoration is called: the gravest difference names it. */
export function conditionOf(
  mismatches: readonly { readonly type: MismatchType }[],
  unreachable: boolean,
): RestorationCondition | null {
  if (unreachable) return "RESTORATION_FAILED_DOMAIN_UNREACHABLE";
  return BY_PRIORITY.find(([type]) => mismatches.some((one) => one.type === type))?.[1] ?? null;
}

/** RESTORE_DIFF.json without its line feed. */
export function formatRestoreDiff(diffs: ReadonlyMap<string, DomainDiff>): string {
  return formatSortedMap(diffs, formatDomainDiff);
}

/** One domain of RESTORE_DIFF, which is also the shape of VIEW_CHANGES. */
export function formatDomainDiff(diff: DomainDiff): string {
  const entries = (map: ReadonlyMap<string, Entry>) => formatSortedMap(map, formatTreeEntry);
  const changed = formatSortedMap(diff.changed, ({ before, after, fields }) => {
    return `{"after":${formatTreeEntry(after)},"before":${formatTreeEntry(before)},"fields":${JSON.stringify(fields)}}`;
  });
  return `{"added":${entries(diff.added)},"changed":${changed},"removed":${entries(diff.removed)}}`;
}
