import type { App } from "../../../app/app-type.ts";
import { type AgentView, count, formatAgentList, formatApplied, renderAgent } from "../agent-text.ts";
import type { Io } from "../io.ts";
import { defineVerb, type Noun } from "../verb.ts";

interface Ask {
  readonly app: App;
  readonly wanted: boolean;
}

/** What was asked for, until the change is there to be shown. */
const asked = new WeakMap<Io, Ask>();

const RUN = [{ field: "run", label: "RUN" }];

export const noun: Noun = {
  verbs: [
    defineVerb<AgentView>({
      path: [],
      operation: "agent.run",
      args: [{ field: "command", label: "COMMAND", variadic: true }],
      flags: { files: { name: "file", value: "PATH" }, guard: { value: "G" }, timeout: { value: "T" } },
      examples: [
        'verbatim agent --goal "fix the date parser" --verify "npm test" -- claude -p "..."',
        'verbatim agent --goal "tidy the docs" --no-verify --allow docs -- ./tidy.sh',
        'verbatim agent --goal "bump" --verify "npm test" --apply auto --keep ~/.codex -- codex exec "..."',
      ],
      async prepare(input, io, app) {
        const apply = input["apply"] ?? (io.interactive && !io.flags.json ? "ask" : "never");
        asked.set(io, { app, wanted: apply === "ask" && io.interactive && !io.flags.json });
        return { ...input, apply };
      },
      async render(view, io) {
        renderAgent(view, io);
        const ask = asked.get(io);
        if (ask?.wanted !== true || !["verified", "unverified"].includes(view.outcome)) return;
        await io.flush();
        const what = view.outcome === "verified" ? "this change" : "this change, which nothing verified,";
        if (!(await io.confirm(`Apply ${what} to the real tree?`))) return;
        io.line(formatApplied((await ask.app.call("agent.apply", { run: view.run_id })) as AgentView, io));
      },
      exit: ({ outcome }) => (["verified", "unverified", "applied", "unchanged"].includes(outcome) ? 0 : 1),
    }),
    defineVerb<{ readonly runs: readonly AgentView[]; readonly total: number }>({
      path: ["list"],
      operation: "agent.list",
      examples: ["verbatim agent list", "verbatim agent list --limit 5 --json"],
      render({ runs, total }, io) {
        if (total === 0) return io.line("no agent has worked here yet: verbatim agent --help");
        for (const line of formatAgentList(runs, io.width)) io.line(line);
        if (total > runs.length) io.line(`${runs.length} of ${total} runs`);
      },
    }),
    defineVerb<{ readonly summary: AgentView; readonly patch: string }>({
      path: ["show"],
      operation: "agent.show",
      args: RUN,
      examples: ["verbatim agent show 20250102-030405", "verbatim agent show 20250102-030405 --json"],
      render({ summary, patch }, io) {
        renderAgent(summary, io);
        if (patch === "") return;
        io.line();
        for (const line of paintPatch(patch, io)) io.line(line);
      },
    }),
    defineVerb<AgentView>({
      path: ["apply"],
      operation: "agent.apply",
      args: RUN,
      examples: ["verbatim agent apply 20250102-030405"],
      render(view, io) {
        const { files, added_lines, deleted_lines } = view.changes;
        io.line(`${count(files.length, "file")}, +${added_lines} -${deleted_lines}`);
        io.line(formatApplied(view, io));
      },
    }),
    defineVerb<AgentView>({
      path: ["discard"],
      operation: "agent.discard",
      args: RUN,
      examples: ["verbatim agent discard 20250102-030405"],
      render: (view, io) => io.line(`discarded ${view.run_id}; the record stays in ${view.run_dir}`),
    }),
  ],
};

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
