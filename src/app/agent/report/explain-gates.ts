import { pickTelling } from "../../../rooms/workflow/index.ts";
import type { AgentSummary } from "./agent-summary.ts";
import { count, type ExplainLine, type ExplainPart, formatDuration } from "./explain-words.ts";

const MOST_LINES = 8;

/** What policy, scope and git say about the change. */
export function explainPolicy({ gate }: AgentSummary, typed: boolean): ExplainPart | null {
  if (gate === null) return null;
  if (gate.verdict === "accept") {
    const clean = "no protected path, no secret in what was added";
    // What somebody lifted may be in the change: then the rest of the sentence is all that holds.
    const says = gate.permit.length === 0 ? clean : `${clean}, except what was permitted: ${gate.permit.join(", ")}`;
    return { part: "policy", mark: "good", says, lines: [] };
  }
  const lines = gate.findings.slice(0, MOST_LINES).map((finding): ExplainLine => {
    return { mark: "bad", says: describeFinding(finding, typed) };
  });
  const rest = gate.findings.length - lines.length;
  if (rest > 0) lines.push({ mark: "bad", says: `and ${count(rest, "more finding")}` });
  return { part: "policy", mark: "bad", says: count(gate.findings.length, "problem"), lines };
}

type Finding = NonNullable<AgentSummary["gate"]>["findings"][number];

/** What is wrong and what helps; runs of earlier versions have only names for it. */
function describeFinding(finding: Finding, typed: boolean): string {
  const { code, rule, path, says, fix } = finding;
  if (says === "") return `${code} ${rule}${path === null ? "" : ` at ${path}`}`;
  const [what, how] = typed ? [says, fix] : [sayFinding(finding), FLAG.test(fix) ? "" : fix];
  return how === "" ? what : `${what}. ${how}`;
}

const FLAG = /(?:^|\s)--[a-z]/;
const SCOPES: Readonly<Record<string, string>> = {
  scope_deny: "this run may not touch it",
  scope_allow: "it is outside of what this run may touch",
};

/** What a gate found, for whoever did not type a flag. */
export function sayFinding({ rule, path, says }: Pick<Finding, "rule" | "path" | "says">): string {
  const why = SCOPES[rule];
  return why === undefined || path === null ? says : `${path}: ${why}`;
}

/** What is said of a change that nobody verified on the tree it went into, because somebody did without; else null. */
export function describeStale({ outcome, verify, landing }: AgentSummary, typed: boolean): string | null {
  if (outcome !== "applied" || verify !== null || landing?.moved !== true || landing.reverified) return null;
  return `not verified on the current tree${typed ? ": you asked for --no-reverify" : ""}`;
}

/** What the commands of the user say about the change. */
export function explainVerify(run: AgentSummary, typed: boolean): ExplainPart | null {
  const { verify, changes } = run;
  if (verify === null) {
    const says = describeStale(run, typed);
    return says === null ? null : { part: "verify", mark: "notice", says, lines: [] };
  }
  if (verify.result === "NONE") {
    return {
      part: "verify",
      mark: "none",
      says: `not verified: you asked for ${typed ? "--no-verify" : "no checks"}`,
      lines: [],
    };
  }
  const isGood = verify.result === "PASS";
  const copied =
    verify.isolation === "catalytic" ? "on an isolated copy of your tree" : "in a separate checkout, without isolation";
  const lines: ExplainLine[] = [];
  if (changes.ignored > 0) {
    const none =
      changes.ignored === 1
        ? "the agent's ignored file was not"
        : `none of the agent's ${changes.ignored} ignored files were`;
    lines.push({ mark: null, says: `${none} used` });
  }
  for (const { cmd, why, exit_code, duration_ms } of verify.setup) {
    const took =
      exit_code === 0 ? formatDuration(duration_ms) : `exit ${exit_code} after ${formatDuration(duration_ms)}`;
    lines.push({ mark: exit_code === 0 ? "good" : "bad", says: `${cmd}   ${took} (${why})` });
  }
  for (const { cmd, exit_code, duration_ms } of verify.commands) {
    if (cmd.startsWith("verbatim:") && exit_code === 0) continue;
    const also = verify.also_fails ? "   also fails without the change" : "";
    const took = formatDuration(duration_ms);
    if (exit_code === 0) lines.push({ mark: "good", says: `${cmd}   ${took}` });
    else lines.push({ mark: "bad", says: `${cmd}   exit ${exit_code} after ${took}${also}` });
  }
  const said = verify.failures
    .flatMap(({ message }) => message.split("\n").slice(1))
    .filter((line) => line.trim() !== "");
  // A tab is no character of a sentence, and would be shown as one that cannot be printed.
  for (const line of pickTelling(said, MOST_LINES))
    lines.push({ mark: null, says: `  ${line.replaceAll("\t", "    ")}` });
  for (const notice of verify.notices.slice(0, MOST_LINES)) lines.push({ mark: "notice", says: notice });
  const says = `${isGood ? "passed" : "failed"} ${verify.on ?? copied}`;
  return { part: "verify", mark: isGood ? "good" : "bad", says, lines };
}

/** What is known about the real tree, and no more. */
export function explainTree({ proof }: AgentSummary): ExplainPart | null {
  if (proof === null) return null;
  const lines: ExplainLine[] = [
    ...proof.limits.map((limit): ExplainLine => ({ mark: "notice", says: limit })),
    ...proof.violations.slice(0, MOST_LINES).map((violation): ExplainLine => ({ mark: "bad", says: violation })),
  ];
  if (proof.concurrent_changes.length > 0) {
    const paths = proof.concurrent_changes.slice(0, 5).join(", ");
    lines.push({ mark: "notice", says: `${paths} changed while the agent worked, but not by it` });
  }
  if (proof.head_moved !== undefined) {
    const [from, to] = [proof.head_moved.from.slice(0, 7), proof.head_moved.to.slice(0, 7)];
    lines.push({ mark: null, says: `HEAD moved from ${from} to ${to} while the agent worked` });
  }
  const tree = (mark: ExplainPart["mark"], says: string): ExplainPart => ({ part: "tree", mark, says, lines });
  if (!isTreeSame(proof)) return tree("bad", "it is not proved that your tree is unchanged");
  if (proof.guard === "audit") {
    // A guard that prevents nothing earns no tick.
    return tree("notice", "nothing could hold the agent back; comparing afterwards found no change in your tree");
  }
  const isLost = proof.condition === "RECOVERED_AFTER_CRASH";
  const how = proof.guard === "ns-overlay" ? "overlay" : `a copy, guard ${proof.guard}`;
  // Nobody looked at it when the agent ended, because Verbatim ended first.
  if (isLost) return tree("none", `it was read-only to the agent (${how}); it was not compared afterwards`);
  const checked = proof.checked === undefined ? "" : ` (checked ${count(proof.checked, "file")} and folders)`;
  return tree("good", `nothing in it was changed by the agent${checked}; it was read-only to the agent (${how})`);
}

function isTreeSame(proof: NonNullable<AgentSummary["proof"]>): boolean {
  const { tree_root_before, tree_root_after, violations } = proof;
  // A view that is too large to read says nothing about the real tree.
  const isTouched = violations.some((violation) => !violation.startsWith("VIEW_"));
  return tree_root_before !== null && tree_root_before === tree_root_after && !isTouched;
}
