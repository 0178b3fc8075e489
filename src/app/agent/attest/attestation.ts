import { isJsonObject, parseJson } from "../../../core/canonical/index.ts";
import { type Envelope, type OpenedEnvelope, openEnvelopeFile } from "../../../core/trust/index.ts";
import { type AgentRecord, ATTESTATION_FILE } from "../../../rooms/workflow/index.ts";

/** What was signed for this commit before; null: nothing. */
export function readKept(record: AgentRecord, commit: string): OpenedEnvelope | null {
  const bytes = record.attestation();
  const opened = bytes === null ? null : openEnvelopeFile(bytes, ATTESTATION_FILE);
  return opened !== null && readSubject(opened) === commit ? opened : null;
}

/** Ids of the keys that have signed a statement about a commit of a run; null: nobody has. */
export function findSigners(record: AgentRecord, commit: string): string[] | null {
  const kept = readKept(record, commit);
  return kept === null ? null : listSigners(kept.envelope);
}

export function listSigners({ signatures }: Envelope): string[] {
  return signatures.flatMap(({ keyid }) => keyid ?? []);
}

/** The commit that an attestation of ours is about. */
function readSubject({ payload }: OpenedEnvelope): string | null {
  const value = parseJson(payload);
  const subjects = isJsonObject(value) && Array.isArray(value["subject"]) ? value["subject"] : [];
  const [first] = subjects;
  const digest = isJsonObject(first) ? first["digest"] : null;
  const commit = isJsonObject(digest) ? digest["gitCommit"] : null;
  return typeof commit === "string" ? commit : null;
}
