import { defineVerb, type Noun } from "../verb.ts";
import { PATCH_VERBS } from "./workflow-patch.ts";
import { READ_VERBS } from "./workflow-read.ts";
import { renderFindings, renderStep, type Step } from "./workflow-step.ts";

/** 0 passed or nothing waits, 1 rejected, failed or stopped, 4 waiting for somebody. */
function toExit({ state, code }: Step): number {
  if (state === "stopped" || code === "PATCH_REJECTED" || code === "VERIFY_FAILED") return 1;
  return state === "blocked" ? 4 : 0;
}

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
