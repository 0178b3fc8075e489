import { z } from "zod";
import { explainNetwork } from "../work/connections.ts";
import type { AgentSummary } from "./agent-summary.ts";
import { describeEnd } from "./explain-end.ts";
import { explainEquipment } from "./explain-equipment.ts";
import { explainPolicy, explainTree, explainVerify } from "./explain-gates.ts";
import {
  count,
  type ExplainLine,
  type ExplainPart,
  formatDuration,
  formatSize,
  formatUsd,
  plain,
} from "./explain-words.ts";

const mark = z.enum(["good", "bad", "notice", "none"]).nullable().describe("Null: nothing is judged here.");

/** The report of a run as data: every surface says these sentences and no others. */
export const explanation = z.array(
  z.strictObject({
    part: z.enum([
      "goal",
      "agent",
      "base",
      "change",
      "policy",
      "verify",
      "tree",
      "network",
      "shown",
      "kept",
      "hooks",
      "end",
    ]),
    mark,
    says: z.string(),
    lines: z.array(
      z.strictObject({
        mark,
        says: z.string(),
        command: z.string().optional().describe("What to type for it."),
      }),
    ),
  }),
);

const MOST_FILES = 15;
const MOST_NOTES = 8;
const WIDEST = 48;

const SIGNS = { create: "A", modify: "M", delete: "D", mode: "x" } as const;

const WHY: Readonly<Record<string, string>> = {
  special_file: "a special file",
  too_large: "too large to carry",
  reserved: "it belongs to Verbatim or is forbidden to agents",
  hidden: "the agent cannot see what is in it",
  git_name: "some systems treat this name as .git",
  empty_folder: "an empty folder",
  mode: "only permissions changed, which git does not record",
  filtered: "a filter in your git settings rewrites it, so a patch cannot change it; copy it by hand",
  left_out: "left out as you asked",
  setuid: "it would run with the rights of its owner",
};

const HOW_TO_SEE = "; let it: --unmask, and --permit to change it";

/** Everything a person wants to know about a run, in sentences. Flags are named only to somebody who types. */
export function explainRun(run: AgentSummary, typed = true, whole = false): ExplainPart[] {
  const parts: (ExplainPart | null)[] = [
    { part: "goal", mark: null, says: run.goal.replace(/\s+/g, " "), lines: [] },
    explainAgent(run, typed, whole),
    explainBase(run),
    explainChange(run, typed),
    explainPolicy(run, typed),
    explainVerify(run, typed),
    explainTree(run),
    explainNetwork(run.network, typed),
    explainShown(run),
    run.kept.length === 0
      ? null
      : plain("kept", `${run.kept.join(", ")} stayed writable and is not covered by the proof`),
    explainHooks(run),
    describeEnd(run),
  ];
  return parts.filter((part) => part !== null);
}

function explainAgent(run: AgentSummary, typed: boolean, whole: boolean): ExplainPart {
  const { agent } = run;
  const command = agent.argv.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))).join(" ");
  const short = command.length > 90 ? `${command.slice(0, 89)}…` : command;
  const lines: ExplainLine[] = [];
  if (agent.commits === null) {
    lines.push({ mark: "notice", says: "the agent made more commits than can be counted; only its changes are kept" });
  } else if (agent.commits > 0) {
    const [its, gone] = agent.commits === 1 ? ["the commit itself", "is"] : ["the commits themselves", "are"];
    const says = `the agent made ${count(agent.commits, "commit")}; its changes are in the diff, ${its} ${gone} gone`;
    lines.push({ mark: null, says });
  }
  lines.push(...explainEquipment(run, typed, whole));
  return { part: "agent", mark: null, says: `${short}   ${describeAgentEnd(run, typed)}${describeUsed(run)}`, lines };
}

function describeAgentEnd({ outcome, agent, proof }: AgentSummary, typed: boolean): string {
  const took = formatDuration(agent.duration_ms);
  if (outcome === "not_started") return "did not start";
  if (proof === null) return outcome === "interrupted" ? "did not end by itself" : "is at work";
  if (proof.condition === "RECOVERED_AFTER_CRASH") return "ended when Verbatim did";
  if (agent.money !== null) return `was ended after ${took} (${typed ? "--max-usd" : "limit of money"})`;
  if (agent.caps?.hit != null) return `was ended after ${took} (${typed ? "--" : "limit of "}${agent.caps.hit.cap})`;
  if (proof.condition === "COMMAND_TIMED_OUT")
    return `was stopped after ${took} (${typed ? "--timeout" : "its time limit"})`;
  if (proof.condition === "INTERRUPTED") return `was interrupted after ${took}`;
  if (agent.exit_code === 0) return `ended by itself after ${took}`;
  return agent.exit_code === null
    ? `was killed by a signal after ${took}`
    : `ended with exit code ${agent.exit_code} after ${took}`;
}

