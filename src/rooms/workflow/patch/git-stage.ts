import type { BaseTree, PatchChecker, TargetType } from "../ports.ts";
import { findGitMismatch } from "./git-answer.ts";
import { type GateInput, judgePatchPausing, type PatchResult } from "./patch-gate.ts";
import type { PatchSection } from "./patch-section.ts";
import type { PatchRejection } from "./rejection.ts";
import { findTwins, foldersOf, listCreated, listLeaving, type Twin } from "./twins.ts";

/** The whole patch gate: grammar, paths, policy, scope, and git as the last judge. */
export async function judgePatchWithGit(
  input: GateInput,
  checker: PatchChecker,
  base: BaseTree | null,
  pause: () => Promise<unknown> = async () => undefined,
): Promise<PatchResult> {
  const { result, sections } = await judgePatchPausing(input, pause);
  if (result.verdict === "reject") return result;
  const named = sections.flatMap(({ old_path, new_path }) => [old_path, new_path]);
  const paths = [...new Set(named.flatMap(withParents))];
  const folders = new Set(listCreated(sections).flatMap(({ new_path }) => foldersOf(new_path)));
  const [, types, { code, stdout, stderr }, entries] = await Promise.all([
    checker.requireUsable(),
    checker.targets(paths, base),
    checker.check(input.patch, base, paths),
    checker.entries([...folders], base),
  ]);
  const target = findBadTarget(sections, types) ?? rejectTwins(findTwins(sections, entries));
  if (target !== null) return target;
  const full = await findFullFolder(sections, types, checker, base);
  if (full !== null) return full;
  if (code !== 0) return rejectByGit("PATCH_GIT_CHECK_FAIL", "git_apply_check", stderr);
  const mismatch = findModeMismatch(sections, types) ?? findGitMismatch(stdout, sections);
  return mismatch === null ? result : rejectByGit("PATCH_GIT_MISMATCH", "git_names", mismatch);
}

/** On a system that does not tell the two names apart, one would take the place of the other. */
function rejectTwins(twins: readonly Twin[]): PatchRejection | null {
  const [first] = twins;
  if (first === undefined) return null;
  const broken = { code: "PATCH_PATH_INVALID", rule: "twin" } as const;
  const findings = twins.map(({ path }) => ({ ...broken, path }));
  return { verdict: "reject", stage: "git_check", ...broken, line: first.line, path: first.path, findings };
}

/** A folder becomes a file only when everything in it goes with the same patch: git finds out while it writes. */
async function findFullFolder(
  sections: readonly PatchSection[],
  types: ReadonlyMap<string, TargetType>,
  checker: PatchChecker,
  base: BaseTree | null,
): Promise<PatchRejection | null> {
  const leaving = listLeaving(sections);
  for (const { new_path: path, line } of listCreated(sections)) {
    if (types.get(path) !== "folder") continue;
    const left = (await checker.below(path, base)).find((one) => !leaving.has(one));
    if (left !== undefined) return toRejection("folder_not_empty", line, left);
  }
  return null;
}

function toRejection(rule: string, line: number, path: string): PatchRejection {
  return { verdict: "reject", stage: "git_check", code: "PATCH_TARGET_TYPE", rule, line, path };
}

/** git lets a patch announce a mode the file does not have, and then changes nothing or something else. */
function findModeMismatch(sections: readonly PatchSection[], types: ReadonlyMap<string, TargetType>): string | null {
  for (const { old_path, old_mode, new_mode, index_mode } of sections) {
    const announced = old_mode !== null && new_mode !== null ? old_mode : new_mode === null ? index_mode : null;
    const real = MODES[types.get(old_path) ?? "missing"];
    if (announced !== null && real !== announced) return `${old_path} does not have the mode ${announced}`;
  }
  return null;
}

const MODES: Readonly<Partial<Record<TargetType, string>>> = { file: "100644", executable: "100755" };

function rejectByGit(code: string, rule: string, stderr: string): PatchRejection {
  return { verdict: "reject", stage: "git_check", code, rule, stderr: stderr.trim().slice(0, 4000) };
}

/** git would write through a linked folder and retarget a link by a text hunk; nothing but plain files is patched. */
function findBadTarget(
  sections: readonly PatchSection[],
  types: ReadonlyMap<string, TargetType>,
): PatchRejection | null {
  const leaving = listLeaving(sections);
  for (const section of sections) {
    for (const side of sidesOf(section)) {
      const rule = judgeSide(side.path, side.old, types, leaving);
      if (rule !== null) return toRejection(rule, section.line, side.path);
    }
  }
  return null;
}

function sidesOf(section: PatchSection): { readonly path: string; readonly old: boolean }[] {
  const old = { path: section.old_path, old: true };
  const next = { path: section.new_path, old: false };
  if (section.operation === "create") return [next];
  return section.operation === "delete" ? [old] : [old, next];
}

function judgeSide(
  path: string,
  old: boolean,
  types: ReadonlyMap<string, TargetType>,
  leaving: ReadonlySet<string>,
): string | null {
  const [, ...parents] = withParents(path);
  // A plain file may become a folder when the patch takes it away; a link never.
  const isFree = (parent: string) => {
    const type = types.get(parent) ?? "missing";
    return ["missing", "folder"].includes(type) || (leaving.has(parent) && ["file", "executable"].includes(type));
  };
  if (!parents.every(isFree)) return "symlink_parent";
  const type = types.get(path) ?? "missing";
  if (!old || type === "missing" || type === "file" || type === "executable") return null;
  return type === "link" ? "symlink" : "not_regular_file";
}

/** A path and the folders it is in. */
function withParents(path: string): string[] {
  const all = [path];
  for (let at = path.lastIndexOf("/"); at !== -1; at = path.lastIndexOf("/", at - 1)) all.push(path.slice(0, at));
  return all;
}
