import { foldCase, isUnder } from "../../../core/paths/index.ts";

/** Scope-Allow and Scope-Deny of a plan, normalised. */
export interface Scope {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

type ScopeVerdict = "ok" | "scope_allow" | "scope_deny";

/** Whether an entry covers a path exactly or as whole leading components; `.` covers everything. */
export function coversExactly(entry: string, path: string): boolean {
  return entry === "." || isUnder(path, entry);
}

/** The same for deny rules: after composition and without case. */
export function coversFolded(entry: string, path: string): boolean {
  return entry === "." || isUnder(foldCase(path), foldCase(entry));
}

/** Every rule of a plan's scope that a path breaks, allow first. */
export function listScopeRules(scope: Scope, path: string): ("scope_allow" | "scope_deny")[] {
  return [
    ...(scope.allow.some((entry) => coversExactly(entry, path)) ? [] : ["scope_allow" as const]),
    ...(scope.deny.some((entry) => coversFolded(entry, path)) ? ["scope_deny" as const] : []),
  ];
}

/**
 * Judges one path against a plan's scope: allow first, deny wins.
 *
 * @example
 * const scope = { allow: ["src"], deny: ["src/generated"] };
 * judgeScope(scope, "src/clock.mjs"); // => "ok"
 * judgeScope(scope, "src/generated/clock.mjs"); // => "scope_deny"
 */
export function judgeScope(scope: Scope, path: string): ScopeVerdict {
  return listScopeRules(scope, path)[0] ?? "ok";
}

/** An entry of a scope list without empty and `.` segments, or null when it is not allowed there. */
export function normalizeScopeEntry(item: string, side: "allow" | "deny"): string | null {
  if (item === "" || /[\x00-\x1f\x7f\\*?"`]/.test(item) || /^(?:[/~]|[A-Za-z]:)/.test(item)) return null;
  const segments = item.split("/").filter((segment) => segment !== "" && segment !== ".");
  if (segments.some((segment) => segment === ".." || segment.startsWith(" ") || segment.endsWith(" "))) return null;
  if (segments.length === 0) return side === "allow" ? "." : null;
  return segments.join("/");
}
