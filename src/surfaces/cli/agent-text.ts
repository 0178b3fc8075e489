import { describeBinary, explainRun } from "../../app/agent/report/explain.ts";
import { quotePath } from "../../app/agent/report/explain-end.ts";
import { type ExplainPart, formatUsd, type Mark } from "../../app/agent/report/explain-words.ts";
import type { Output } from "../../app/operations.ts";
import { showLine } from "../../core/text/index.ts";
import type { Io } from "./io.ts";
import { formatTable } from "./table.ts";

type Report = Output<"agent.show">;

/** What became of an agent run. */
export type AgentView = Report["summary"];

const LABELS: Readonly<Record<ExplainPart["part"], string>> = {
  goal: "goal",
  agent: "agent",
  base: "base",
  change: "change",
  policy: "policy",
  verify: "verify",
  tree: "your tree",
  network: "network",
  shown: "shown",
  kept: "kept",
  hooks: "hooks",
  end: "",
};

const INDENT = " ".repeat(12);

/** Prints the report of a run, and unless somebody is asked right after, what can be typed next. */
export function renderAgent(view: AgentView, io: Io, withNext = true, whole = false): void {
  io.line(`${io.paint.bold("agent run")} ${view.run_id}`);
  renderExplanation(explainRun(view, true, whole), io, withNext);
}

function renderExplanation(parts: readonly ExplainPart[], io: Io, withNext: boolean): void {
  for (const part of parts) {
    if (part.part === "end") renderEnd(part, io, withNext);
    else renderPart(part, io);
  }
}

function renderPart({ part, mark, says, lines }: ExplainPart, io: Io): void {
  const [first = "", ...rest] = wrap(says, io.width - 13);
  io.line(`${sign(mark, io)} ${io.paint.dim(LABELS[part].padEnd(9))} ${first}`);
  for (const line of rest) io.line(`${INDENT}${line}`);
  for (const line of lines) {
    const [begin = "", ...more] = wrap(line.says, io.width - INDENT.length - 2);
    io.line(`${INDENT}${line.mark === null ? "" : `${sign(line.mark, io)} `}${begin}`);
    // What a command printed keeps its own indentation.
    const [lead] = /^ */.exec(line.says)!;
    for (const text of more) io.line(`${INDENT}${line.mark === null ? lead : "  "}${text}`);
  }
}

function renderEnd({ mark, says, lines }: ExplainPart, io: Io, withNext: boolean): void {
  io.line(paintSentence(mark, says, io));
  const next = withNext ? lines.filter(({ command }) => command !== undefined) : [];
  const widest = Math.max(0, ...next.map((line) => line.says.length));
  for (const { says: text, command = "" } of next) io.line(`  ${`${text}:`.padEnd(widest + 1)}  ${showLine(command)}`);
}

/** A sentence whose first words are what counts. */
export function paintSentence(mark: Mark, says: string, { paint }: Io): string {
  const [, words = "", rest = ""] = /^(.*?)([.:,].*)?$/s.exec(showLine(says)) ?? [];
  const colour = { good: paint.good, bad: paint.bad, notice: paint.warn, none: paint.warn };
  return `${mark === null ? words : colour[mark](words)}${rest}`;
}

function sign(mark: Mark, { paint }: Io): string {
  switch (mark) {
    case "good":
      return paint.good("✓");
    case "bad":
      return paint.bad("✗");
    case "notice":
      return paint.warn("!");
    case "none":
      return "-";
    default:
      return " ";
  }
}

/** Lines that fit, broken at single spaces; what is further apart belongs together, and so do a number and its unit. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of showLine(text).split(/(?<=\S) (?!(?:ms|s|min|h|kB|MB)\b)(?=\S)/)) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

type FileDiff = NonNullable<Report["diff"]>[number];

/** A change as a unified diff. */
export function renderDiff(files: readonly FileDiff[], io: Io): void {
  for (const file of files) {
    io.line(io.paint.bold(describeFile(file)));
    for (const { text } of file.hunks) for (const line of paintHunk(text, io)) io.line(line);
  }
}

