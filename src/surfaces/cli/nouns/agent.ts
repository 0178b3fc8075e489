import type { App } from "../../../app/app-type.ts";
import { type AgentView, formatAgentList, renderAgent } from "../agent-text.ts";
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
        if (ask?.wanted !== true || view.outcome !== "verified") return;
        await io.flush();
        if (!(await io.confirm("Apply this change to the real tree?"))) return;
        const applied = (await ask.app.call("agent.apply", { run: view.run_id })) as AgentView;
        io.line(`${io.paint.good("applied")}; undo it: verbatim workflow rollback ${applied.run_id}`);
      },
      exit: ({ outcome }) => (["verified", "applied", "unchanged"].includes(outcome) ? 0 : 1),
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
      async render({ summary, patch }, io) {
        renderAgent(summary, io);
        if (patch !== "") await io.out(`\n${paintPatch(patch, io)}`);
      },
    }),
    defineVerb<AgentView>({
      path: ["apply"],
      operation: "agent.apply",
      args: RUN,
      examples: ["verbatim agent apply 20250102-030405"],
      render(view, io) {
        const { files, added_lines, deleted_lines } = view.changes;
        io.line(`${io.paint.good("applied")} ${files.length} files, +${added_lines} -${deleted_lines}`);
        io.line(`undo it: verbatim workflow rollback ${view.run_id}`);
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

function paintPatch(patch: string, io: Io): string {
  return patch
    .split("\n")
    .map((line) => {
      const safe = line.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "\ufffd");
      if (/^(?:diff |index |--- |\+\+\+ |new |old |deleted )/.test(line)) return io.paint.bold(safe);
      if (line.startsWith("@@")) return io.paint.dim(safe);
      if (line.startsWith("+")) return io.paint.good(safe);
      return line.startsWith("-") ? io.paint.bad(safe) : safe;
    })
    .join("\n");
}
