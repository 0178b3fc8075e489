import { isUnder, showPath } from "../../core/paths/index.ts";
import { coversExactly, coversFolded, foldPath, judgeScope } from "../../rooms/workflow/artifacts/scope.ts";
import type { HookCall } from "./hook-call.ts";
import type { HookRules, HookRun } from "./hook-rules.ts";
import { locatePlace, type NamedPlace } from "./named-place.ts";
import { type ShellWord, splitShell } from "./shell-words.ts";

/** One target of a tool call and what is said about it. */
export interface JudgedTarget {
  /** Repository path, or absolute outside the root. */
  readonly path: string;
  readonly access: "write" | "read";
  /** Null when it is allowed. */
  readonly code: "HOOK_OUTSIDE" | "HOOK_FORBIDDEN" | "HOOK_SCOPE" | null;
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
      : { ...target, code: "HOOK_OUTSIDE", reason: `${shown} lies outside the repository ${showPath(rules.root)}` };
  }
  const root = findForbidden(place.inside, rules.forbidden);
  if (root !== null) {
    return { ...target, code: "HOOK_FORBIDDEN", reason: `${shown} lies in the forbidden root ${showPath(root)}` };
  }
  const rule = rules.run === null ? null : findBrokenRule(place.inside, rules.run);
  if (rule === null) return { ...target, code: null, reason: "" };
  const reason = `${shown} is outside the scope of the run ${rules.run!.id} (${rule})`;
  return { ...target, code: "HOOK_SCOPE", reason };
}

function findForbidden(path: string, forbidden: readonly string[]): string | null {
  const inRepository = path.split("/").find((name) => foldPath(name) === ".git");
  if (inRepository !== undefined) return ".git";
  return forbidden.find((root) => path === "." || coversFolded(root, path)) ?? null;
}

/** The rules of the patch gate that a changed path would break later, told now. */
function findBrokenRule(path: string, run: HookRun): string | null {
  if (!run.allow_roots.map(trim).some((root) => coversExactly(root, path))) return "allow_roots";
  if (run.deny_prefixes.map(trim).some((prefix) => coversFolded(prefix, path))) return "deny_prefixes";
  if (run.deny_suffixes.some((suffix) => foldPath(path).endsWith(foldPath(suffix)))) return "deny_suffixes";
  const verdict = judgeScope({ allow: run.allow, deny: run.deny }, path);
  return verdict === "ok" ? null : verdict;
}

function trim(entry: string): string {
  const trimmed = entry.replace(/^(?:\.\/)+/, "").replace(/\/+$/, "");
  return trimmed === "" ? "." : trimmed;
}

/** Commands whose every argument is changed, and those that change their last one. */
const CHANGE_ALL = new Set("rm rmdir unlink mv touch mkdir tee truncate shred chmod chown chgrp".split(" "));
const CHANGE_LAST = new Set("cp ln install rsync".split(" "));

/**
 * Judges the paths a shell command shows. A command can hide its targets, so this is help, not a wall: the wall is
 * `verbatim agent`. Places outside the repository are left to the client's own rules.
 */
function judgeCommand(command: string, cwd: string, rules: HookRules): JudgedTarget[] {
  const targets: JudgedTarget[] = [];
  for (const { words, redirects } of splitShell(command)) {
    const names = words.filter(({ text }) => !text.startsWith("-")).map(toPathWord);
    const program = names[0]?.text.split("/").at(-1) ?? "";
    const rest = names.slice(1);
    const changed = CHANGE_ALL.has(program) ? rest : CHANGE_LAST.has(program) ? rest.slice(-1) : [];
    for (const word of [...redirects, ...changed]) {
      const place = locateWord(word, cwd, rules);
      if (place !== null && place.inside !== null) targets.push(judgeWrite(place, rules));
    }
    for (const word of rest) {
      const place = changed.includes(word) ? null : locateWord(word, cwd, rules);
      if (place === null || place.inside === null || place.inside === ".") continue;
      if (findForbidden(place.inside, rules.forbidden) !== null) targets.push(judgeWrite(place, rules));
    }
  }
  return targets;
}

// dd of=FILE, --output=FILE: the path stands behind the sign.
function toPathWord(word: ShellWord): ShellWord {
  const at = word.text.indexOf("=");
  return at === -1 ? word : { ...word, text: word.text.slice(at + 1) };
}

function locateWord({ text, open }: ShellWord, cwd: string, rules: HookRules): NamedPlace | null {
  if (open || text === "" || text.startsWith("~") || text.includes("\0")) return null;
  return locatePlace(rules.root, cwd, text);
}
