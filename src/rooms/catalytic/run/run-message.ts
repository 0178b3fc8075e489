import type { VerbatimError } from "../../../core/errors/index.ts";
import type { Mismatch } from "../tree/diff.ts";
import type { Entry, Trees } from "../tree/tree.ts";
import type { CommandResult, Verdict, Violation } from "../verify/verdict.ts";

const SHOWN = 10;

interface EndingFacts {
  readonly run_id: string;
  readonly verdict: Verdict;
  readonly command: CommandResult;
  readonly violations: readonly Violation[];
  readonly mismatches: readonly Mismatch[];
  /** The domains as they were and as they are. */
  readonly pre: Trees;
  readonly post: Trees;
  readonly domains: number;
  readonly quarantined: readonly string[];
  readonly record: string;
  readonly failure: VerbatimError | null;
}

export interface EndingText {
  readonly status: "succeeded" | "failed" | "halted";
  readonly message: string;
  readonly next_step: string;
}

/** What a person is told about the end of a run: what happened, where things are, what to do next. */
export function explainEnding(facts: EndingFacts): EndingText {
  const { run_id: run, verdict, command } = facts;
  if (verdict.verified) return { status: "succeeded", message: "", next_step: `verbatim catalytic verify ${run}` };
  if (!verdict.domains_identical) {
    const shown = facts.mismatches.slice(0, SHOWN).map((one) => describeMismatch(one, facts));
    return {
      status: "halted",
      message: `${verdict.condition}: ${facts.mismatches.length} ${facts.mismatches.length === 1 ? "path differs" : "paths differ"}. ${shown.join("; ")}`,
      next_step: `verbatim catalytic recover ${run} --retry | --accept-current --by NAME --reason TEXT`,
    };
  }
  const parts = [`${verdict.condition}${command.exit_code === null ? "" : `, exit ${command.exit_code}`}.`];
  if (facts.failure !== null) parts.push(facts.failure.message);
  parts.push(`${count(facts.domains, "domain")} restored and identical.`);
  if (facts.violations.length > 0)
    parts.push(`${count(facts.violations.length, "violation")}: ${listViolations(facts.violations)}.`);
  const { quarantined } = facts;
  if (quarantined.length > 0) {
    parts.push(`${count(quarantined.length, "output")} in quarantine: ${facts.record}/quarantine/${quarantined[0]}.`);
  }
  return { status: "failed", message: parts.join(" "), next_step: `verbatim catalytic show ${run}` };
}

/** What was there and what is, in terms a person can check: the hash of a file is what `sha256sum` gives. */
function describeMismatch(
  { domain, path, fields }: Mismatch,
  { pre, post }: Pick<EndingFacts, "pre" | "post">,
): string {
  const [was, is] = [pre.get(domain)?.get(path), post.get(domain)?.get(path)];
  const shown = path === "." ? domain : `${domain}/${path}`;
  return `${shown}: expected ${describeEntry(was, fields)}, actual ${describeEntry(is, fields)}`;
}

function describeEntry(entry: Entry | undefined, fields: readonly string[] = ["type", "sha256", "target"]): string {
  if (entry === undefined) return "nothing";
  const facts: Readonly<Record<string, unknown>> = { ...entry };
  // The content of a file says its size as well, and its type.
  const named = fields.filter((field) => facts[field] !== undefined && field !== "type" && field !== "size");
  return [NAMES[entry.type], ...named.map((field) => `${field} ${String(facts[field])}`)].join(" ");
}

const NAMES: Readonly<Record<Entry["type"], string>> = { file: "a file", dir: "a folder", symlink: "a link" };

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function listViolations(violations: readonly Violation[]): string {
  const shown = violations.slice(0, SHOWN).map(({ code, path }) => `${code} ${path}`);
  return shown.join(", ") + (violations.length > SHOWN ? ", and more" : "");
}
