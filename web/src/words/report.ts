import { count, group } from "./counts.ts";

/** Words of the printed report of a run. */
export const report = {
  title: "Report",
  print: "Print this report",
  run: "Run",
  began: "Began",
  agent: "Agent",
  base: "Base",
  proof: "Proof",
  sentences: "What is known, and what it rests on",
  files: "Files",
  findings: "What the gates found",
  checks: "Checks",
  change: "The change",
  none: "none",
  recorded: (entry: number) => `ledger entry ${group(entry)}`,
  rest: (files: number) =>
    `What follows is not printed: the change goes on${files === 0 ? "" : ` in ${count(files, "more file", "more files")}`}. The record has all of it.`,
} as const;