/** The same with the numbers of its parts, and how to take some of them. */
export function renderHunks(run: string, files: readonly FileDiff[], io: Io): void {
  for (const file of files) {
    io.line(io.paint.bold(describeFile(file)));
    if (file.hunks.length === 0) io.line("  taken or left whole");
    for (const { n, parts = [], text } of file.hunks) {
      const split = parts.length === 0 ? "" : `, parts ${parts.map((part) => part.n).join(" ")}`;
      io.line(`  ${io.paint.bold(`${n}`)}${io.paint.dim(split)}`);
      for (const line of paintHunk(text, io)) io.line(`    ${line}`);
    }
  }
  const [first] = files;
  if (first === undefined) return;
  const part = first.hunks.length === 0 ? first.path : `${first.path}:1`;
  io.line();
  io.line(`take some:       verbatim agent apply ${run} --only ${showLine(quotePath(part))}`);
  io.line(`leave some out:  verbatim agent apply ${run} --except ${showLine(quotePath(part))}`);
}

const SIGNS = { create: "A", modify: "M", delete: "D" } as const;

function describeFile(file: FileDiff): string {
  const { path, operation, kind, target, mode, added, deleted } = file;
  const name = `${SIGNS[operation]} ${showLine(path)}`;
  if (kind === "text") return `${name}  +${added} -${deleted}`;
  if (kind === "binary") return `B ${showLine(path)}  ${describeBinary(file)}`;
  if (operation === "delete") return `${name}  ${kind}`;
  if (kind === "link") return `L ${showLine(path)} -> ${showLine(target ?? "")}`;
  return `x ${showLine(path)}  mode ${mode ?? ""}`;
}

function paintHunk(text: string, { paint }: Io): string[] {
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => {
      if (line.startsWith("@@")) return paint.dim(line);
      if (line.startsWith("+")) return paint.good(line);
      return line.startsWith("-") ? paint.bad(line) : line;
    });
}

/** Two runs side by side: where each stands, and what each does to every file. */
export function renderComparison(first: AgentView, { summary, files }: NonNullable<Report["compared"]>, io: Io): void {
  const facts = [first, summary].map((view) => [
    toShortId(view.run_id),
    view.outcome,
    String(view.changes.files.length),
    `+${view.changes.added_lines} -${view.changes.deleted_lines}`,
    view.goal.replace(/\s+/g, " "),
  ]);
  const columns = [
    { title: "run" },
    { title: "outcome" },
    { title: "files", align: "right" },
    { title: "lines", align: "right" },
    { title: "goal", shrink: true },
  ] as const;
  for (const line of formatTable(columns, facts, io.width)) io.line(line);
  io.line();
  const size = (one: { added: number; deleted: number } | null) =>
    one === null ? "-" : `+${one.added} -${one.deleted}`;
  const rows = files.map((file) => [file.path, size(file.first), size(file.second), file.same ? "the same" : ""]);
  const [a, b] = [toShortId(first.run_id), toShortId(summary.run_id)];
  const heads = [
    { title: "file", shrink: true },
    { title: a, align: "right" },
    { title: b, align: "right" },
    { title: "" },
  ] as const;
  for (const line of formatTable(heads, rows, io.width)) io.line(line);
}

type Listed = Output<"agent.list">["runs"][number];

/** Lines of `agent list`. Runs of other work trees come with their place. */
export function formatAgentList(runs: readonly Listed[], here: string, io: Pick<Io, "width" | "flags">): string[] {
  const isPriced = runs.some(({ cost }) => cost !== null);
  const isMixed = runs.some(({ root }) => root !== here);
  const rows = runs.map((run) => [
    io.flags.full ? run.run_id : toShortId(run.run_id),
    run.outcome,
    `${run.created_at.slice(0, 10)} ${run.created_at.slice(11, 16)}`,
    String(run.files),
    `+${run.added_lines} -${run.deleted_lines}`,
    ...(isPriced ? [run.cost === null ? "-" : formatUsd(run.cost)] : []),
    ...(isMixed ? [run.root === here ? "." : showLine(run.root)] : []),
    showLine(run.goal.replace(/\s+/g, " ")),
  ]);
  const columns = [
    { title: "run" },
    { title: "outcome" },
    { title: "began (UTC)" },
    { title: "files", align: "right" },
    { title: "lines", align: "right" },
    ...(isPriced ? [{ title: "cost", align: "right" as const }] : []),
    ...(isMixed ? [{ title: "work tree", shrink: true }] : []),
    { title: "goal", shrink: true },
  ] as const;
  return formatTable(columns, rows, io.width);
}

/** The last six digits, which name a run as well; an id that somebody chose stays whole. */
function toShortId(id: string): string {
  return /^[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$/.test(id) ? id.slice(-6) : id;
}
