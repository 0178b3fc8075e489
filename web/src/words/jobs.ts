import { count, group } from "./counts.ts";

/** Words of jobs and their receipts. */
export const jobs = {
  title: "Jobs",
  none: "No jobs.",
  onlyOpen: "Only open jobs",
  command: "verbatim job submit MESSAGE.json",
  list: "Jobs, newest last",
  more: "Show more",
  committed: (done: number, all: number) => `${group(done)} of ${count(all, "step", "steps")}`,
  states: { PENDING: "waiting", RUNNING: "running", SUCCEEDED: "done", FAILED: "failed" },
  stepStates: { PENDING: "waiting", LEASED: "at work", COMMITTED: "done", FAILED: "failed" },
  job: {
    plan: "Plan hash",
    run: "Run",
    message: "Message",
    steps: "Steps",
    outputs: "Outputs",
    missing: "Outputs that no step made",
    breach: (ordinal: number) => `Step ${group(ordinal)} would break a budget, so nothing from it on runs.`,
    go: "Run this job",
    going: "Running",
    cancel: "Cancel this job",
    cancelWhy: "The next step is recorded as failed, and nothing after it runs.",
    receipts: "Receipts",
    chain: "Verify the chain",
    checking: "Verifying",
    holds: (entries: number, receipts: number) =>
      `The chain holds: ${count(entries, "entry", "entries")}, ${count(receipts, "receipt", "receipts")}, computed in this page.`,
    breaks: (position: number) => `The chain breaks at position ${group(position)}.`,
    foreign: (ordinal: number) => `The receipt of step ${group(ordinal)} is not in the chain.`,
    entries: "Its entries in the ledger",
    hash: "Hash of the receipt",
    show: "Show the receipt",
    hide: "Hide the receipt",
  },
  receipt: { title: "Receipt", of: "Job", step: (ordinal: number) => `Step ${group(ordinal)}` },
} as const;
