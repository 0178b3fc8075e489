import { describeApplied, quotePath } from "../../../app/agent/report/explain-end.ts";
import { describeStale } from "../../../app/agent/report/explain-gates.ts";
import { count, formatDuration } from "../../../app/agent/report/explain-words.ts";
import type { Input, Output } from "../../../app/operations.ts";
import { showLine } from "../../../core/text/index.ts";
import { askToApply, askWhatNext } from "../agent-dialogue.ts";
import {
  type AgentView,
  formatAgentList,
  paintSentence,
  renderAgent,
  renderComparison,
  renderDiff,
  renderHunks,
} from "../agent-text.ts";
import { renderConnections } from "../connections-text.ts";
import type { Io } from "../io.ts";
import { needsTerminal, reviewChange } from "../review/review-dialogue.ts";
import { formatTable } from "../table.ts";
import { defineVerb, type Noun } from "../verb.ts";
import { BACKGROUND_VERBS, renderStarted } from "./agent-background.ts";
import { EVIDENCE_VERBS } from "./agent-evidence.ts";
import { QUEUE_VERBS } from "./agent-queue.ts";
import { raceVerb } from "./agent-race.ts";

const RUN = [{ field: "run", label: "RUN" }] as const;

/** The exit code where somebody was asked and decided nothing. */
const LEFT_FOR_LATER = 4;

/** Someone at a terminal is asked; a pipe cannot answer. */
function canAsk(io: Io): boolean {
  return io.interactive && !io.flags.json;
}

/** How flags of a run look, also of one that takes part in a race. */
const RUN_FLAGS = {
  files: { name: "file", value: "PATH" },
  guard: { value: "G" },
  host: { value: "H[:PORT]" },
  timeout: { value: "T" },
  max_binary: { value: "SIZE" },
  profile: { value: "NAME" },
  name: { value: "TEXT" },
  message: { short: "m", value: "MSG" },
  branch: { value: "NAME" },
  env: { value: "NAME" },
  unmask: { value: "PATH" },
  see: { value: "PATH" },
  max_usd: { value: "X" },
} as const;

/** What of that there is for a run that goes on: what it is about stays. */
function continuedFlags({ files: _f, message: _m, branch: _b, ...flags }: typeof RUN_FLAGS) {
  return flags;
}

