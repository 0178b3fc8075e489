import type { Output } from "../../app/operations.ts";
import type { Io } from "./io.ts";
import { showLine } from "./plain-text.ts";
import { formatTable } from "./table.ts";

/** What became of an agent run. */
export type AgentView = Output<"agent.show">["summary"];

const MOST_FILES = 15;
const MOST_LINES = 8;

const SIGNS: Readonly<Record<string, string>> = { create: "A", modify: "M", delete: "D", mode: "x" };

const WHY: Readonly<Record<string, string>> = {
  special_file: "a special file",
  too_large: "too large to be carried",
  reserved: "it belongs to Verbatim or is forbidden to agents",
  git_name: "some system takes the name for .git",
  empty_folder: "an empty folder",
  mode: "only permissions that git does not keep",
  filtered: "a filter of your git settings rewrites it, so no patch can change it; copy it by hand",
  left_out: "left out as you asked",
};

/** Prints what became of an agent run: change, gates, proof, what next. Fits 80 columns. */
export function renderAgent(view: AgentView, io: Io): void {
  const { paint } = io;
  io.line(`${paint.bold("agent run")} ${view.run_id}`);
  field(io, "goal", view.goal.replace(/\s+/g, " "));
  field(io, "agent", formatAgent(view));
  if (view.base.dirty_count > 0) {
    field(io, "base", `${view.base.commit.slice(0, 12)} and ${count(view.base.dirty_count, "local change")}`);
  }
  renderChanges(view, io);
  renderGates(view, io);
  renderProof(view, io);
  if (view.shown.files.length > 0) {
    field(io, "shown", `${count(view.shown.files.length, "file")} in the context pack, ${view.shown.bytes} bytes`);
  }
  if (view.kept.length > 0) field(io, "kept", `${view.kept.join(", ")} (really writable, outside every promise)`);
  if (view.hooks.reported > 0) {
    const { reported, reported_blocked } = view.hooks;
    field(
      io,
      "hooks",
      `the agent's side reports ${count(reported, "call")}, ${reported_blocked} blocked; nobody else saw them`,
    );
  }
  io.line();
  for (const line of formatEnd(view, io)) io.line(line);
}

function field(io: Io, name: string, text: string, mark = " "): void {
  const [first = "", ...rest] = wrap(text, io.width - 13);
  io.line(`${mark} ${io.paint.dim(name.padEnd(9))} ${first}`);
  for (const line of rest) io.line(`${" ".repeat(12)}${line}`);
}

function formatAgent({ agent }: AgentView): string {
  const command = agent.argv.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))).join(" ");
  const short = command.length > 90 ? `${command.slice(0, 89)}…` : command;
  const own = agent.commits === null ? "too many commits to count" : count(agent.commits, "commit");
  const commits = agent.commits === 0 ? "" : `, ${own} of its own`;
  return `${short}  (exit ${agent.exit_code ?? "none"}, ${seconds(agent.duration_ms)}${commits})`;
}

function renderChanges({ changes }: AgentView, io: Io): void {
  const { files, added_lines, deleted_lines } = changes;
  field(
    io,
    "change",
    files.length === 0 ? "none" : `${count(files.length, "file")}, +${added_lines} -${deleted_lines}`,
  );
  for (const file of files.slice(0, MOST_FILES)) {
    const lines = `+${file.added} -${file.deleted}`;
    io.line(`            ${SIGNS[file.operation] ?? "M"} ${showLine(file.path)}  ${io.paint.dim(lines)}`);
  }
  if (files.length > MOST_FILES) io.line(`            and ${files.length - MOST_FILES} more`);
  const notes = [
    ...(changes.ignored > 0 ? [`${count(changes.ignored, "git-ignored path")} changed and left out`] : []),
    ...changes.binaries.map((path) => `${showLine(path)} is binary and cannot travel in a patch`),
    ...changes.links.map((path) => `${showLine(path)} is a link and cannot travel in a patch`),
    ...changes.not_carried.map(({ path, why }) => `${showLine(path)} is not carried: ${WHY[why] ?? why}`),
  ];
  for (const note of notes.slice(0, MOST_LINES)) io.line(`            ${io.paint.warn("!")} ${note}`);
  if (notes.length > MOST_LINES) io.line(`            and ${notes.length - MOST_LINES} more notes (--json has all)`);
}

