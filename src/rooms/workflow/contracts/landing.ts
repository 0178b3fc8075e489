import { z } from "zod";
import { defineContract, hashHex } from "../../../core/contracts/index.ts";

export const LANDING_VERSION = "verbatim-landing-v1";
const SNAPSHOT_VERSION = "verbatim-landing-snapshot-v1";
const JOURNAL_VERSION = "verbatim-landing-journal-v1";

const objectId = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);
const instant = z.string().regex(/^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$/);
const number = z.int().min(1);
const path = z.string().min(1);

const range = z.strictObject({
  /** Whose lines they are; of a conflict both sides'. */
  whose: z.enum(["yours", "agent", "both"]),
  start: number,
  end: number,
});

const landedFile = z.strictObject({
  path,
  how: z.enum(["as_is", "already", "merged", "conflict"]),
  /** Why it is a conflict, where not by its lines. */
  why: z
    .enum(["lines", "binary", "link", "both_created", "deleted_and_edited", "in_the_way", "not_a_file", "twin"])
    .optional(),
  ranges: z.array(range),
});

const landing = z.strictObject({
  schema_version: z.literal(LANDING_VERSION),
  l: number,
  /** The number of the candidate. */
  candidate: number,
  onto: z.strictObject({ commit: objectId, tree: objectId }),
  /** The work tree it went into, where that is not the one of the run. */
  work_tree: z.strictObject({ root: path, repo_id: z.string().regex(/^[0-9a-f]{32}$/) }).optional(),
  /** What happened to the tree since the base of the candidate; commits are null where the history is another one. */
  moved: z.strictObject({ from: objectId, commits: z.int().min(0).nullable(), edits: z.int().min(0) }).optional(),
  files: z.array(landedFile),
  verification: number.optional(),
  commit: objectId.optional(),
  applied_at: instant.optional(),
});

const side = z
  .strictObject({
    mode: z.enum(["100644", "100755", "120000"]),
    sha256: hashHex,
    permissions: z.int().min(0).optional(),
  })
  .nullable();

/** snapshot/NN/manifest.json of a landing: every path before and after, and the folders that were there. */
const snapshot = z.strictObject({
  schema_version: z.literal(SNAPSHOT_VERSION),
  files: z.array(z.strictObject({ path, pre: side, post: side })),
  folders: z.array(z.strictObject({ path, permissions: z.int().min(0) })),
});

/** agent/landings/NN/journal.json: how far a landing came. */
const journal = z.strictObject({
  schema_version: z.literal(JOURNAL_VERSION),
  state: z.enum(["writing", "written", "closed", "restored", "undoing", "undone"]),
  /** In the names of files that are not finished. */
  token: z.string().regex(/^[0-9a-f]{12}$/),
});

export type LandedFile = z.infer<typeof landedFile>;
export type Landing = z.infer<typeof landing>;
export type LandingSnapshot = z.infer<typeof snapshot>;
export type LandingJournal = z.infer<typeof journal>;

/** agent/landings/NN/plan.json and result.json. */
export const LANDING = defineContract({
  room: "workflow",
  name: "landing",
  title: "Landing",
  summary:
    "plan.json and result.json of a landing: what became of each file of a candidate on the tree as it was then.",
  schema: landing,
});

export const LANDING_SNAPSHOT = defineContract({
  room: "workflow",
  name: "landing-snapshot",
  title: "Snapshot of a landing",
  summary: "manifest.json of a landing's snapshot: every path before and after, and the folders that were there.",
  schema: snapshot,
});

export const LANDING_JOURNAL = defineContract({
  room: "workflow",
  name: "landing-journal",
  title: "Journal of a landing",
  summary: "journal.json of a landing: how far it came, so that whoever comes next can finish it or take it back.",
  schema: journal,
});

export const newSnapshot = (parts: Omit<LandingSnapshot, "schema_version">): LandingSnapshot => {
  return { schema_version: SNAPSHOT_VERSION, ...parts };
};

export const newJournal = (state: LandingJournal["state"], token: string): LandingJournal => {
  return { schema_version: JOURNAL_VERSION, state, token };
};
