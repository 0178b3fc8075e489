import type { AgentRecord, Candidate, requireVerified, VerificationReport } from "../../../rooms/workflow/index.ts";

/**
 * The newest verification that speaks of exactly these bytes on exactly this base, made with the commands and the network
 * that the run asks for now. Whatever else was verified, another part of the change or the whole of it, does not count.
 */
export function findVerification(
  record: AgentRecord,
  { sha256 }: Pick<Candidate, "sha256">,
): VerificationReport | null {
  const { verifications } = record.now;
  for (let v = verifications; v > 0; v--) {
    const report = record.verification(v);
    if (report?.candidate === sha256) return isAsAsked(record, report) ? report : null;
  }
  return null;
}

/** A command that failed ends the list of those that ran. */
function isAsAsked({ now }: AgentRecord, { commands, network, result }: VerificationReport): boolean {
  const { verify, network: plan } = now.request;
  if (plan !== undefined && plan.mode !== network) return false;
  const [asked, ran] = [verify.map(({ cmd }) => cmd), commands.map(({ cmd }) => cmd)];
  if (result === "PASS" && asked.length !== ran.length) return false;
  return ran.every((cmd, i) => cmd === asked[i]);
}

/** What is known of a candidate: by its hash, never by where the run stands for another. */
export function verificationOf(
  record: AgentRecord,
  candidate: Candidate,
): Parameters<typeof requireVerified>[0]["verification"] {
  const { now } = record;
  const isCurrent = now.candidate === candidate.c;
  if (now.request.verify.length === 0) return isCurrent && now.state === "verify_failed" ? "failed" : "none";
  const result = findVerification(record, candidate)?.result;
  if (result === "FAIL" || (isCurrent && now.state === "verify_failed")) return "failed";
  // A verification of the current candidate that was begun anew and not finished counts for nothing.
  return result === "PASS" && (!isCurrent || now.state === "verified") ? "passed" : "missing";
}