function renderGates({ gate, verify }: AgentView, io: Io): void {
  const { paint } = io;
  if (gate !== null) {
    const isGood = gate.verdict === "accept";
    field(io, "gate", isGood ? "scope, policy and git accept the patch" : "rejected", sign(isGood, io));
    for (const { code, rule, path } of gate.findings.slice(0, MOST_LINES)) {
      io.line(`            ${paint.bad(code)} ${rule}${path === null ? "" : ` at ${showLine(path)}`}`);
    }
  }
  if (verify === null) return;
  if (verify.result === "NONE") {
    field(io, "verify", "not verified: you asked for --no-verify", "-");
    return;
  }
  const where = verify.isolation === "catalytic" ? "in an isolated view" : "in a separate checkout, by plain processes";
  const isGood = verify.result === "PASS";
  field(io, "verify", `${isGood ? "passed" : "failed"} ${where}`, sign(isGood, io));
  for (const { cmd, exit_code, duration_ms } of verify.commands) {
    if (cmd.startsWith("verbatim:") && exit_code === 0) continue;
    io.line(
      `            ${sign(exit_code === 0, io)} ${showLine(cmd)}  ${paint.dim(`${exit_code}, ${seconds(duration_ms)}`)}`,
    );
  }
  const lines = verify.failures
    .flatMap(({ message }) => message.split("\n").slice(1))
    .filter((line) => line.trim() !== "");
  for (const line of lines.slice(-MOST_LINES))
    io.line(`              ${paint.dim(showLine(line).slice(0, io.width - 14))}`);
}

function renderProof({ proof }: AgentView, io: Io): void {
  if (proof === null) return;
  const root = proof.tree_root_before?.slice(0, 16) ?? "unknown";
  if (!isTreeSame(proof)) field(io, "proof", "the real tree is not proved", sign(false, io));
  else if (proof.guard === "audit") {
    // A guard that holds nobody back earns no tick.
    const text = `nothing was prevented; compared afterwards, the real tree shows no change, root ${root}`;
    field(io, "proof", text, io.paint.warn("!"));
  } else field(io, "proof", `the real tree is untouched, root ${root}`, sign(true, io));
  const view = proof.guard === "ns-overlay" ? "an overlay of the tree" : "a copy of the tree, no overlay here";
  io.line(`            guard ${proof.guard}, ${view}`);
  io.line(`            hashed ${proof.hashed}`);
  for (const limit of proof.limits) io.line(`            ${io.paint.warn("!")} ${limit}`);
  for (const violation of proof.violations.slice(0, MOST_LINES))
    io.line(`            ${io.paint.bad(showLine(violation))}`);
  if (proof.concurrent_changes.length > 0) {
    const paths = proof.concurrent_changes.slice(0, 5).map(showLine).join(", ");
    io.line(`            ${io.paint.warn("!")} somebody else changed ${paths} meanwhile`);
  }
}

function isTreeSame(proof: NonNullable<AgentView["proof"]>): boolean {
  const { tree_root_before, tree_root_after, violations } = proof;
  // That a view is too large to be read says nothing of the real tree.
  const isTouched = violations.some((violation) => !violation.startsWith("VIEW_"));
  return tree_root_before !== null && tree_root_before === tree_root_after && !isTouched;
}

function formatEnd(view: AgentView, io: Io): string[] {
  const { paint } = io;
  const took = `in ${seconds(view.duration_ms)}`;
  const next = [
    `  apply it:   ${paint.bold(`verbatim agent apply ${view.run_id}`)}`,
    `  read it:    verbatim agent show ${view.run_id}`,
    `  drop it:    verbatim agent discard ${view.run_id}`,
  ];
  switch (view.outcome) {
    case "verified":
      return [`${paint.good("verified")} ${took}; nothing is applied yet`, ...next];
    case "unverified":
      return [`${paint.warn("unverified")} ${took}: no command looked at the change; nothing is applied yet`, ...next];
    case "applied":
      return [formatApplied(view, io)];
    case "unchanged":
      return [`${paint.good("unchanged")} ${took}: the agent left nothing to apply`];
    case "discarded":
    case "undone":
      return [`${view.outcome}: ${showLine(view.reason ?? "")}; the record stays`];
    case "working":
      return ["working: the run has not ended yet"];
    default:
      return [
        `${paint.bad(view.outcome.replaceAll("_", " "))} ${took}: ${showLine(view.reason ?? "no reason was given")}`,
        `  nothing was applied; the record is in ${view.run_dir}`,
      ];
  }
}

/** The line after a change was applied, with how far it was looked at. */
export function formatApplied(view: AgentView, { paint }: Io): string {
  const unverified = view.verify?.result === "NONE" ? ", unverified" : "";
  return `${paint.good("applied")}${unverified}; undo it: verbatim workflow rollback ${view.run_id}`;
}

/** Lines of `agent list`. */
export function formatAgentList(runs: readonly AgentView[], width: number): string[] {
  const rows = runs.map((run) => [
    run.run_id,
    run.outcome,
    String(run.changes.files.length),
    `+${run.changes.added_lines} -${run.changes.deleted_lines}`,
    run.goal.replace(/\s+/g, " "),
  ]);
  const columns = [
    { title: "run" },
    { title: "outcome" },
    { title: "files", align: "right" },
    { title: "lines", align: "right" },
    { title: "goal", shrink: true },
  ] as const;
  return formatTable(columns, rows, width);
}

function sign(isGood: boolean, io: Io): string {
  return isGood ? io.paint.good("✓") : io.paint.bad("✗");
}

export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function seconds(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of showLine(text).split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
