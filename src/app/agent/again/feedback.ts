import { encodeUtf8 } from "../../../core/canonical/index.ts";
import {
  type AgentRecord,
  type Comment,
  type FailedCommand,
  type FeedbackParts,
  formatFeedback,
  type Remark,
  redactBytes,
  signFailure,
  toName,
  type VerificationReport,
} from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { NOTHING_SHOWN } from "../request/masks.ts";
import { findSecrets } from "../work/redact.ts";
import type { Feedback } from "./deliver-feedback.ts";

const MOST_LINES = 60;

/** What somebody adds to what the record says. */
export interface Said {
  readonly note: string;
  readonly comments: readonly Comment[];
  readonly begins: FeedbackParts["begins"];
  readonly conflicts: readonly string[];
}

export const NOTHING_SAID: Said = { note: "", comments: [], begins: "candidate", conflicts: [] };

/**
 * What an agent would be told about the newest attempt, byte for byte: what people said, then what was refused or failed.
 * Null where there is nothing to say. Known secrets are taken out.
 */
export function composeFeedback(outside: AgentPorts, record: AgentRecord, said: Said): string | null {
  const { state, reason, attempts, candidate: c, verification: v, request } = record.now;
  const gate = state === "rejected" && c !== null ? record.gate(c) : null;
  const report = state === "verify_failed" && v !== null ? record.verification(v) : null;
  const text = formatFeedback({
    attempt: Math.max(1, attempts),
    begins: said.begins,
    note: said.note,
    remarks: said.comments.map(toRemark),
    findings: gate?.findings ?? [],
    failed: report === null ? null : findFailed(record, report),
    broken_off: BROKEN_OFF.includes(state) ? reason : null,
    conflicts: said.conflicts,
  });
  if (text === null) return null;
  const { unmask, all } = request.masks ?? NOTHING_SHOWN;
  const masks = outside.masks({ unmask, all, profile: null, kept: [], seen: [] }, null);
  return new TextDecoder().decode(redactBytes(findSecrets(outside, masks.values), encodeUtf8(text)));
}

const BROKEN_OFF: readonly string[] = ["agent_failed", "timed_out", "over_limit", "interrupted"];

/** Writes the text beside the attempt that it is about. */
export function writeFeedback(record: AgentRecord, text: string, comments: readonly string[]): Feedback {
  const { run, now } = record;
  const file = `agent/feedback/${toName(Math.max(1, now.attempts))}.md`;
  const bytes = encodeUtf8(text);
  run.folder.write(file, bytes);
  return { file, sha256: run.ports.crypto.sha256(bytes), text, comments };
}

function toRemark({ at, quote, text }: Comment): Remark {
  const { path, side, from, to } = at;
  return { path, lines: from === null ? null : { from, to: to ?? from }, isBefore: side === "base", quote, text };
}

/** The command that failed, or the set-up that did, with the end of what it printed. */
function findFailed(record: AgentRecord, report: VerificationReport): FailedCommand {
  const { command, index } = findFailure(report);
  const also = report.baseline.find(({ cmd }) => cmd === command?.cmd);
  return {
    cmd: command?.cmd ?? "-",
    exit_code: command?.exit_code ?? 1,
    reason: report.reason ?? "the verification failed",
    printed: index === null ? [] : readPrinted(record, report, command!.cmd),
    also_fails: also === undefined ? null : also.exit_code !== 0,
  };
}

function findFailure({ setup, commands }: VerificationReport): {
  readonly command: { readonly cmd: string; readonly exit_code: number } | null;
  readonly index: number | null;
  readonly gate: "setup" | "lite";
} {
  const failed = commands.findIndex(({ reason }) => reason !== null);
  if (failed !== -1) return { command: commands[failed]!, index: failed, gate: "lite" };
  const broken = setup.findIndex(({ exit_code }) => exit_code !== 0);
  if (broken !== -1) return { command: setup[broken]!, index: broken, gate: "setup" };
  return { command: null, index: null, gate: "lite" };
}

/** The last lines of a command out of the logs of its verification, which are redacted; it is the last one in them. */
function readPrinted({ run }: AgentRecord, { v }: VerificationReport, cmd: string): string[] {
  const read = (name: string, head: string) => {
    const text = new TextDecoder().decode(run.read(`agent/verifications/${toName(v)}/${name}`) ?? new Uint8Array());
    const at = text.startsWith(head) ? 0 : text.indexOf(`\n${head}`) + 1;
    if (at === 0 && !text.startsWith(head)) return [];
    const lines = text.slice(at + head.length).split("\n");
    while (lines.at(-1) === "") lines.pop();
    return lines;
  };
  const out = read("stdout.log", `$ ${cmd}\n`);
  const errors = read("stderr.log", `$ ${cmd}   (standard error)\n`);
  const ofErrors = Math.min(errors.length, Math.max(MOST_LINES / 2, MOST_LINES - out.length));
  const kept = [...out.slice(-Math.max(1, MOST_LINES - ofErrors)), ...errors.slice(errors.length - ofErrors)];
  return kept.slice(-MOST_LINES).map((line) => line.trimEnd());
}

/** In what way a candidate failed; null: it did not, or nobody judged it. */
function signatureOf(record: AgentRecord, c: number): string | null {
  const { crypto } = record.run.ports;
  const gate = record.gate(c);
  if (gate?.verdict === "reject") {
    const lines = gate.findings.map(({ code, path, says }) => `${code} ${path ?? ""} ${says}`);
    return signFailure(crypto, { gate: "policy", index: 0, exit_code: 1, lines });
  }
  const sha256 = record.candidate(c)?.sha256;
  for (let v = record.now.verifications; v > 0; v--) {
    const report = record.verification(v);
    if (report === null || report.candidate !== sha256) continue;
    if (report.result !== "FAIL") return null;
    const { command, index, gate: name } = findFailure(report);
    const lines = command === null ? [report.reason ?? ""] : readPrinted(record, report, command.cmd);
    return signFailure(crypto, { gate: name, index: index ?? -1, exit_code: command?.exit_code ?? 1, lines });
  }
  return null;
}

/** The earlier attempt that left the same change as the current candidate, or failed in the same way; null: there is none. */
export function findRepeated(record: AgentRecord, c: number): number | null {
  const candidate = record.candidate(c);
  if (candidate?.kind !== "capture" || candidate.attempt === undefined) return null;
  const signature = signatureOf(record, c);
  for (let other = c - 1; other > 0; other--) {
    const before = record.candidate(other);
    if (before?.kind !== "capture" || before.attempt === undefined || before.attempt >= candidate.attempt) continue;
    if (before.sha256 === candidate.sha256) return before.attempt;
    if (signature !== null && signatureOf(record, other) === signature) return before.attempt;
  }
  return null;
}