export const noun: Noun = {
  topics: { policy: async (width) => (await import("../policy-text.ts")).formatPolicy(width) },
  verbs: [
    defineVerb("agent.run", {
      path: [],
      args: [{ field: "command", label: "COMMAND", variadic: true }],
      flags: RUN_FLAGS,
      examples: [
        'verbatim agent --goal "fix the date parser" --verify "npm test" -- claude -p "..."',
        'verbatim agent --goal "tidy the docs" --no-verify --allow docs -- ./tidy.sh',
        'verbatim agent --goal "bump" --verify "npm test" --apply auto --keep ~/.codex -- codex exec "..."',
      ],
      async render(view, io, given, app) {
        if (given.detach === true) return renderStarted(view, io);
        const apply = given.apply ?? app.config().agent.apply ?? "ask";
        const isAsked = apply === "ask" && canAsk(io) && ["verified", "unverified"].includes(view.outcome);
        renderAgent(view, io, !isAsked);
        if (isAsked) await askWhatNext(view, io, app, (applied) => renderApplied(applied, io));
      },
      // Once the agent has started there is nothing that could say no.
      exit: ({ outcome }, { detach = false }) =>
        detach || ["verified", "unverified", "applied", "unchanged"].includes(outcome) ? 0 : 1,
    }),
    defineVerb("agent.list", {
      path: ["list"],
      flags: { outcome: { value: "O" } },
      examples: ["verbatim agent list", "verbatim agent list --all --outcome verified", "verbatim agent list --json"],
      render({ runs, total }, io, { outcome }, app) {
        if (total === 0) {
          return io.line(outcome === undefined ? "no agent runs yet: verbatim agent --help" : `no run is ${outcome}`);
        }
        for (const line of formatAgentList(runs, app.workspace.root, io)) io.line(line);
        if (total > runs.length) io.line(`${runs.length} of ${total} runs`);
      },
    }),
    defineVerb("agent.show", {
      path: ["show"],
      args: [...RUN, { field: "other", label: "RUN", optional: true }],
      flags: { diff: { value: "PATH", bare: true } },
      examples: [
        "verbatim agent show @",
        "verbatim agent show @ --diff src/date.ts",
        "verbatim agent show 1a9909 --hunks",
        "verbatim agent show @ --network",
        "verbatim agent show @ @2",
      ],
      render({ summary, diff, compared, connections }, io, { hunks = false }) {
        if (connections !== null) return renderConnections(summary, connections, io);
        if (compared !== null) return renderComparison(summary, compared, io);
        if (diff === null) return renderAgent(summary, io, true, true);
        if (diff.length === 0) return io.line("the agent changed nothing");
        if (hunks) renderHunks(summary.run_id, diff, io);
        else renderDiff(diff, io);
      },
    }),
    defineVerb("agent.logs", {
      path: ["logs"],
      args: RUN,
      flags: { follow: { short: "f" }, from_output: { hidden: true }, from_errors: { hidden: true } },
      examples: ["verbatim agent logs @", "verbatim agent logs @ -f", "verbatim agent logs @ --verify"],
      async render(first, io, given, app) {
        for (let logs = first; ; ) {
          await writeLogs(logs, io, given.raw === true);
          if (logs.ended || !hasMore(logs, given.follow === true)) return;
          const known = { from_output: logs.output.next, from_errors: logs.errors.next };
          const next = await app.call("agent.logs", { ...given, run: first.run_id, ...known });
          const isStill = next.output.next === known.from_output && next.errors.next === known.from_errors;
          if (isStill && given.follow !== true) return;
          logs = next;
        }
      },
    }),
    defineVerb("agent.verify", {
      path: ["verify"],
      args: RUN,
      flags: { max_binary: { value: "SIZE" }, host: { value: "H[:PORT]" }, unmask: { value: "PATH" } },
      examples: [
        'verbatim agent verify 20250102-030405 --verify "npm test -- date"',
        "verbatim agent verify 20250102-030405 --permit .github/workflows/ci.yml",
      ],
      render: (view, io) => renderAgent(view, io),
      exit: ({ outcome }) => (["verified", "unverified"].includes(outcome) ? 0 : 1),
    }),
    defineVerb("agent.apply", {
      path: ["apply"],
      args: RUN,
      flags: {
        only: { value: "SPEC" },
        except: { value: "SPEC" },
        message: { short: "m", value: "MSG" },
        branch: { value: "NAME" },
      },
      examples: [
        "verbatim agent apply 20250102-030405",
        "verbatim agent apply 20250102-030405 --only src/date.ts:1,3-4",
        "verbatim agent apply 20250102-030405 --except docs --dry-run",
        'verbatim agent apply 20250102-030405 --commit -m "round the hour down"',
      ],
      async prepare(given, io, app) {
        const isAsked = canAsk(io) && given.yes !== true && given.dry_run !== true && given.run !== undefined;
        if (isAsked && !(await askToApply({ ...given, run: given.run! }, io, app))) return LEFT_FOR_LATER;
        return given;
      },
      render(view, io, given) {
        if (given.dry_run === true && view.outcome !== "applied") renderForeseen(view, io, given);
        else renderApplied(view, io, isPart(given));
      },
      exit: (view, { dry_run = false }) => (dry_run && countConflicts(view) > 0 ? 1 : 0),
    }),
    defineVerb("agent.review", {
      path: ["review"],
      args: RUN,
      flags: { context: { value: "N" } },
      examples: ["verbatim agent review @", "verbatim agent review 1a9909 --context 10"],
      async prepare(given, io) {
        if (!canAsk(io)) throw needsTerminal(given.run ?? "RUN");
        return given;
      },
      async dialogue(view, io, _given, app) {
        const applied = await reviewChange(view, io, app);
        if (applied !== null) {
          renderApplied(applied, io);
          return 0;
        }
        io.line(`left for later, nothing was applied: verbatim agent review ${view.run_id}`);
        return LEFT_FOR_LATER;
      },
    }),
    defineVerb("agent.undo", {
      path: ["undo"],
      args: RUN,
      examples: ["verbatim agent undo 20250102-030405"],
      render: (view, io) => io.line(`undone ${view.run_id}: your tree is as it was before the change was applied`),
    }),
    defineVerb("agent.profiles", {
      path: ["profiles"],
      examples: ["verbatim agent profiles", "verbatim agent profiles --json"],
      render({ profiles }, io) {
        const rows = profiles.map(({ name, title, source, programs, checked }) => [
          name,
          title,
          source,
          programs.join(", "),
          checked ?? "unchecked",
        ]);
        const columns = [
          { title: "profile" },
          { title: "agent", shrink: true },
          { title: "from" },
          { title: "program", shrink: true },
          { title: "tried with" },
        ] as const;
        for (const line of formatTable(columns, rows, io.width)) io.line(line);
      },
    }),
    defineVerb("agent.profiles-show", {
      path: ["profiles", "show"],
      args: [{ field: "name", label: "NAME" }],
      examples: ["verbatim agent profiles show claude"],
      render({ profile, source, place, checked }, io) {
        io.line(
          `from ${place ?? source}; ${checked === null ? "unchecked with a live login" : `tried with ${checked}`}`,
        );
        for (const line of JSON.stringify(profile, null, 2).split("\n")) io.line(line);
      },
    }),
    defineVerb("agent.profiles-check", {
      path: ["profiles", "check"],
      args: [{ field: "file", label: "FILE" }],
      examples: ["verbatim agent profiles check ~/.config/verbatim/profiles/harbour.json"],
      render: ({ name, title }, io) => io.line(`${io.paint.good("✓")} profile ${name} (${showLine(title)}) is valid`),
    }),
    defineVerb("agent.discard", {
      path: ["discard"],
      args: RUN,
      examples: ["verbatim agent discard 20250102-030405"],
      render: (view, io) => io.line(`discarded ${view.run_id}: thrown away, the record stays in ${view.run_dir}`),
    }),
    defineVerb("agent.continue", {
      path: ["continue"],
      args: [...RUN, { field: "argv", label: "COMMAND", variadic: true, optional: true }],
      flags: {
        ...continuedFlags(RUN_FLAGS),
        note: { name: "message", value: "TEXT" },
        comments: { hidden: true },
        feedback_sha256: { hidden: true },
        command: { name: "command", value: "NAME" },
      },
      examples: [
        "verbatim agent continue @",
        'verbatim agent continue @ --message "keep the old name of the function"',
        "verbatim agent continue 1a9909 --from base -- codex exec {feedback}",
        "verbatim agent continue 1a9909 --from tree",
      ],
      async render(view, io, { detach = false }, app) {
        if (detach) return renderStarted(view, io);
        const isAsked = canAsk(io) && ["verified", "unverified"].includes(view.outcome);
        renderAgent(view, io, !isAsked);
        if (isAsked) await askWhatNext(view, io, app, (applied) => renderApplied(applied, io));
      },
      exit: ({ outcome }, { detach = false }) =>
        detach || ["verified", "unverified", "unchanged"].includes(outcome) ? 0 : 1,
    }),
    raceVerb(RUN_FLAGS),
    ...BACKGROUND_VERBS,
    ...EVIDENCE_VERBS,
    ...QUEUE_VERBS,
  ],
};

