import type { PatchRejection } from "./rejection.ts";

export const REVIEW_PATCH_FILE = "reviews/review_patch.md";

/** What a right patch looks like, by rule. */
const ADVICE: Readonly<Record<string, string>> = {
  bad_start: "The first bytes must be `diff --git `: no prose, no fence, no blank line.",
  empty_patch: "Send a unified diff.",
  no_final_newline: "End the patch with a line feed.",
  crlf_header: "End header lines with LF only.",
  prefix: "Names must start with exactly `a/` (old) and `b/` (new), as git diff writes them.",
  timestamp: "Nothing may follow a name.",
  bad_quote:
    "Put a name with special characters in double quotes, as git does; only one TAB may follow it, after `---` and `+++`.",
  bad_header: "The line must read `diff --git a/NAME b/NAME`.",
  header_mismatch: "Both names after `diff --git` must match the lines below it.",
  name_mismatch: "The names after `---` and `+++` must match the `diff --git` line.",
  missing_pair: "`---` and `+++`, old and new mode, rename and copy lines come in pairs.",
  duplicate_header_line: "Each header line may appear only once.",
  unknown_header_line: "Only the header lines that git writes may appear between `diff --git` and `---`.",
  conflicting_operations: "A section may create, delete, rename or copy only one file.",
  dev_null: "`/dev/null` stands for the missing side of a file with `new file mode` or `deleted file mode`.",
  no_change: "Leave out sections that change nothing.",
  empty_hunk: "A hunk must add or remove at least one line.",
  duplicate_path: "Put everything about one path into one section.",
  hunk_count: "The numbers in `@@ -old,count +new,count @@` must equal the lines that follow.",
  hunk_line: "Every hunk line must start with a space, `-` or `+`.",
  bad_hunk_header: "A hunk must start with `@@ -old,count +new,count @@`.",
  headerless_section: "Every file must start with its own `diff --git` line.",
  trailing_text: "Remove the text outside the sections.",
  binary_payload: "Only text can be patched.",
  mode: "Use only the modes 100644 and 100755; links are not allowed.",
  max_files: "Change fewer files, or split the work.",
  max_added_lines: "Add fewer lines, or split the work.",
  max_total_bytes: "Make the patch smaller.",
  allow_roots: "Stay below the roots the policy allows.",
  deny_prefixes: "Leave the paths the policy denies alone.",
  deny_suffixes: "Leave files of this kind alone.",
  scope_allow: "Stay below Scope-Allow of the plan.",
  scope_deny: "Leave the paths of Scope-Deny alone.",
  git_apply_check: "The patch must apply to the base commit, never on top of an earlier candidate.",
  twin: "Another name in the folder differs only in case or Unicode form; choose a name that no system confuses with it.",
  folder_not_empty: "A folder becomes a file only when the patch deletes everything in it.",
  symlink: "Links cannot be patched.",
  symlink_parent: "Part of the path is not a folder: it is a link, or a file that the patch does not delete.",
  not_regular_file: "Only plain files can be patched.",
};

const decoder = new TextDecoder();

/** What to change, in one sentence. */
export function adviseFor(rule: string): string {
  return ADVICE[rule] ?? "Write the section as git diff would.";
}

/** reviews/review_patch.md: why a candidate was rejected, with the line it stumbled over. */
export function formatPatchReview(rejection: PatchRejection, patch: Uint8Array, sha256: string): string {
  const { stage, code, rule, line, path, findings = [], stderr } = rejection;
  const lines = [
    "# Patch rejected",
    "",
    `Patch-SHA256: ${sha256}`,
    `Stage: ${stage}`,
    `Code: ${code}`,
    `Rule: ${rule}`,
  ];
  if (line !== undefined) lines.push(`Where: artifacts/diff.patch:${line}`);
  if (path !== undefined) lines.push(`Path: ${path}`);
  if (line !== undefined) lines.push("", "Offending line:", "", `    ${lineAt(patch, line)}`);
  if (findings.length > 0) {
    lines.push(
      "",
      "Findings:",
      "",
      ...findings.map((one) => `- ${one.code} ${one.rule}${one.path === undefined ? "" : ` ${one.path}`}`),
    );
  }
  if (stderr !== undefined && stderr !== "")
    lines.push("", "git says:", "", ...stderr.split("\n").map((text) => `    ${text}`));
  return [...lines, "", "What to change:", "", `- ${adviseFor(rule)}`, ""].join("\n");
}

/** A line of the patch as it can be shown. */
export function lineAt(patch: Uint8Array, line: number): string {
  const text = decoder.decode(patch).split("\n")[line - 1] ?? "";
  return text.replace(/[\x00-\x08\x0b-\x1f\x7f]/g, "\ufffd").slice(0, 400);
}
