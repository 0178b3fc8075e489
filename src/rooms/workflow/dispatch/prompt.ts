import { type ArtifactFinding, sayFinding } from "../artifacts/finding.ts";

/** What an outbox prompt is made of (Artifact Contracts L). */
interface PromptFacts {
  readonly runDir: string;
  readonly repoRoot: string;
  readonly goal: string;
  readonly role: string;
  readonly action: string;
  readonly provider: string;
  readonly target: string;
  readonly reason: string;
  readonly missing: readonly string[];
  readonly budgets: {
    readonly max_outbox_prompts: number | null;
    readonly max_files: number | null;
    readonly max_total_bytes: number | null;
    readonly max_iterations: number | null;
  };
  readonly findings: readonly ArtifactFinding[];
  readonly submit: string;
  readonly template: string;
  /** For reviews: the draft's hash to copy. */
  readonly draftSha256: string | null;
  /** For chair, patchmaker, fixer and agents. */
  readonly evidence: string | null;
}

const PATCH_TARGET = "artifacts/diff.patch";

/** The text of a prompt; the same facts give the same text. */
export function formatPrompt(facts: PromptFacts): string {
  const { budgets, target } = facts;
  const amount = (value: number | null) => (value === null ? "n/a" : String(value));
  const rules = [
    `Only write the target: ${target}`,
    "Do not modify repo files.",
    "Follow the template's keys exactly.",
    `Submit with: ${facts.submit}`,
    ...(target === PATCH_TARGET ? ["Unified diff only: no prose, no fences, first bytes `diff --git`."] : []),
  ];
  const lines = [
    "# OUTBOX PROMPT",
    `Run-Dir: ${facts.runDir}`,
    `Repo-Root: ${facts.repoRoot}`,
    `Goal: ${toOneLine(facts.goal)}`,
    `Role: ${facts.role}`,
    `Action: ${facts.action}`,
    `Provider: ${facts.provider}`,
    `Target-Path: ${facts.runDir}/${target}`,
    `write to: ${target}`,
    `Reason: ${toOneLine(facts.reason)}`,
    "Missing-Artifact-Paths:",
    ...(facts.missing.length === 0 ? ["- none"] : facts.missing.map((path) => `- ${path}`)),
    "Budgets:",
    `- max_outbox_prompts: ${amount(budgets.max_outbox_prompts)}`,
    `- max_files: ${amount(budgets.max_files)}`,
    `- max_total_bytes: ${amount(budgets.max_total_bytes)}`,
    `- max_iterations: ${amount(budgets.max_iterations)}`,
    "Hard Rules:",
    ...rules.map((rule, i) => `${i + 1}. ${rule}`),
    "---",
    ...(facts.findings.length === 0 ? [] : ["Findings:", ...facts.findings.map(toFindingLine), ""]),
    facts.template,
    ...(facts.draftSha256 === null ? [] : ["", `Draft-SHA256: ${facts.draftSha256}`]),
    "---",
    ...(facts.evidence === null ? [] : [facts.evidence]),
  ];
  return `${lines.join("\n")}\n`;
}

function toFindingLine(finding: ArtifactFinding): string {
  const place = finding.line === null ? finding.file : `${finding.file}:${finding.line}`;
  return `- ${place}: ${finding.code} ${toOneLine(sayFinding(finding))}`;
}

/** A text on one line: a goal with line breaks cannot fake a line of the prompt. */
export function toOneLine(text: string): string {
  return text.replace(/[\x00-\x1f\x7f\u2028\u2029]+/g, " ").trim();
}

const REQUIRED = [
  "# OUTBOX PROMPT",
  "Run-Dir: ",
  "Repo-Root: ",
  "Goal: ",
  "Role: ",
  "Action: ",
  "Provider: ",
  "Target-Path: ",
  "write to: ",
  "Reason: ",
  "Missing-Artifact-Paths:",
  "Budgets:",
  "- max_outbox_prompts: ",
  "- max_files: ",
  "- max_total_bytes: ",
  "- max_iterations: ",
  "Hard Rules:",
  "---",
] as const;

/** What is wrong with a prompt: lines that are missing or out of order, and values without a meaning. */
export function findPromptProblems(
  text: string,
): { readonly code: string; readonly line: number; readonly message: string }[] {
  const lines = text.split("\n");
  const problems: { code: string; line: number; message: string }[] = [];
  let last = -1;
  for (const start of REQUIRED) {
    const at = lines.findIndex((line) =>
      start.endsWith(" ") || start.endsWith(":") ? line.startsWith(start) : line === start,
    );
    const name = start.trim();
    if (at === -1) problems.push({ code: "PROMPT_LINE_MISSING", line: 1, message: `the line ${name} is missing` });
    else if (at < last) problems.push({ code: "PROMPT_LINE_ORDER", line: at + 1, message: `${name} comes too early` });
    else {
      last = at;
      if (!hasValue(start, lines[at]!.slice(start.length)) || !hasList(start, lines.slice(at + 1))) {
        problems.push({ code: "PROMPT_VALUE_INVALID", line: at + 1, message: `${name} has no valid value` });
      }
    }
  }
  return problems;
}

function hasValue(start: string, value: string): boolean {
  if (start.startsWith("- ")) return /^(?:n\/a|[1-9][0-9]*)$/.test(value);
  if (start === "Run-Dir: " || start === "Target-Path: ") return /^(?:\/|[A-Za-z]:[\\/])/.test(value);
  if (start === "write to: ") return /^(?:artifacts|reviews)\/[A-Za-z0-9_.-]+$/.test(value);
  return start.endsWith(" ") ? value.trim() !== "" : true;
}

/** The lists of Artifact Contracts L say something. */
function hasList(start: string, below: readonly string[]): boolean {
  if (start === "Missing-Artifact-Paths:") return /^- ./.test(below[0] ?? "");
  return start !== "Hard Rules:" || /^1\. ./.test(below[0] ?? "");
}
