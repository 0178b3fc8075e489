import { type AgentView, count, formatAgentList, formatApplied, renderAgent } from "../agent-text.ts";
import type { Io } from "../io.ts";
import { defineVerb, type Noun } from "../verb.ts";

const RUN = [{ field: "run", label: "RUN" }] as const;

/** Someone at a terminal is asked; a pipe cannot answer. */
function canAsk(io: Io): boolean {
  return io.interactive && !io.flags.json;
}

export const noun: Noun = {
  verbs: [
    defineVerb("agent.run", {
      path: [],
      args: [{ field: "command", label: "COMMAND", variadic: true }],
      flags: {
        files: { name: "file", value: "PATH" },
        guard: { value: "G" },
        timeout: { value: "T" },
        max_binary: { value: "SIZE" },
      },
      examples: [
        'verbatim agent --goal "fix the date parser" --verify "npm test" -- claude -p "..."',
        'verbatim agent --goal "tidy the docs" --no-verify --allow docs -- ./tidy.sh',
        'verbatim agent --goal "bump" --verify "npm test" --apply auto --keep ~/.codex -- codex exec "..."',
      ],
      prepare: async (given, io) => ({ ...given, apply: given.apply ?? (canAsk(io) ? "ask" : "never") }),
      async render(view, io, { apply = "ask" }, app) {
        renderAgent(view, io);
        if (apply !== "ask" || !canAsk(io) || !["verified", "unverified"].includes(view.outcome)) return;
        await io.flush();
        const what = view.outcome === "verified" ? "this change" : "this unverified change";
        if (!(await io.confirm(`Apply ${what} to your tree?`))) return;
        io.line(formatApplied(await app.call("agent.apply", { run: view.run_id }), io));
      },
      exit: ({ outcome }) => (["verified", "unverified", "applied", "unchanged"].includes(outcome) ? 0 : 1),
    }),
    defineVerb("agent.list", {
      path: ["list"],
      examples: ["verbatim agent list", "verbatim agent list --limit 5 --json"],
      render({ runs, total }, io) {
        if (total === 0) return io.line("no agent runs yet: verbatim agent --help");
        for (const line of formatAgentList(runs, io.width)) io.line(line);
        if (total > runs.length) io.line(`${runs.length} of ${total} runs`);
      },
    }),
    defineVerb("agent.show", {
      path: ["show"],
      args: RUN,
      examples: ["verbatim agent show 20250102-030405", "verbatim agent show 20250102-030405 --json"],
      render({ summary, patch }, io) {
        renderAgent(summary, io);
        if (patch === "") return;
        io.line();
        for (const line of paintPatch(patch, io)) io.line(line);
      },
    }),
    defineVerb("agent.verify", {
      path: ["verify"],
      args: RUN,
      flags: { max_binary: { value: "SIZE" } },
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
      flags: { only: { value: "SPEC" }, except: { value: "SPEC" } },
      examples: [
        "verbatim agent apply 20250102-030405",
        "verbatim agent apply 20250102-030405 --only src/date.ts:1,3-4",
        "verbatim agent apply 20250102-030405 --except docs --dry-run",
      ],
      render(view, io, { dry_run = false }) {
        renderLanding(view, io);
        if (dry_run) return io.line("nothing was changed: --dry-run");
        const { files, added_lines, deleted_lines } = view.changes;
        io.line(`${count(files.length, "file")}, +${added_lines} -${deleted_lines}`);
        io.line(formatApplied(view, io));
      },
    }),
    defineVerb("agent.undo", {
      path: ["undo"],
      args: RUN,
      examples: ["verbatim agent undo 20250102-030405"],
      render: (view, io) => io.line(`undone ${view.run_id}: your tree is as it was before the change was applied`),
    }),
    defineVerb("agent.discard", {
      path: ["discard"],
      args: RUN,
      examples: ["verbatim agent discard 20250102-030405"],
      render: (view, io) => io.line(`discarded ${view.run_id}; the record is kept in ${view.run_dir}`),
    }),
  ],
};

/** What became of files that were not as the agent found them. */
function renderLanding({ landing }: AgentView, io: Io): void {
  if (landing?.moved !== true) return;
  io.line("the tree moved on since the agent began");
  const others = landing.files.filter(({ how }) => how === "as_is");
  for (const { path, says } of landing.files.filter(({ how }) => how !== "as_is")) io.line(`  ${path}  ${says}`);
  if (others.length > 0) io.line(`  ${count(others.length, "file")} as verified`);
  if (landing.reverified) io.line("  verified again on the merged tree");
}

function paintPatch(patch: string, { paint }: Io): string[] {
  return patch
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => {
      if (/^(?:diff |index |--- |\+\+\+ |new |old |deleted )/.test(line)) return paint.bold(line);
      if (line.startsWith("@@")) return paint.dim(line);
      if (line.startsWith("+")) return paint.good(line);
      return line.startsWith("-") ? paint.bad(line) : line;
    });
}
