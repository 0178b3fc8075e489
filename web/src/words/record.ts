import { group } from "./counts.ts";

/** Words of the files that a run has left behind, each a document of its own. */
export const record = {
  title: "Files of the record",
  all: "All files of the record",
  none: "Nothing of this run was kept as a file.",
  absent: "The record of this run has no such file.",
  hash: "SHA-256, computed in this page",
  save: "Download",
  from: (from: number, to: number, of: number) => `Bytes ${group(from)} to ${group(to)} of ${group(of)}`,
  earlier: "Earlier bytes",
  later: "Later bytes",
  empty: "The file is empty.",
} as const;
