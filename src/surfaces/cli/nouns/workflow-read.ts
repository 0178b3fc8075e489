import { formatTable } from "../table.ts";
import { defineVerb } from "../verb.ts";
import { renderFindings, renderStep } from "./workflow-step.ts";

/** Verbs that only look. */
export const READ_VERBS = [
  defineVerb("workflow.status", {
    path: ["status"],
    args: [{ field: "run", label: "RUN", optional: true }],
    examples: ["verbatim workflow status", "verbatim workflow status 20260102 --json"],
    render(status, io) {
      io.line(`run         ${status.run_id}`);
      io.line(`goal        ${status.goal.replace(/\s+/g, " ")}`);
      io.line(`directory   ${status.run_dir}`);
      io.line(`iterations  ${status.iterations.used}/${status.iterations.max ?? "n/a"}`);
      io.line(`rejections  ${status.rejections.used}/${status.rejections.max}`);
      io.line(`prompts     ${status.prompts.used}/${status.prompts.max}`);
      renderStep(status, io);
    },
  }),
  defineVerb("workflow.next", {
    path: ["next"],
    args: [{ field: "run", label: "RUN", optional: true }],
    flags: { only_prompt: { name: "prompt" } },
    examples: ["verbatim workflow next", "verbatim workflow next --prompt | some-agent"],
    async render(next, io) {
      if (next.prompt === null || !next.only_prompt) renderStep(next, io, "next");
      if (next.prompt === null) return;
      if (!next.only_prompt) io.line(`submit it with: ${next.submit}\n`);
      await io.out(next.prompt);
    },
  }),
  defineVerb("workflow.list", {
    path: ["list"],
    flags: { status: { value: "S" } },
    examples: ["verbatim workflow list", "verbatim workflow list --all", "verbatim workflow list --status pass"],
    render({ runs }, io) {
      if (runs.length === 0) {
        io.line("no open runs: verbatim workflow new --goal TEXT");
        return;
      }
      const rows = runs.map((run) => [
        run.run_id,
        run.stop_reason ?? run.status,
        run.updated_at.slice(0, 19),
        run.goal.replace(/\s+/g, " "),
      ]);
      const columns = [{ title: "run" }, { title: "status" }, { title: "updated" }, { title: "goal", shrink: true }];
      for (const line of formatTable(columns, rows, io.width)) io.line(line);
    },
  }),
  defineVerb("workflow.show", {
    path: ["show"],
    args: [
      { field: "run", label: "RUN" },
      { field: "artifact", label: "ARTIFACT", optional: true },
    ],
    examples: [
      "verbatim workflow show 20260102",
      "verbatim workflow show 20260102 PLAN.md",
      "verbatim workflow show 20260102 --events",
    ],
    async render(shown, io) {
      if (shown.artifact !== null) {
        await io.out(
          shown.artifact.text ??
            `${shown.run_dir}/${shown.artifact.path} is not text (${shown.artifact.bytes} bytes)\n`,
        );
      } else if (shown.events.length > 0) {
        for (const { ts, role, event, path } of shown.events) io.line(`${ts} ${role} ${event} ${path}`.trimEnd());
      } else {
        io.line(`${shown.run_id} ${shown.status}: ${shown.goal.replace(/\s+/g, " ")}`);
        const rows = shown.files.map(({ path, bytes }) => [path, String(bytes)]);
        for (const line of formatTable([{ title: "file" }, { title: "bytes", align: "right" }], rows, io.width))
          io.line(line);
      }
    },
  }),
  defineVerb("workflow.validate", {
    path: ["validate"],
    args: [{ field: "target", label: "ARTIFACT|RUN" }],
    flags: { kind: { value: "K" } },
    examples: [
      "verbatim workflow validate PLAN.md",
      "verbatim workflow validate 20260102 --against-repo",
      "verbatim workflow validate PLAN.md --format sarif",
    ],
    async render(output, io) {
      // The report of the chosen format is the whole result; text is drawn with colours instead.
      if (/^(?:\{|::)/.test(output.report)) {
        await io.out(output.report);
        return;
      }
      for (const { errors, warnings } of output.results) {
        renderFindings(errors, "error", io);
        renderFindings(warnings, "warning", io);
      }
      const count = output.results.reduce((sum, { errors }) => sum + errors.length, 0);
      const files = output.results.map(({ file, kind }) => `${file} (${kind})`);
      io.line(
        output.ok
          ? `${io.paint.good("valid")} ${files.length === 1 ? files[0] : `${files.length} files`}`
          : `${io.paint.bad("not valid")} ${count} error${count === 1 ? "" : "s"}`,
      );
    },
    exit: ({ ok }) => (ok ? 0 : 1),
  }),
];
