import { count, group } from "./counts.ts";

/** Words of what an agent does now. */
export const live = {
  title: "What the agent prints",
  lines: (kept: number, all: number, bytes: string) =>
    kept === all
      ? `${group(all)} lines, ${bytes}`
      : `Showing the last ${group(kept)} lines of ${group(all)}, ${bytes} recorded`,
  skipped: (bytes: string) =>
    `The first ${bytes} were skipped. The record has the beginning and the newest of what is printed.`,
  lost: (bytes: string) => `${bytes} before this are no longer kept.`,
  gap: (bytes: number) => `\n[verbatim: ${bytes} bytes are not kept]\n`,
  latest: "Jump to latest",
  ended: "The agent has ended.",
  touched: (files: number) => `${count(files, "file", "files")} touched`,
  facts: "What it does now",
  phase: "Phase",
  clock: "Since",
  files: "Touched so far",
  filesUnknown: "counted at the end",
  network: "Network",
  hooks: "Its hooks",
  hooksNone: "none reported",
  hooksSome: (reported: number, blocked: number) =>
    `${count(reported, "action", "actions")} reported, ${group(blocked)} blocked`,
  cost: "Cost so far",
  usd: (dollars: string) => `about $${dollars}`,
  save: "Download what was printed",
  stop: "Stop",
  stopRun: (goal: string) => `Stop ${goal}`,
  stopWhy: "The agent is asked to end and is ended after 12 s; nothing lands.",
  stopping: "Asked to end",
  now: "End it now",
} as const;
