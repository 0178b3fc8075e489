/** What a role is asked for each action. A repository can replace each text with its own. */
const TEMPLATES: Readonly<Record<string, string>> = {
  guardrails: `Write artifacts/guardrails.md: the limits of this run, one simple key line each.

find_mode: resolver_only
max_files: 20
max_total_bytes: 200000
max_iterations: 3

With find_mode: resolver_plus_web also allow_domains, max_queries and max_pages. Everything else in the file is prose.`,
  analysis: `Write artifacts/analysis.md: what the goal means in this repository, what is known, what is not.`,
  find_web: `Write artifacts/find_web.json (schema_version "ctcp-find-web-v1"): constraints {allow_domains, max_queries, max_pages}
not wider than the guardrails, queries[], and results[] each with url, locator {type: heading|anchor|line_range|offset, value},
fetched_at, excerpt, why_relevant, risk_flags[]. Quote, do not paraphrase. No results is an honest answer.`,
  file_request: `Write artifacts/file_request.json: which files the planning needs.

{
  "schema_version": "ctcp-file-request-v1",
  "goal": "...",
  "needs": [{"path": "src/a.ts", "mode": "full"}, {"path": "docs/b.md", "mode": "snippets", "line_ranges": [[1, 40]]}],
  "budget": {"max_files": 10, "max_total_bytes": 100000},
  "reason": "..."
}

The budget must cover the mandatory documents first and stay within the guardrails.`,
  context_pack: `Write artifacts/context_pack.json exactly as "verbatim workflow pack --request artifacts/file_request.json" does.
A pack that differs in files or omitted is refused.`,
  plan_draft: `Write artifacts/PLAN_draft.md. It begins with these key lines:

Status: DRAFT
Scope-Allow: src/, tests/
Scope-Deny: none
Gates: lite, plan_check, patch_check, behavior_catalog_check
Stop: scope_violation=true, repeated_failure=2
Budgets: max_iterations=3, max_files=5, max_total_bytes=100000
Behaviors: none
Results: R001

Below a blank line and a heading follows the plan itself, for people.`,
  reasons: `Write artifacts/REASONS.md: one list item per reason, each naming at least one B### or R### id of the plan.

- R001: because ...`,
  expected_results: `Write artifacts/EXPECTED_RESULTS.md: one entry per R### id of the plan.

R001: title
Acceptance: what must be true
Evidence: tests/a.test.ts, artifacts/verify_report.json
Related-Gates: lite`,
  revise_plan: `Rewrite artifacts/PLAN_draft.md (Status: DRAFT) so that every finding above is gone. REASONS.md and EXPECTED_RESULTS.md
must still agree with it. Both reviews are asked again for the new draft.`,
  review_cost: `Write reviews/review_cost.md: is this plan worth its budget?

Draft-SHA256: <copy the line below>
Verdict: APPROVE|BLOCK

Blocking Reasons:
- none

Required Fix/Artifacts:
- none

The verdict is one word. A BLOCK must fill in both sections.`,
  plan_signed: `Write artifacts/PLAN.md: the approved draft, unchanged except for the line "Status: SIGNED".
Mechanically: verbatim workflow submit PLAN.md --from-draft`,
  make_patch: `Write artifacts/diff.patch: one unified diff against the base commit, as git diff writes it.
Its first bytes are "diff --git ". Patch only: no prose, no fences, no whole files.`,
  fix_patch: `Write artifacts/diff.patch again: one unified diff against the base commit, never on top of the earlier candidate.
The findings of the last candidate are in FIX_BRIEF below. Patch only: no prose, no fences, no whole files.`,
};

/** Who is asked by which template when an action has none of its own. */
export function templateFor(action: string): string {
  return TEMPLATES[action] ?? `Write the target file.`;
}
