import { defineVerb } from "../verb.ts";

/** The librarian and the patch gate, each usable without a run. */
export const PATCH_VERBS = [
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
