import { sortedUnique } from "../../../core/canonical/index.ts";
import type { GuardClass } from "../../../core/contracts/guards.ts";
import { isInside } from "../declare/path-rules.ts";
import type { Policy } from "../declare/policy.ts";
import type { TripwireSettings } from "../declare/settings.ts";
import type { Violation } from "../verify/verdict.ts";

/** What `lstat` says about one path; nanoseconds and inodes as texts, because they do not fit a number. */
export interface Fingerprint {
  readonly type: "file" | "dir" | "symlink" | "other";
  readonly ino: string;
  readonly mode: string;
  readonly uid: number;
  readonly gid: number;
  /** 0 for folders. */
  readonly size: number;
  readonly mtime_ns: string;
  readonly ctime_ns: string;
  readonly nlink: number;
  readonly target: string | null;
  /** Of a file whose stat would not show every change. */
  readonly sha256?: string;
}

type Fingerprints = ReadonlyMap<string, Fingerprint>;

export interface TripwireFacts {
  readonly policy: Pick<Policy, "forbidden_roots" | "runs_root" | "durable_roots" | "catalytic_roots">;
  readonly settings: Pick<TripwireSettings, "noise" | "on_hit">;
  readonly guard_class: GuardClass;
  readonly before: Fingerprints;
  readonly after: Fingerprints;
  /** Folders in which the tool itself worked. */
  readonly tool_touched: readonly string[];
  /** Paths of other runs at the same time: reported as noise. */
  readonly others?: readonly string[];
}

interface TripwireResult {
  readonly violations: readonly Violation[];
  readonly noise: readonly string[];
}

const FIELDS = [
  "ctime_ns",
  "gid",
  "ino",
  "mode",
  "mtime_ns",
  "nlink",
  "sha256",
  "size",
  "target",
  "type",
  "uid",
] as const;
const TIMES: readonly string[] = ["ctime_ns", "mtime_ns"];
const FOLDER_TRACES: readonly string[] = ["ctime_ns", "mtime_ns", "nlink", "size"];

/**
 * Compares everything outside the domains before and after the command. Cost: linear in paths.
 *
 * @example
 * const { policy } = effectivePolicy({});
 * const settings = { noise: [".git/index"], on_hit: "fail" as const };
 * const nothing = { before: new Map(), after: new Map(), tool_touched: [] };
 * if (policy !== null) compareTripwire({ policy, settings, guard_class: "audit", ...nothing }).violations; // => []
 */
export function compareTripwire(facts: TripwireFacts): TripwireResult {
  const { before, after } = facts;
  const violations: Violation[] = [];
  const noise: string[] = [];
  const disturbed = new Set(facts.tool_touched);
  for (const path of before.keys()) if (!after.has(path)) disturbed.add(parentOf(path));
  for (const path of after.keys()) if (!before.has(path)) disturbed.add(parentOf(path));
  for (const path of sortedUnique([...before.keys(), ...after.keys()])) {
    const was = before.get(path);
    const is = after.get(path);
    const fields = was === undefined || is === undefined ? [] : differing(was, is);
    if (was !== undefined && is !== undefined) {
      if (fields.length === 0) continue;
      const tracesOnly =
        is.type === "dir" && was.type === "dir" && fields.every((field) => FOLDER_TRACES.includes(field));
      if (tracesOnly && disturbed.has(path)) continue;
    }
    const forbidden = isForbiddenPlace(path, facts.policy);
    if (isNoise(path, fields, was !== undefined && is !== undefined, forbidden, facts)) noise.push(path);
    else {
      const change = was === undefined ? "OUTSIDE_ADDED" : is === undefined ? "OUTSIDE_REMOVED" : "OUTSIDE_CHANGED";
      violations.push({ code: forbidden ? "FORBIDDEN_CHANGED" : change, path, fields });
    }
  }
  return { violations, noise };
}

function differing(a: Fingerprint, b: Fingerprint): string[] {
  return FIELDS.filter((field) => a[field] !== b[field]);
}

function isForbiddenPlace(path: string, policy: TripwireFacts["policy"]): boolean {
  return policy.forbidden_roots.some((root) => {
    if (!isInside(path, root)) return false;
    if (root !== ".verbatim") return true;
    return ![policy.runs_root, ...policy.durable_roots, ...policy.catalytic_roots].some((one) => isInside(path, one));
  });
}

/** Under a namespace guard the kernel kept the command from doing it: someone else did. */
function isNoise(
  path: string,
  fields: readonly string[],
  both: boolean,
  forbidden: boolean,
  facts: TripwireFacts,
): boolean {
  if (facts.others?.some((other) => isInside(path, other)) === true) return true;
  if (facts.guard_class !== "namespace") return false;
  if (facts.settings.noise.includes(path)) return true;
  if (path === ".git" && both && fields.every((field) => TIMES.includes(field))) return true;
  return facts.settings.on_hit === "report" && !forbidden;
}

function parentOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash === -1 ? "." : path.slice(0, slash);
}
