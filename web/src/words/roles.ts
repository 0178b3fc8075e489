/** Words for people of a team: what a key opens and what it does not. */
export const roles = {
  title: { reader: "You are a reader of this workspace", reviewer: "You are a reviewer of this workspace" },
  may: {
    reader: [
      "Jobs with their steps and receipts.",
      "The context: files, sections and the exact bytes of a slice.",
      "The ledger with every entry, checkpoints and proofs, computed in this page.",
      "Bundles that you drop here, which are checked without being sent.",
    ],
    reviewer: [
      "Jobs with their steps and receipts; you can post and cancel them.",
      "The context: files, sections and the exact bytes of a slice; you can search it and make packs.",
      "The ledger with every entry, checkpoints and proofs, computed in this page.",
      "Bundles that you drop here, which are checked without being sent.",
      "Queued runs are verified, continued and landed from a checkout: verbatim agent queued.",
    ],
  },
  not: "Agent runs of the server's own machine, worlds, sessions and building the index need the owner's key.",
  queued: "Runs for the workers of the team",
  none: "Nobody has asked the workers for a run.",
  asked: (name: string) => `asked by ${name}`,
} as const;
