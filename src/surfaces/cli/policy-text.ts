import { listDefaultPolicy } from "../../app/agent/judge/judge.ts";

const INDENT = "  ";

/** `verbatim agent --help policy`: what an agent may change, class by class, in the order of the gate. */
export function formatPolicy(width: number): string[] {
  const lines = [
    "What an agent run may change, unless it is configured otherwise, in the order in which it is judged:",
    "",
  ];
  for (const { name, rule, what } of listDefaultPolicy()) {
    lines.push(
      name,
      ...wrap([`${rule}:`, ...what.map((one, i) => (i < what.length - 1 ? `${one},` : one))], width),
      "",
    );
  }
  lines.push(
    "A pattern has the syntax of .gitignore; upper and lower case are the same. agent.policy in verbatim.config.json adds",
    'to it with permit, protect and secret ("!PATTERN" takes one out), and sets max_files, max_added_lines, max_binary_bytes',
    "and max_carried_bytes.",
  );
  return lines;
}

/** Fills lines with texts that are not broken. */
function wrap(texts: readonly string[], width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const text of texts) {
    if (line !== "" && INDENT.length + line.length + 1 + text.length > Math.max(width, 60)) {
      lines.push(INDENT + line);
      line = "";
    }
    line = line === "" ? text : `${line} ${text}`;
  }
  return line === "" ? lines : [...lines, INDENT + line];
}