function renderApplied(view: AgentView, io: Io, part = false): void {
  renderLanding(view, io, part);
  io.line(paintSentence("good", describeApplied(view), io));
  const made = view.landing?.commit;
  if (made?.attested === undefined) return;
  const keys = made.attested.map((id) => id.slice(0, 16)).join(", ");
  const ref = made.ref === "HEAD" ? "HEAD" : quotePath(made.ref);
  io.line(`attested, signed by ${keys}. Push both: git push origin ${ref} refs/notes/verbatim`);
}

/** What applying would do. */
function renderForeseen(view: AgentView, io: Io, given: Partial<Input<"agent.apply">>): void {
  renderLanding(view, io);
  const { landing, verify } = view;
  const files = count(landing?.files.length ?? 0, "file");
  const conflicts = countConflicts(view);
  const judged = verify === null || verify.result === "NONE" ? "judged" : "judged and verified";
  if (conflicts > 0) io.line(`it would not be applied: ${count(conflicts, "file")} cannot be merged`);
  else if (isPart(given)) io.line(`${files} would be applied; first the part you chose is ${judged} by itself`);
  else if (landing?.moved === true)
    io.line(`${files} would be applied; first the change is ${judged} on the tree as it is now`);
  else io.line(`${files} would be applied`);
  io.line("nothing was changed: --dry-run");
}

