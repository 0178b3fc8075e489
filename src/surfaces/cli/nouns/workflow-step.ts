import type { Output } from "../../../app/operations.ts";
import type { Io } from "../io.ts";

/** Where a run stands, as the operations report it. */
export type Step = Omit<Output<"workflow.advance">, "steps">;

/** Findings as `file:line: error CODE message`. */
export function renderFindings(findings: Step["findings"], level: "error" | "warning", io: Io): void {
  for (const { code, file, line, at = "", message } of findings) {
    const place = line === null ? file : `${file}:${line}`;
    const word = level === "error" ? io.paint.bad(level) : io.paint.warn(level);
    io.line(`${place}: ${word} ${code} ${at === "" ? "" : `${at} `}${message.split("\n")[0] ?? ""}`);
  }
}

/** The status line, what is wrong, and the next command, unless that is the one being run. */
export function renderStep(step: Step, io: Io, asked = ""): void {
  const paint = step.status === "pass" ? io.paint.good : step.status === "fail" ? io.paint.bad : io.paint.warn;
  io.line(`${paint(step.status)} ${step.code}: ${step.message.split("\n")[0] ?? ""}`);
  renderFindings(step.findings, "error", io);
  if (step.state === "ready") io.line(`next: ${io.paint.bold(`verbatim workflow advance ${step.run_id}`)}`);
  else if (step.state === "blocked" && step.owner !== "operator") {
    io.line(`waiting for ${step.owner} to write ${step.target}`);
    if (asked !== "next") io.line(`next: ${io.paint.bold(`verbatim workflow next ${step.run_id}`)}`);
  } else if (step.state === "blocked" && step.action === null) {
    io.line(`next: ${io.paint.bold(`verbatim agent show ${step.run_id}`)}`);
  } else if (step.state === "blocked") io.line(`waiting for you: ${step.action} ${step.target ?? ""}`.trimEnd());
}
