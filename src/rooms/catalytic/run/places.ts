import { sortedUnique } from "../../../core/canonical/index.ts";
import type { JobSpec } from "../declare/jobspec.ts";
import { isInside } from "../declare/path-rules.ts";
import type { Policy } from "../declare/policy.ts";
import { toDeclared } from "../outputs/outputs.ts";

/** Where the parts of one run lie, absolutely. */
export interface Places {
  readonly root: string;
  /** The run directory. */
  readonly record: string;
  /** The run directory relative to the root, or null when it is elsewhere. */
  readonly record_path: string | null;
  readonly work: string;
  /** `.verbatim/state` of the workspace that keeps the record. */
  readonly state: string;
}

export const journalOf = (places: Pick<Places, "work">): string => `${places.work}/journal.jsonl`;
export const locksOf = (state: string): string => `${state}/locks`;
/** No run can have this name, so it cannot be a work directory. */
export const indexOf = (state: string): string => `${state}/catalytic/_index`;
export const worksOf = (state: string): string => `${state}/catalytic`;
export const memosOf = (state: string): string => `${state}/memo`;

/** The absolute place of a repository path; `.` is the root. */
export function placeOf(root: string, path: string): string {
  return path === "." || path === "" ? root : `${root}/${path}`;
}

/** Space that recovery gives back first, so that its journal can be written on a full disk. */
export function reserveOf({ work }: Pick<Places, "work">): string {
  return `${work}/reserve`;
}

/** A place as a person reads it: relative to the root where it is inside. */
export function showPlace({ root }: Pick<Places, "root">, place: string): string {
  return place.startsWith(`${root}/`) ? place.slice(root.length + 1) : place;
}

/** The folder around a path; the empty text is the root. */
export function parentOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash === -1 ? "" : path.slice(0, slash);
}

/** The folder that must be writable for an output. */
export function anchorOf(output: string): string {
  const { path, folder } = toDeclared(output);
  return folder ? path : parentOf(path);
}

/** The anchors of a run: none inside another. */
export function anchorsOf(outputs: readonly string[]): string[] {
  const all = sortedUnique(outputs.map(anchorOf));
  return all.filter((anchor) => !all.some((other) => other !== anchor && isInside(anchor, other)));
}

/** Paths a run declares and nobody else should touch meanwhile. */
export function claimedPaths(jobspec: JobSpec): string[] {
  return sortedUnique([...jobspec.catalytic_domains, ...anchorsOf(jobspec.outputs.durable_paths)]);
}

/** Every path below which the tool keeps its own state: in `.verbatim`, but not in a configured root. */
export function isOwnState(path: string, policy: Policy): boolean {
  if (!isInside(path, ".verbatim")) return false;
  const configured = [policy.runs_root, ...policy.durable_roots, ...policy.catalytic_roots];
  return !configured.some((root) => isInside(path, root) || isInside(root, path));
}
