import { z } from "zod";
import { formatCanonical, isJsonObject, type JsonObject, type JsonValue } from "../../../core/canonical/index.ts";
import { defineContract, hashHex } from "../../../core/contracts/index.ts";
import { FINDINGS } from "../../../core/errors/index.ts";

export const AGENT_CHANGE_PREDICATE = "urn:verbatim:predicate:agent-change:v1";
export const STATEMENT_TYPE = "https://in-toto.io/Statement/v1";

const objectId = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);
const instant = z.string().regex(/^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$/);
const text = z.string().min(1);
const amount = z.int().min(0);

/** A path as the commit has it; null: the commit takes it away. */
const file = z.strictObject({
  path: text,
  mode: z.enum(["100644", "100755", "120000"]).nullable(),
  sha256: hashHex.nullable(),
});

const predicate = z.strictObject({
  run_id: text,
  goal: text,
  base: z.strictObject({ commit: objectId, tree: objectId }),
  /** SHA-256 of the candidate whose tree the commit has. */
  candidate: hashHex,
  files: z.array(file).min(1),
  agent: z.strictObject({ profile: text, argv0: text, model: text.optional() }),
  guard: text.nullable(),
  proof_hash: hashHex.nullable(),
  network: z.strictObject({
    mode: z.enum(["inherit", "none", "allow"]),
    allowed: amount,
    refused: amount,
    log_sha256: hashHex.nullable(),
  }),
  policy: z.strictObject({
    verdict: z.enum(["accept", "reject"]),
    /** Paths of the change that were permitted by hand or by the configuration. */
    permitted: z.array(text),
  }),
  verification: z.strictObject({
    /** What the commands ran on; null: nothing ran. */
    base: z.strictObject({ kind: z.enum(["view", "copy", "checkout"]), tree: objectId }).nullable(),
    commands: z.array(z.strictObject({ cmd: text, exit_code: amount })),
    result: z.enum(["PASS", "FAIL", "NONE"]),
  }),
  /** The newest entry of the ledger then, and the root over it and all before. */
  ledger: z.strictObject({ index: amount, root: hashHex }),
  finished_at: instant,
});

const subject = z.union([
  z.strictObject({ name: z.literal("commit"), digest: z.strictObject({ gitCommit: objectId }) }),
  z.strictObject({ name: text, digest: z.strictObject({ sha256: hashHex }) }),
]);

export type AgentChangePredicate = z.infer<typeof predicate>;

/** What a statement is about: the commit, and each file that it has of the change. */
export function toSubjects(commit: string, { files }: Pick<AgentChangePredicate, "files">): JsonObject[] {
  const there = files.flatMap(({ path, sha256 }) => (sha256 === null ? [] : [{ name: path, digest: { sha256 } }]));
  return [{ name: "commit", digest: { gitCommit: commit } }, ...there];
}

/** The payload of agent/attestation.dsse.json and of the notes on refs/notes/verbatim. */
export const AGENT_CHANGE = defineContract({
  room: "workflow",
  name: "agent-change",
  title: "Statement about an agent's commit",
  summary: "The in-toto Statement about one commit of an agent's change: its files, who made it, and what verified it.",
  schema: z.strictObject({
    _type: z.literal(STATEMENT_TYPE),
    subject: z.array(subject).min(1),
    predicateType: z.literal(AGENT_CHANGE_PREDICATE),
    predicate,
  }),
  checks: [
    {
      code: "AGENT_CHANGE_INCONSISTENT",
      summary: FINDINGS.workflow.AGENT_CHANGE_INCONSISTENT,
      run: findContradictions,
    },
  ],
});

/** The first subject is the commit, the others are the files of the predicate, and a removed path has neither mode nor hash. */
function findContradictions(value: JsonValue): string[] {
  const { subject: subjects, predicate: said } = isJsonObject(value) ? value : {};
  const read = predicate.shape.files.safeParse(isJsonObject(said) ? said["files"] : null);
  // What is no list of files is said by the schema.
  if (!Array.isArray(subjects) || !read.success) return [];
  const files = read.data;
  const first: JsonValue = subjects[0] ?? null;
  const commit = isJsonObject(first) && isJsonObject(first["digest"]) ? first["digest"]["gitCommit"] : null;
  if (typeof commit !== "string") return ["/subject/0"];
  const wanted = toSubjects(commit, { files });
  const problems = formatCanonical(subjects) === formatCanonical(wanted) ? [] : ["/subject"];
  for (const [i, { mode, sha256 }] of files.entries()) {
    if ((mode === null) !== (sha256 === null)) problems.push(`/predicate/files/${i}`);
  }
  return problems;
}
