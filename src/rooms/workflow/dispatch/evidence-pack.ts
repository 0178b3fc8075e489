import type { ContextPack } from "../artifacts/context-pack.ts";
import type { Plan } from "../artifacts/plan.ts";
import type { PatchPolicy } from "../patch/patch-policy.ts";
import type { Limits } from "../run/gate/limits.ts";

/** The four files of the evidence pack (Artifact Contracts K.1). */
export const EVIDENCE_FILES = [
  "outbox/CONTEXT.md",
  "outbox/CONSTRAINTS.md",
  "outbox/FIX_BRIEF.md",
  "outbox/EXTERNALS.md",
] as const;

/** CONTEXT.md: the context pack, quoted whole. */
export function formatContext(pack: ContextPack | null): string {
  if (pack === null) return "# CONTEXT\n\nnone yet\n";
  const lines = ["# CONTEXT", "", pack.summary, ""];
  for (const { path, why, content, truncated } of pack.files) {
    const fence = fenceFor(content);
    const note = truncated === true ? ", truncated" : "";
    lines.push(
      `## ${path} (${why}${note})`,
      "",
      fence,
      content.endsWith("\n") ? content.slice(0, -1) : content,
      fence,
      "",
    );
  }
  if (pack.omitted.length > 0) {
    lines.push(
      "## Omitted",
      "",
      ...pack.omitted.map(({ path, reason, detail }) => `- ${path}: ${reason} (${detail})`),
      "",
    );
  }
  return `${lines.join("\n")}`;
}

/** A fence longer than any run of backticks inside. */
export function fenceFor(content: string): string {
  let longest = 2;
  for (const [run] of content.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return "`".repeat(longest + 1);
}

/** CONSTRAINTS.md: the numbers, the scope, and what a patch must look like. */
export function formatConstraints(limits: Limits, policy: PatchPolicy, plan: Plan | null): string {
  const amount = (value: number | null) => (value === null ? "n/a" : String(value));
  const list = (items: readonly string[]) => (items.length === 0 ? "none" : items.join(", "));
  return [
    "# CONSTRAINTS",
    "",
    `- context files at most ${amount(limits.context_max_files)}, bytes at most ${amount(limits.context_max_total_bytes)}`,
    `- iterations at most ${amount(limits.max_iterations)}`,
    `- a patch changes at most ${limits.patch_max_files} files and adds at most ${limits.patch_max_added_lines} lines`,
    `- a patch has at most ${amount(limits.patch_max_bytes)} bytes`,
    `- Scope-Allow: ${plan === null ? "not planned yet" : list(plan.scope_allow)}`,
    `- Scope-Deny: ${plan === null ? "not planned yet" : list(plan.scope_deny)}`,
    `- Gates: ${plan === null ? "not planned yet" : list(plan.gates)}`,
    `- allowed roots: ${list(policy.allow_roots)}`,
    `- denied prefixes: ${list(policy.deny_prefixes)}`,
    `- denied suffixes: ${list(policy.deny_suffixes)}`,
    "",
    "A patch begins with the bytes `diff --git `, has one section per file with `--- a/NAME` and `+++ b/NAME`,",
    "hunks whose numbers equal their lines, LF line ends in headers, a final line feed, and nothing else:",
    "no prose, no fences, no time stamps, no binary payloads, no links, modes 100644 and 100755 only.",
    "",
  ].join("\n");
}

/** What the last candidate stumbled over. */
export interface FixFacts {
  readonly label: "FIRST_PATCH" | "PATCH_REJECTED" | "VERIFY_FAILED";
  readonly patch_sha256: string | null;
  readonly findings: readonly string[];
  readonly log: string;
}

/** FIX_BRIEF.md: label, findings, the last lines of the log, the hash of the candidate. */
export function formatFixBrief(facts: FixFacts): string {
  const lines = ["# FIX BRIEF", "", `Label: ${facts.label}`, `Candidate-SHA256: ${facts.patch_sha256 ?? "none"}`, ""];
  lines.push(
    "Findings:",
    ...(facts.findings.length === 0 ? ["- none"] : facts.findings.map((text) => `- ${text}`)),
    "",
  );
  if (facts.log !== "")
    lines.push("Last lines of the log:", "", fenceFor(facts.log), facts.log, fenceFor(facts.log), "");
  return lines.join("\n");
}

/** EXTERNALS.md: what web research found, with its places. */
export function formatExternals(
  results: readonly {
    readonly url: string;
    readonly locator: { readonly type: string; readonly value: string };
    readonly excerpt: string;
  }[],
): string {
  const lines = ["# EXTERNALS", ""];
  if (results.length === 0) lines.push("none", "");
  for (const { url, locator, excerpt } of results) {
    const fence = fenceFor(excerpt);
    lines.push(`## ${url} (${locator.type}: ${locator.value})`, "", fence, excerpt, fence, "");
  }
  return lines.join("\n");
}
