import { z } from "zod";
import { compareCodePoints, hashCanonical, type JsonObject, type JsonValue } from "../../../core/canonical/index.ts";
import { defineContract, hashHex } from "../../../core/contracts/index.ts";
import { FINDINGS } from "../../../core/errors/index.ts";

export const CANDIDATE_VERSION = "verbatim-candidate-v1";
export const CARRIED_VERSION = "verbatim-carried-v1";
export const CHOICE_VERSION = "verbatim-choice-v1";

const objectId = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);
const amount = z.int().min(0);
const number = z.int().min(1);
// What an agent left is recorded under the name it has; the policy judges names.
const path = z.string().min(1);
const mode = z.enum(["100644", "100755", "120000"]);
const operation = z.enum(["create", "modify", "delete"]);

/** A file of the change that no text patch carries: its bytes are in the content store. A deletion has none. */
const carriedFile = z.strictObject({
  path,
  operation,
  kind: z.enum(["binary", "link", "mode"]),
  mode: mode.nullable(),
  sha256: hashHex.nullable(),
  bytes: amount,
  target: z.string().optional(),
});

const carried = z.strictObject({ schema_version: z.literal(CARRIED_VERSION), files: z.array(carriedFile).min(1) });

/** `n.1`: the first part of the hunk n. */
const partName = z.string().regex(/^[1-9][0-9]*\.[1-9][0-9]*$/);

const extent = {
  /** Lines as in a hunk header: the first line from 1, and how many; without lines the line before. */
  old_start: amount,
  old_lines: amount,
  new_start: amount,
  new_lines: amount,
  added: amount,
  deleted: amount,
};

const hunk = z.strictObject({
  n: number,
  id: z.string().regex(/^h_[0-9a-f]{12}$/),
  ...extent,
  /** Only where unchanged lines stand between changes. */
  parts: z.array(z.strictObject({ n: partName, ...extent })).optional(),
});

const candidateFile = z.strictObject({
  path,
  operation,
  kind: z.enum(["text", "binary", "link", "mode"]),
  added: amount,
  deleted: amount,
  bytes: amount,
  sha256: hashHex.nullable(),
  mode: mode.nullable(),
  target: z.string().optional(),
  /** Size before, of a binary file that was there. */
  old_bytes: amount.optional(),
  hunks: z.array(hunk).optional(),
});

const notice = z.strictObject({
  path,
  rule: z.enum(["tells_agents", "runs_on_install", "decides_verification", "lock_unchanged"]),
  says: z.string().min(1),
});

const picked = z.strictObject({
  path,
  hunks: z.union([z.literal("all"), z.array(z.union([number, partName])).min(1)]),
});

const candidate = z.strictObject({
  schema_version: z.literal(CANDIDATE_VERSION),
  c: number,
  kind: z.enum(["capture", "selection", "landing"]),
  parent: number.optional(),
  attempt: number.optional(),
  base: z.strictObject({ commit: objectId, tree: objectId }),
  patch_sha256: hashHex.nullable(),
  carried_sha256: hashHex.nullable(),
  sha256: hashHex,
  files: z.array(candidateFile),
  notices: z.array(notice),
  picked: z.array(picked).optional(),
});

export type CarriedFile = z.infer<typeof carriedFile>;
export type Carried = z.infer<typeof carried>;
export type CandidateHunk = z.infer<typeof hunk>;
export type CandidateFile = z.infer<typeof candidateFile>;
export type CandidateNotice = z.infer<typeof notice>;
export type CandidatePick = z.infer<typeof picked>;
export type Candidate = z.infer<typeof candidate>;

/** What a candidate is known by: the tree it begins with and what it does to it (`candidate.sha256`). */
export function candidateIdentity(facts: {
  readonly tree: string;
  readonly patch_sha256: string | null;
  readonly carried_sha256: string | null;
}): JsonObject {
  return { base: facts.tree, carried: facts.carried_sha256, patch: facts.patch_sha256 };
}

/** agent/candidates/NN/carried.json. */
export const CARRIED = defineContract({
  room: "workflow",
  name: "carried",
  title: "Carried files",
  summary: "carried.json: the files of a change that travel whole, by the hash of their bytes: binaries, links, modes.",
  schema: carried,
  checks: [
    {
      code: "CARRIED_NOT_ORDERED",
      summary: FINDINGS.workflow.CARRIED_NOT_ORDERED,
      run: (value) => listOutOfOrder(value).map((i) => `/files/${i}/path`),
    },
  ],
});

/** agent/candidates/NN/candidate.json. */
export const CANDIDATE = defineContract({
  room: "workflow",
  name: "candidate",
  title: "Candidate",
  summary: "candidate.json: a change that could land, file by file and hunk by hunk, and the tree it begins with.",
  schema: candidate,
  derived: [
    {
      code: "CANDIDATE_HASH_MISMATCH",
      summary: FINDINGS.workflow.CANDIDATE_HASH_MISMATCH,
      async run({ base, patch_sha256, carried_sha256, sha256 }, crypto) {
        const expected = await hashCanonical(
          crypto,
          candidateIdentity({ tree: base.tree, patch_sha256, carried_sha256 }),
        );
        return sha256 === expected ? [] : ["/sha256"];
      },
    },
  ],
});

function listOutOfOrder(value: JsonValue): number[] {
  const files = (value as { readonly files?: unknown } | null)?.files;
  if (!Array.isArray(files)) return [];
  const names = files.map((file: unknown) => (file as { readonly path?: unknown } | null)?.path);
  return names.flatMap((name, i) => {
    const before = names[i - 1];
    if (typeof name !== "string" || typeof before !== "string") return [];
    return compareCodePoints(before, name) < 0 ? [] : [i];
  });
}

/** A whole file, a hunk, or a part of one. */
const unit = z.string().regex(/^(?:all|[1-9][0-9]*(?:\.[1-9][0-9]*)?)$/);

const choice = z.strictObject({
  schema_version: z.literal(CHOICE_VERSION),
  /** SHA-256 of the candidate that was read. */
  candidate: hashHex,
  files: z.array(z.strictObject({ path, take: z.array(unit), leave: z.array(unit) })),
});

export type Choice = z.infer<typeof choice>;

/** agent/candidates/NN/choice.json. */
export const CHOICE = defineContract({
  room: "workflow",
  name: "choice",
  title: "Choice",
  summary: "choice.json: what somebody who reads a candidate hunk by hunk has decided so far.",
  schema: choice,
});
