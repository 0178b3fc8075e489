import { sortedUnique } from "../../../core/canonical/index.ts";

export const BUNDLE_FILE = "failure_bundle.zip";

const TOP = ["TRACE.md", "events.jsonl", "RUN.json", "repo_ref.json"];
const FOLDERS = ["artifacts/", "reviews/", "outbox/", "logs/", "snapshot/"];
const DIRECTORIES = ["reviews/", "outbox/"];
/** The minimum content (Artifact Contracts M); what is missing gets a placeholder. */
const BUNDLE_MINIMUM = [
  "TRACE.md",
  "artifacts/PLAN.md",
  "artifacts/diff.patch",
  "artifacts/verify_report.json",
  "events.jsonl",
] as const;

/**
 * What a failure bundle of these run files contains, in order. Names that end in `/` are directories.
 *
 * @example
 * layOutBundle(["events.jsonl"]).placeholders.includes("artifacts/PLAN.md"); // => true
 */
export function layOutBundle(runFiles: readonly string[]): {
  readonly entries: readonly string[];
  readonly placeholders: readonly string[];
} {
  const kept = runFiles.filter(
    (path) =>
      (TOP.includes(path) || FOLDERS.some((folder) => path.startsWith(folder))) &&
      !path.split("/").some((name) => name.startsWith(".tmp-")),
  );
  const placeholders = BUNDLE_MINIMUM.filter((path) => !kept.includes(path));
  return { entries: sortedUnique([...kept, ...placeholders, ...DIRECTORIES]), placeholders };
}

/** The text of a placeholder entry. */
export function formatPlaceholder(path: string): string {
  return `placeholder: ${path} did not exist when this bundle was made\n`;
}

/** Names the minimum content that a list of entries lacks. */
export function findMissingEntries(entries: readonly string[]): string[] {
  return [...BUNDLE_MINIMUM, ...DIRECTORIES].filter((name) => !entries.includes(name));
}
