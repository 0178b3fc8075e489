import type { Output } from "../../app/operations.ts";
import type { Io } from "./io.ts";
import { showLine } from "./plain-text.ts";
import { formatTable } from "./table.ts";

/** What became of an agent run. */
export type AgentView = Output<"agent.show">["summary"];

const MOST_FILES = 15;
const MOST_LINES = 8;

const SIGNS: Readonly<Record<string, string>> = { create: "A", modify: "M", delete: "D", mode: "x" };
const KINDS: Readonly<Record<string, string>> = { binary: "B", link: "L", mode: "x" };

const WHY: Readonly<Record<string, string>> = {
  special_file: "a special file",
  too_large: "too large to carry",
  reserved: "it belongs to Verbatim or is forbidden to agents",
  git_name: "some systems treat this name as .git",
  empty_folder: "an empty folder",
  mode: "only permissions changed, which git does not record",
  filtered: "a filter in your git settings rewrites it, so a patch cannot change it; copy it by hand",
  left_out: "left out as you asked",
  setuid: "it would run with the rights of its owner",
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
    field(io, "shown", `the agent was given ${count(view.shown.files.length, "file")} (${view.shown.bytes} bytes)`);
  }
  if (view.kept.length > 0)
    field(io, "kept", `${view.kept.join(", ")} (stays writable and is not covered by the proof)`);
  if (view.hooks.reported > 0) {
    const { reported, reported_blocked } = view.hooks;
    field(
      io,
      "hooks",
      `the agent reported ${count(reported, "call")} to hooks, ${reported_blocked} refused; nothing else confirms them`,
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
  const commits = agent.commits === 0 ? "" : `; made ${own}, only the changes are kept`;
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
    io.line(`            ${formatFile(file, io)}`);
    for (const notice of file.notices) io.line(`              ${io.paint.warn("!")} ${showLine(notice)}`);
  }
  if (files.length > MOST_FILES) io.line(`            and ${files.length - MOST_FILES} more`);
  const notes = [
    ...(changes.ignored > 0 ? [`the agent also wrote ${count(changes.ignored, "ignored path")}, not used`] : []),
    ...changes.not_carried.map(({ path, why }) => `${showLine(path)} is not carried: ${WHY[why] ?? why}`),
  ];
  for (const note of notes.slice(0, MOST_LINES)) io.line(`            ${io.paint.warn("!")} ${note}`);
  if (notes.length > MOST_LINES) io.line(`            and ${notes.length - MOST_LINES} more notes (see --json)`);
}

/** `M src/date.ts  +30 -12`, `B feb.bin  new, 2.1 kB, binary`, `L current -> 2.4`. */
function formatFile(file: AgentView["changes"]["files"][number], { paint }: Io): string {
  const name = showLine(file.path);
  if (file.kind === "text" || file.operation === "delete") {
    return `${SIGNS[file.operation] ?? "M"} ${name}  ${paint.dim(`+${file.added} -${file.deleted}`)}`;
  }
  const sign = KINDS[file.kind] ?? "M";
  if (file.kind === "link") return `${sign} ${name} -> ${showLine(file.target ?? "")}`;
  if (file.kind === "mode") return `${sign} ${name}  ${paint.dim("only its mode")}`;
  const size = file.operation === "create" ? `new, ${formatSize(file.bytes)}` : formatSize(file.bytes);
  return `${sign} ${name}  ${paint.dim(`${size}, binary`)}`;
}

function formatSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function renderGates({ gate, verify }: AgentView, io: Io): void {
  const { paint } = io;
  if (gate !== null) {
    const isGood = gate.verdict === "accept";
    field(io, "policy", isGood ? "no protected path, no secret in what was added" : "rejected", sign(isGood, io));
    for (const finding of gate.findings.slice(0, MOST_LINES)) {
      io.line(`            ${paint.bad(finding.code)} ${showLine(describeFinding(finding))}`);
      if (finding.fix !== "") io.line(`              ${showLine(finding.fix)}`);
    }
  }
  if (verify === null) return;
  if (verify.result === "NONE") {
    field(io, "verify", "not verified: you asked for --no-verify", "-");
    return;
  }
  const copied =
    verify.isolation === "catalytic" ? "on an isolated copy of your tree" : "in a separate checkout, without isolation";
  const where = verify.on ?? copied;
  const isGood = verify.result === "PASS";
  field(io, "verify", `${isGood ? "passed" : "failed"} ${where}`, sign(isGood, io));
  for (const { cmd, why, exit_code, duration_ms } of verify.setup) {
    const took = paint.dim(`${why}, ${seconds(duration_ms)}`);
    io.line(`            ${sign(exit_code === 0, io)} ${showLine(cmd)}  ${took}`);
  }
  for (const { cmd, exit_code, duration_ms } of verify.commands) {
    if (cmd.startsWith("verbatim:") && exit_code === 0) continue;
    const also = exit_code !== 0 && verify.also_fails ? "; also fails without the change" : "";
    const took = paint.dim(`${exit_code}, ${seconds(duration_ms)}${also}`);
    io.line(`            ${sign(exit_code === 0, io)} ${showLine(cmd)}  ${took}`);
  }
  for (const notice of verify.notices.slice(0, MOST_LINES)) {
    io.line(`            ${paint.warn("!")} ${showLine(notice)}`);
  }
  const lines = verify.failures
    .flatMap(({ message }) => message.split("\n").slice(1))
    .filter((line) => line.trim() !== "");
  for (const line of lines.slice(-MOST_LINES))
    io.line(`              ${paint.dim(showLine(line).slice(0, io.width - 14))}`);
}

/** What is wrong, in words; runs of earlier versions have only names for it. */
function describeFinding({ rule, path, says }: NonNullable<AgentView["gate"]>["findings"][number]): string {
  if (says !== "") return says;
  return path === null ? rule : `${rule} at ${path}`;
}

function renderProof({ proof }: AgentView, io: Io): void {
  if (proof === null) return;
  const root = proof.tree_root_before?.slice(0, 16) ?? "unknown";
  if (!isTreeSame(proof)) field(io, "proof", "it is not proved that your tree is unchanged", sign(false, io));
  else if (proof.guard === "audit") {
    // A guard that prevents nothing earns no tick.
    const text = `nothing was prevented; comparing afterwards found no change in your tree, root ${root}`;
    field(io, "proof", text, io.paint.warn("!"));
  } else field(io, "proof", `nothing in your tree was changed by the agent, root ${root}`, sign(true, io));
  const view = proof.guard === "ns-overlay" ? "an overlay of your tree" : "a copy of your tree (no overlay here)";
  io.line(`            guard ${proof.guard}, ${view}`);
  io.line(`            hashed ${proof.hashed}`);
  for (const limit of proof.limits) io.line(`            ${io.paint.warn("!")} ${limit}`);
  for (const violation of proof.violations.slice(0, MOST_LINES))
    io.line(`            ${io.paint.bad(showLine(violation))}`);
  if (proof.concurrent_changes.length > 0) {
    const paths = proof.concurrent_changes.slice(0, 5).map(showLine).join(", ");
    io.line(`            ${io.paint.warn("!")} ${paths} changed while the agent worked, but not by it`);
  }
}

function isTreeSame(proof: NonNullable<AgentView["proof"]>): boolean {
  const { tree_root_before, tree_root_after, violations } = proof;
  // A view that is too large to read says nothing about the real tree.
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
      return [`${paint.good("verified")} ${took}; nothing has been applied yet`, ...next];
    case "unverified":
      return [
        `${paint.warn("unverified")} ${took}: no command checked the change; nothing has been applied yet`,
        ...next,
      ];
    case "applied":
      return [formatApplied(view, io)];
    case "unchanged":
      return [`${paint.good("unchanged")} ${took}: the agent changed nothing`];
    case "discarded":
    case "undone":
      return [`${view.outcome}: ${showLine(view.reason ?? "")}; the record stays`];
    case "preparing":
    case "working":
    case "capturing":
    case "judging":
    case "verifying":
    case "landing":
      return [`${view.outcome}: the run has not ended yet`];
    default:
      return [
        `${paint.bad(view.outcome.replaceAll("_", " "))} ${took}: ${showLine(view.reason ?? "no reason was given")}`,
        `  nothing was applied; the record is in ${view.run_dir}`,
      ];
  }
}

/** The line after a change was applied; it repeats when nothing verified the change. */
export function formatApplied(view: AgentView, { paint }: Io): string {
  const unverified = view.verify?.result === "NONE" ? ", unverified" : "";
  return `${paint.good("applied")}${unverified}. Undo it: verbatim agent undo ${view.run_id}`;
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