function isPart({ only = [], except = [] }: Partial<Input<"agent.apply">>): boolean {
  return only.length + except.length > 0;
}

function countConflicts({ landing }: AgentView): number {
  return (landing?.files ?? []).filter(({ how }) => how === "conflict").length;
}

/** What became of files that were not as the agent found them. */
function renderLanding(view: AgentView, io: Io, part = false): void {
  const { landing, verify } = view;
  if (landing === null) return;
  if (landing.commit?.aside === true) return;
  if (landing.moved) io.line(landing.since ?? "the tree moved on since the agent began");
  const others = landing.files.filter(({ how }) => how === "as_is");
  const others_count = landing.moved ? others.length : 0;
  const told = landing.files.filter(({ how }) => how !== "as_is");
  for (const { path, says } of told) io.line(`  ${showLine(path)}  ${showLine(says)}`);
  const noun = told.length === 0 ? "file" : "other file";
  if (others_count > 0) io.line(`  ${count(others_count, noun)}  ${others[0]!.says}`);
  const isMerged = landing.files.some(({ how }) => how === "merged");
  if (landing.reverified)
    io.line(describeAgain(verify, isMerged ? "on the merged tree" : "on the tree as it is now", io));
  else if (part && verify?.result === "PASS") io.line(describeAgain(verify, "with the part you chose", io));
  const stale = describeStale(view, true);
  if (stale !== null) io.line(`${io.paint.warn("!")} ${stale}`);
}

/** Which commands passed where the change was judged once more. */
function describeAgain(verify: AgentView["verify"], where: string, { paint }: Io): string {
  const commands = (verify?.commands ?? []).filter(({ cmd }) => !cmd.startsWith("verbatim:"));
  const [first] = commands;
  const what = commands.length === 1 ? showLine(first!.cmd) : count(commands.length, "command");
  const took = formatDuration(commands.reduce((sum, { duration_ms }) => sum + duration_ms, 0));
  const tick = paint.good("✓");
  return `${tick} policy    ${tick} verify   ${what} passed ${where}, ${took}`;
}

type Logs = Output<"agent.logs">;

async function writeLogs({ output, errors }: Logs, io: Io, raw: boolean): Promise<void> {
  for (const { text } of [output, errors]) {
    if (text === "") continue;
    if (raw) await io.raw(Buffer.from(text, "base64"));
    else await io.out(text);
  }
}

/** One answer holds only so much of a long log. */
function hasMore({ output, errors }: Logs, follow: boolean): boolean {
  return follow || output.text !== "" || errors.text !== "";
}
