import { z } from "zod";
import { defineContract, hashHex } from "../../../core/contracts/index.ts";

export const LANDING_COMMIT_VERSION = "verbatim-landing-commit-v1";

const objectId = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);
const number = z.int().min(1);
const text = z.string().min(1);

/** A path as the commit has it; null: the commit takes it away. */
const file = z.strictObject({
  path: text,
  mode: z.enum(["100644", "100755", "120000"]).nullable(),
  id: objectId.nullable(),
  /** Of the bytes that git keeps, which may have other line ends than the tree. */
  sha256: hashHex.nullable(),
});

const commit = z.strictObject({
  schema_version: z.literal(LANDING_COMMIT_VERSION),
  l: number,
  /** The candidate whose tree it is, and what verified exactly that tree; null: nothing did. */
  candidate: number,
  verification: number.nullable(),
  parent: objectId,
  tree: objectId,
  commit: objectId,
  /** The ref that is moved: a branch, or HEAD where it is on none. */
  ref: text,
  /** Where the ref stands before; null: the branch is made. */
  from: objectId.nullable(),
  /** A branch of its own: neither HEAD, index nor working tree is touched. */
  aside: z.boolean(),
  signed: z.boolean(),
  hooks: z.array(z.enum(["pre-commit", "commit-msg"])),
  files: z.array(file).min(1),
  /** How far it came. `planned`: the commit is made and nothing refers to it yet. */
  state: z.enum(["planned", "done", "lost"]),
});

export type LandingCommit = z.infer<typeof commit>;

/** agent/landings/NN/commit.json. */
export const LANDING_COMMIT = defineContract({
  room: "workflow",
  name: "landing-commit",
  title: "Commit of a landing",
  summary: "commit.json of a landing: the commit that was made of it, what it holds, and how far that came.",
  schema: commit,
});
