import { tmpdir } from "node:os";
import {
  dropStream,
  foldCase,
  foldName,
  foldPath,
  isGitName,
  isOwnName,
  isUnder,
  showPath,
} from "../../core/paths/index.ts";
import { coversExactly, coversFolded, describeFinding, judgePath, judgeScope } from "../../rooms/workflow/index.ts";
import type { HookCall } from "./hook-call.ts";
import type { HookRules, HookRun } from "./hook-rules.ts";
import { locatePlace, type NamedPlace } from "./named-place.ts";
import { listShellTargets } from "./shell-targets.ts";

/** One target of a tool call and what is said about it. */
interface JudgedTarget {
  /** Repository path, or absolute outside the root. */
  readonly path: string;
  readonly access: "write" | "read";
  /** Null when it is allowed. */
  readonly code: "HOOK_OUTSIDE" | "HOOK_FORBIDDEN" | "HOOK_SCOPE" | "HOOK_POLICY" | null;
  readonly reason: string;
}

export interface HookVerdict {
  readonly allowed: boolean;
  /** Empty when allowed. */
  readonly reason: string;
  readonly targets: readonly JudgedTarget[];
}

/** Judges every path a tool call names. The first refusal is the reason; all are listed. */
export function judgeCall(call: HookCall, rules: HookRules): HookVerdict {
  const cwd = call.cwd ?? rules.root;
  const targets: JudgedTarget[] = [];
  for (const path of call.writes) targets.push(judgeWrite(locatePlace(rules.root, cwd, path), rules));
  for (const path of call.reads) targets.push(toRead(locatePlace(rules.root, cwd, path)));
  for (const command of call.commands) targets.push(...judgeCommand(command, cwd, rules));
  const refused = targets.filter(({ code }) => code !== null);
  const first = refused[0];
  const more = refused.length > 1 ? ` (and ${refused.length - 1} more)` : "";
  return { allowed: first === undefined, reason: first === undefined ? "" : `${first.reason}${more}`, targets };
}

function toRead(place: NamedPlace): JudgedTarget {
  return { path: place.inside ?? place.real, access: "read", code: null, reason: "" };
}

function judgeWrite(place: NamedPlace, rules: HookRules): JudgedTarget {
  const target = { path: place.inside ?? place.real, access: "write" as const };
  const shown = showPath(target.path);
  if (place.inside === null) {
    const isKept = rules.keep.some((kept) => isUnder(place.real, kept.replace(/\/+$/, "")));
    return isKept
      ? { ...target, code: null, reason: "" }
      : { ...target, code: "HOOK_OUTSIDE", reason: `${shown} is outside the repository ${showPath(rules.root)}` };
  }
  const root = findForbidden(place.inside, rules.forbidden);
  if (root !== null) {
    return { ...target, code: "HOOK_FORBIDDEN", reason: `${shown} is in the forbidden root ${showPath(root)}` };
  }
  const rule = rules.run === null ? null : findBrokenRule(place.inside, rules.run);
  if (rule !== null) {
    const reason = `${shown} is outside the scope of the run ${rules.run!.id} (${rule})`;
    return { ...target, code: "HOOK_SCOPE", reason };
  }
  // The gate would say the same of the whole change when the agent has ended.
  const policy = rules.run?.policy ?? null;
  const [finding] = policy === null ? [] : judgePath(place.inside, policy);
  if (finding === undefined) return { ...target, code: null, reason: "" };
  return { ...target, code: "HOOK_POLICY", reason: describeFinding(finding) };
}

function findForbidden(path: string, forbidden: readonly string[]): string | null {
  if (path === ".") return forbidden[0] ?? null;
  // A name is judged as the system that forgives most would take it: streams, short names, invisible signs, backslashes.
  const names = path.split(/[/\\]/);
  if (names.some(isGitName)) return ".git";
  const folded = names.map((name) => foldName(dropStream(name)));
  // At any depth: a configuration or state folder below would bring rules of its own.
  const name = folded.find(isOwnName);
  if (name !== undefined) return name;
  return forbidden.find((root) => isUnder(folded.join("/"), foldPath(root))) ?? null;
}

/** The rules of the patch gate that a changed path would break later, told now. */
function findBrokenRule(path: string, run: HookRun): string | null {
  if (!run.allow_roots.map(trim).some((root) => coversExactly(root, path))) return "allow_roots";
  if (run.deny_prefixes.map(trim).some((prefix) => coversFolded(prefix, path))) return "deny_prefixes";
  if (run.deny_suffixes.some((suffix) => foldCase(path).endsWith(foldCase(suffix)))) return "deny_suffixes";
  const verdict = judgeScope({ allow: run.allow, deny: run.deny }, path);
  return verdict === "ok" ? null : verdict;
}

function trim(entry: string): string {
  const trimmed = entry.replace(/^(?:\.\/)+/, "").replace(/\/+$/, "");
  return trimmed === "" ? "." : trimmed;
}

/**
 * Judges the paths a shell command shows. A command can hide its targets, so this is help, not a wall: the wall is
 * `verbatim agent`. What it only names is judged where the program is unknown and the place is a forbidden one.
 */
function judgeCommand(command: string, cwd: string, rules: HookRules): JudgedTarget[] {
  const targets: JudgedTarget[] = [];
  for (const { path, use } of listShellTargets(command, cwd)) {
    const place = locatePlace(rules.root, cwd, path);
    const isNamed = place.inside !== null && place.inside !== "." && use === "named";
    const isJudged =
      place.inside === null
        ? use !== "named" && !isScratch(place.real, rules.root)
        : use === "changed" || (isNamed && findForbidden(place.inside, rules.forbidden) !== null);
    if (isJudged) targets.push(judgeWrite(place, rules));
  }
  return targets;
}

/** Whether a place is in the temporary folder, where commands keep what they need for a moment, and not near the root. */
function isScratch(real: string, root: string): boolean {
  return ["/tmp", "/var/tmp", tmpdir()].some((folder) => {
    if (!real.startsWith(`${folder}/`)) return false;
    const [first = ""] = root.slice(folder.length + 1).split("/");
    return !isUnder(root, folder) || !isUnder(real, `${folder}/${first}`);
  });
}
