import { assertNever } from "../../../core/errors/index.ts";
import { showPath } from "../../../core/paths/index.ts";
import { formatArgv } from "../../../rooms/workflow/index.ts";
import type { AgentSummary } from "./agent-summary.ts";
import { formatTwice } from "./explain-equipment.ts";
import { count, type ExplainLine, type ExplainPart } from "./explain-words.ts";

/** Where a run stands, in one sentence, and what can be done now. Only verbs that exist are named. */
export function describeEnd(run: AgentSummary): ExplainPart {
  const end = (mark: ExplainPart["mark"], says: string, ...lines: ExplainLine[]): ExplainPart => {
    return { part: "end", mark, says, lines };
  };
  const reason = run.reason ?? "no reason was given";
  const words = run.outcome.replaceAll("_", " ");
  switch (run.outcome) {
    case "verified":
      return end("good", "verified. Nothing is applied yet.", ...listWaysOn(run));
    case "unverified":
      return end("none", "unverified: no command checked the change. Nothing is applied yet.", ...listWaysOn(run));
    case "applied":
      return end("good", describeApplied(run));
    case "undone":
      return end(null, "undone: your tree is as it was before the change was applied; the record stays");
    case "discarded":
      return end(null, "discarded: thrown away, the record stays");
    case "unchanged":
      return end("good", "unchanged: the agent changed nothing that can be applied", tellMore(run));
    case "not_started":
      return end("bad", `not started: ${reason}`, next("start it again", goOn(run)));
    case "rejected":
      return end("bad", `rejected: ${reason}`, ...listWaysAround(run));
    case "verify_failed":
      return end(
        "bad",
        `verify failed: ${reason}`,
        next("what it printed", `verbatim agent logs ${run.run_id} --verify`),
        ...listOtherChecks(run),
        letGoOn(run),
        next("apply it all the same", `verbatim agent apply ${run.run_id} --unverified`),
        next("throw it away", `verbatim agent discard ${run.run_id}`),
      );
    case "over_limit":
      return end("bad", `over its limit: ${reason}`, ...listWaysToJudge(run));
    case "agent_failed":
    case "timed_out":
    case "interrupted":
      return end("bad", `${words}: ${reason}`, ...listWaysToJudge(run));
    case "preparing":
    case "working":
    case "capturing":
    case "judging":
    case "verifying":
    case "landing":
      return end(null, `${words}: the run has not ended yet`);
    default:
      return assertNever(run.outcome);
  }
}

/** What was applied, and how to take it back; it repeats when nothing verified the change. */
export function describeApplied(run: AgentSummary): string {
  const unverified = run.verify?.result === "NONE" ? ", unverified" : "";
  const files = run.landing?.files.length ?? run.changes.files.length;
  const tree = run.landing?.work_tree;
  // Only there it can be taken back.
  const place = tree === undefined ? "" : ` in ${showPath(tree)}`;
  const made = run.landing?.commit;
  if (made !== undefined) {
    const id = made.commit.slice(0, 7);
    const on = made.ref === "HEAD" ? "" : ` on ${quotePath(made.ref)}`;
    const back = made.aside ? `git branch -D ${quotePath(made.ref)}` : `git revert ${id}`;
    const what = made.aside ? "committed" : "applied and committed";
    return `${what} ${count(files, "file")}${unverified}${place} as ${id}${on}. Take it back: ${back}`;
  }
  const undo =
    tree === undefined
      ? `verbatim agent undo ${run.run_id}`
      : `verbatim -C ${quotePath(tree)} agent undo ${run.run_id} --here`;
  return `applied ${count(files, "file")}${unverified}${place}. Undo: ${undo}`;
}

/** A set-up that failed kept the commands from running: other commands would not help. */
function listOtherChecks({ run_id, code }: AgentSummary): ExplainLine[] {
  const again = `verbatim agent verify ${run_id}`;
  if (code !== "SETUP_FAILED") return [next("again with other commands", `${again} --verify "..."`)];
  return [next("with another set-up", `${again} --setup "..."`), next("without a set-up", `${again} --no-setup`)];
}

function next(says: string, command: string): ExplainLine {
  return { mark: null, says, command };
}

function goOn({ run_id }: AgentSummary): string {
  return `verbatim agent continue ${run_id}`;
}

function tellMore(run: AgentSummary): ExplainLine {
  return next("tell the agent more", `${goOn(run)} --message "..."`);
}

/** An agent that repeats itself needs to hear something new. */
function letGoOn(run: AgentSummary): ExplainLine {
  return run.code === "NO_PROGRESS" ? tellMore(run) : next("let the agent go on", goOn(run));
}

function listWaysOn({ run_id }: AgentSummary): ExplainLine[] {
  return [
    next("apply it", `verbatim agent apply ${run_id}`),
    next("read it", `verbatim agent show ${run_id} --diff`),
    next("take a part", `verbatim agent review ${run_id}`),
    next("throw it away", `verbatim agent discard ${run_id}`),
  ];
}

/** A rejected change is lifted by a new verdict, or lands without what was refused. */
function listWaysAround(run: AgentSummary): ExplainLine[] {
  const { run_id, gate, changes } = run;
  const findings = gate?.findings ?? [];
  const flags = [...new Set(findings.flatMap(({ flag }) => flag ?? []))];
  const isLifted = findings.length > 0 && findings.every(({ flag }) => flag !== null);
  const paths = [...new Set(findings.flatMap(({ path }) => path ?? []))];
  const isPart = paths.length > 0 && paths.length < changes.files.length && findings.every(({ path }) => path !== null);
  return [
    ...(isLifted ? [next("allow it", `verbatim agent verify ${run_id} ${flags.join(" ")}`)] : []),
    ...(isPart
      ? [
          next(
            "take the rest",
            `verbatim agent apply ${run_id} ${paths.map((path) => `--except ${quotePath(path)}`).join(" ")}`,
          ),
        ]
      : []),
    letGoOn(run),
    next("throw it away", `verbatim agent discard ${run_id}`),
  ];
}

/** Work that did not end well is kept, and judged only when somebody asks. */
function listWaysToJudge(run: AgentSummary): ExplainLine[] {
  const { run_id, changes } = run;
  // Whoever was stopped by a limit comes as far as before without another one.
  const more = findMore(run);
  const on = more === null ? letGoOn(run) : next("let it go on with more", `${goOn(run)} ${more}`);
  if (changes.files.length === 0) return [on];
  return [
    on,
    next("what it did so far is kept; judge it", `verbatim agent verify ${run_id}`),
    next("read it", `verbatim agent show ${run_id} --diff`),
    next("throw it away", `verbatim agent discard ${run_id}`),
  ];
}

/** Twice of what it ran into; null: no limit stopped it. */
function findMore({ agent }: AgentSummary): string | null {
  if (agent.money !== null) return `--max-usd ${(agent.money.limit * 2).toFixed(2)}`;
  const hit = agent.caps?.hit ?? null;
  return hit === null ? null : formatTwice(hit);
}

/** A path as a shell takes it: an agent chose the name, and people paste what they are shown. */
export function quotePath(path: string): string {
  return formatArgv([path]);
}
