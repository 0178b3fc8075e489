import { defineVerb, type Noun } from "../verb.ts";
import { READ_VERBS } from "./workflow-read.ts";
import { renderFindings, renderStep, type Step } from "./workflow-step.ts";

/** 0 passed or nothing waits, 1 rejected, failed or stopped, 4 waiting for someone. */
function toExit({ state, code }: Step): number {
  if (state === "stopped" || code === "PATCH_REJECTED" || code === "VERIFY_FAILED") return 1;
  return state === "blocked" ? 4 : 0;
}

/** The librarian and the patch gate, each usable without a run. */
const PATCH_VERBS = [
  defineVerb("workflow.pack", {
    path: ["pack"],
    flags: { request: { value: "FILE" }, file_request: { hidden: true }, out: { value: "FILE" } },
    examples: [
      "verbatim workflow pack --request file_request.json",
      "verbatim workflow pack --request - --out pack.json < file_request.json",
    ],
    async render({ text, summary, out }, io) {
      if (out === null) {
        io.note(summary);
        await io.out(text);
      } else io.line(`${io.paint.good("written")} ${out}: ${summary}`);
    },
  }),
  defineVerb("workflow.patch-check", {
    path: ["patch", "check"],
    args: [{ field: "file", label: "FILE", optional: true }],
    flags: { patch: { hidden: true }, plan: { value: "FILE" }, policy: { value: "FILE" }, repo: { value: "DIR" } },
    examples: [
      "git diff | verbatim workflow patch check",
      "verbatim workflow patch check fix.patch --plan PLAN.md",
      "verbatim workflow patch check fix.patch --no-git --format github",
    ],
    async render(checked, io) {
      if (checked.git_stage === "skipped") io.note("the git stage was skipped (--no-git)");
      if (/^(?:\{|::)/.test(checked.report)) {
        await io.out(checked.report);
        return;
      }
      const { result } = checked;
      if (result.verdict === "accept") {
        for (const path of result.changed_paths) io.line(`changes ${path}`);
        for (const path of result.read_paths) io.line(`reads   ${path}`);
        const files = result.changed_paths.length;
        io.line(
          `${io.paint.good("accept")} ${files} file${files === 1 ? "" : "s"}, +${result.added_lines} -${result.deleted_lines}`,
        );
        return;
      }
      const at = result.line === undefined ? "" : ` at line ${result.line}`;
      io.line(
        `${io.paint.bad("reject")} ${result.code} ${result.rule} (stage ${result.stage})${at}${result.path === undefined ? "" : `: ${result.path}`}`,
      );
      if (checked.offending_line !== null) io.line(`  > ${checked.offending_line}`);
      for (const one of result.findings ?? []) io.line(`  - ${one.code} ${one.rule} ${one.path ?? ""}`.trimEnd());
      if (result.stderr !== undefined && result.stderr !== "") io.line(`  git: ${result.stderr.split("\n")[0]}`);
      if (checked.advice !== null) io.line(`  fix: ${checked.advice}`);
    },
    exit: ({ result }) => (result.verdict === "accept" ? 0 : 1),
  }),
];

export const noun: Noun = {
  verbs: [
    defineVerb("workflow.new", {
      path: ["new"],
      flags: {
        goal: { value: "TEXT" },
        run_id: { value: "ID" },
        dispatch: { value: "FILE" },
        verify: { value: "CMD" },
        files: { name: "file", value: "PATH" },
        allow: { value: "PATH" },
        deny: { value: "PATH" },
        leave_out: { value: "PATH" },
      },
      examples: [
        'verbatim workflow new --goal "fix the failing date parser"',
        'verbatim workflow new --direct --goal "fix the date parser" --verify "npm test" --allow src',
      ],
      render(step, io) {
        io.line(`${io.paint.good("created")} run ${io.paint.bold(step.run_id)}`);
        io.line(`  ${step.run_dir}`);
        renderStep(step, io);
      },
    }),
    ...READ_VERBS,
    defineVerb("workflow.advance", {
      path: ["advance"],
      args: [{ field: "run", label: "RUN", optional: true }],
      examples: ["verbatim workflow advance", "verbatim workflow advance 20260102-030405-a1b2c3 --no-apply"],
      render(output, io) {
        for (const { action, target, result } of output.steps) io.line(`${action} ${target}: ${result}`);
        renderStep(output, io);
      },
      exit: toExit,
    }),
    defineVerb("workflow.submit", {
      path: ["submit"],
      args: [
        { field: "artifact", label: "ARTIFACT" },
        { field: "file", label: "FILE", optional: true },
        { field: "run", label: "RUN", optional: true },
      ],
      examples: [
        "verbatim workflow submit guardrails.md guardrails.md",
        "git diff | verbatim workflow submit diff.patch -",
        "verbatim workflow submit PLAN.md --from-draft",
      ],
      render(output, io) {
        renderFindings(output.errors, "error", io);
        renderFindings(output.warnings, "warning", io);
        io.line(
          output.ok
            ? `${io.paint.good("stored")} ${output.artifact} ${output.sha256?.slice(0, 12) ?? ""}`
            : `${io.paint.bad("not stored")} ${output.artifact}: ${output.errors.length} error${output.errors.length === 1 ? "" : "s"}`,
        );
        if (output.ok) io.line(`next: ${io.paint.bold(`verbatim workflow advance ${output.run_id}`)}`);
      },
      exit: ({ ok }) => (ok ? 0 : 1),
    }),
    defineVerb("workflow.abort", {
      path: ["abort"],
      args: [{ field: "run", label: "RUN" }],
      flags: { reason: { value: "TEXT" } },
      examples: ['verbatim workflow abort 20260102 --reason "no longer needed"'],
      render: ({ run_id }, io) => io.line(`${io.paint.warn("aborted")} run ${run_id}; the repository was not changed`),
    }),
    defineVerb("workflow.rollback", {
      path: ["rollback"],
      args: [{ field: "run", label: "RUN" }],
      examples: ["verbatim workflow rollback 20260102"],
      render({ run_id, paths }, io) {
        for (const path of paths) io.line(`restored ${path}`);
        io.line(`${io.paint.warn("rolled back")} run ${run_id}`);
      },
    }),
    ...PATCH_VERBS,
  ],
};