/** `, 2 attempts, about $0.41` */
function describeUsed({ usage }: AgentSummary): string {
  if (usage === null) return "";
  const attempts = usage.attempts > 1 ? `, ${count(usage.attempts, "attempt")}` : "";
  return `${attempts}${usage.usd === null ? ", cost not known" : `, about ${formatUsd(usage.usd)}`}`;
}

function explainBase({ base }: AgentSummary): ExplainPart | null {
  if (base.dirty_count === 0) return null;
  return plain("base", `${base.commit.slice(0, 12)} and ${count(base.dirty_count, "local change")}`);
}

function explainChange({ changes, verify }: AgentSummary, typed: boolean): ExplainPart {
  const { files, added_lines, deleted_lines, binaries, ignored, not_carried } = changes;
  const binary = binaries.length === 0 ? "" : `, ${binaries.length} of them binary`;
  const says =
    files.length === 0 ? "none" : `${count(files.length, "file")}, +${added_lines} -${deleted_lines}${binary}`;
  const shown = files.slice(0, MOST_FILES).map(formatFile);
  const widest = Math.min(WIDEST, Math.max(0, ...shown.map(({ name }) => name.length)));
  const lines: ExplainLine[] = shown.flatMap(({ name, facts, notices }) => [
    { mark: null, says: `${name.padEnd(widest)}  ${facts}`.trimEnd() },
    ...notices.map((notice): ExplainLine => ({ mark: "notice", says: notice })),
  ]);
  if (files.length > MOST_FILES) lines.push({ mark: null, says: `and ${files.length - MOST_FILES} more` });
  // Where commands ran, what they used is said with them.
  if (ignored > 0 && (verify === null || verify.result === "NONE")) {
    const they = ignored === 1 ? "it was" : "they were";
    lines.push({ mark: null, says: `the agent also wrote ${count(ignored, "ignored file")}; ${they} not used` });
  }
  for (const { path, why } of not_carried.slice(0, MOST_NOTES)) {
    lines.push({
      mark: "notice",
      says: `${path} is not part of the change: ${WHY[why] ?? why}${typed && why === "hidden" ? HOW_TO_SEE : ""}`,
    });
  }
  if (not_carried.length > MOST_NOTES) {
    lines.push({ mark: "notice", says: `and ${not_carried.length - MOST_NOTES} more that are not part of the change` });
  }
  return { part: "change", mark: null, says, lines };
}

type ChangedFile = AgentSummary["changes"]["files"][number];

/** `M src/date.ts  +30 -12`, `B feb.bin  new, 2.1 kB, binary`, `L current -> 2.4`, `x run.sh  only its mode`. */
function formatFile(file: ChangedFile): { name: string; facts: string; notices: readonly string[] } {
  const { path, kind, operation, notices } = file;
  if (kind === "link" && operation !== "delete") {
    return { name: `L ${path} -> ${file.target ?? ""}`, facts: operation === "create" ? "new link" : "link", notices };
  }
  if (kind === "binary") return { name: `B ${path}`, facts: describeBinary(file), notices };
  if (operation === "mode") return { name: `x ${path}`, facts: "only its mode", notices };
  const lines = kind === "text" ? `+${file.added} -${file.deleted}` : "";
  return { name: `${SIGNS[operation]} ${path}`, facts: lines, notices };
}

/** `new, 2.1 kB, binary`, `2.1 kB -> 3.4 kB, binary`, `deleted, 2.1 kB, binary`. */
export function describeBinary(file: Pick<ChangedFile, "operation" | "bytes" | "old_bytes">): string {
  const { operation, bytes, old_bytes } = file;
  const old = old_bytes === undefined ? null : formatSize(old_bytes);
  if (operation === "create") return `new, ${formatSize(bytes)}, binary`;
  if (operation === "delete") return `deleted, ${old === null ? "" : `${old}, `}binary`;
  return `${old === null ? "" : `${old} -> `}${formatSize(bytes)}, binary`;
}

function explainShown({ shown }: AgentSummary): ExplainPart | null {
  if (shown.files.length === 0) return null;
  return plain("shown", `the agent was given ${count(shown.files.length, "file")} (${formatSize(shown.bytes)})`);
}

function explainHooks({ hooks }: AgentSummary): ExplainPart | null {
  if (hooks.reported === 0) return null;
  const were = `of the agent ${hooks.reported === 1 ? "was" : "were"} checked by hooks`;
  const checked = `${count(hooks.reported, "action")} ${were}, ${hooks.reported_blocked} refused`;
  return plain("hooks", `${checked}, as the agent reports it; nothing else confirms it`);
}
