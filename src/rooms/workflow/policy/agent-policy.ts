import type { AgentPolicyConfig, PatchPolicy } from "../../../core/contracts/config/index.ts";
import { compilePathPattern, type PathPattern } from "../../../core/paths/index.ts";
import { DEFAULT_LIMITS, type PolicyRow, PROTECTED_PATHS, SECRET_PATHS } from "./default-policy.ts";

type PolicyLimits = { readonly [K in keyof typeof DEFAULT_LIMITS]: number };

/** What one run may change. */
export interface AgentPolicy {
  /** What protects a path, as the end of a sentence, or null. */
  findProtection(path: string): string | null;
  /** What makes a path secret, or null. */
  findSecrecy(path: string): string | null;
  /** Whether someone lifted the protection of a path. Names are taken as they are: a twin is not permitted with them. */
  isPermitted(path: string): boolean;
  /** Folders outside of which nothing may change, of the first generation's configuration. */
  readonly roots: readonly string[];
  readonly limits: PolicyLimits;
}

export interface PolicySources {
  readonly config?: AgentPolicyConfig | undefined;
  /** `agent.patch` of the first generation: what it names replaces. */
  readonly patch?: { readonly [K in keyof PatchPolicy]?: PatchPolicy[K] | undefined } | undefined;
  /** `--permit`, in the order given. */
  readonly permit?: readonly string[];
  /** `--max-files`, `--max-added-lines`, `--max-binary`. */
  readonly limits?: { readonly [K in keyof PolicyLimits]?: number | undefined };
}

/** The policy of a run: the defaults, then the configuration, then the flags. */
export function resolveAgentPolicy({ config = {}, patch = {}, permit = [], limits = {} }: PolicySources): AgentPolicy {
  const protectedRows = patch.deny_prefixes === undefined ? PROTECTED_PATHS : [];
  const own = [
    ...(patch.deny_prefixes ?? []).map((prefix) => `/${prefix.replace(/^(?:\.?\/)+/, "")}`),
    ...(patch.deny_suffixes ?? []).map((suffix) => `*${suffix}`),
    ...(config.protect ?? []),
  ];
  return {
    findProtection: compileRows(protectedRows, own),
    findSecrecy: compileRows(SECRET_PATHS, config.secret ?? []),
    isPermitted: compileList([...(config.permit ?? []), ...permit]),
    roots: patch.allow_roots ?? ["."],
    limits: {
      max_files: limits.max_files ?? config.max_files ?? patch.max_files ?? DEFAULT_LIMITS.max_files,
      max_added_lines:
        limits.max_added_lines ?? config.max_added_lines ?? patch.max_added_lines ?? DEFAULT_LIMITS.max_added_lines,
      max_binary_bytes: limits.max_binary_bytes ?? config.max_binary_bytes ?? DEFAULT_LIMITS.max_binary_bytes,
      max_carried_bytes: limits.max_carried_bytes ?? config.max_carried_bytes ?? DEFAULT_LIMITS.max_carried_bytes,
    },
  };
}

const BY_CONFIGURATION = "the configuration says so";

/** The reason of the last pattern that names a path, unless that one takes it out. */
function compileRows(rows: readonly PolicyRow[], more: readonly string[]): (path: string) => string | null {
  const all = [
    ...rows.flatMap(({ patterns, says }) => patterns.map((pattern) => ({ pattern, says }))),
    ...more.map((pattern) => ({ pattern, says: BY_CONFIGURATION })),
  ].map(({ pattern, says }) => ({ ...toEntry(pattern, true), says }));
  return (path) => {
    const last = all.findLast(({ pattern }) => pattern.matches(path));
    return last === undefined || last.out ? null : last.says;
  };
}

function compileList(patterns: readonly string[]): (path: string) => boolean {
  const all = patterns.map((pattern) => toEntry(pattern, false));
  return (path) => all.findLast(({ pattern }) => pattern.matches(path))?.out === false;
}

function toEntry(text: string, fold: boolean): { readonly pattern: PathPattern; readonly out: boolean } {
  const out = text.startsWith("!");
  return { pattern: compilePathPattern(out ? text.slice(1) : text, { fold }), out };
}
