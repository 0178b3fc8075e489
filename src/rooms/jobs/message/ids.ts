import { hashCanonical, type JsonValue } from "../../../core/canonical/index.ts";
import type { Awaitable, Crypto, SyncCrypto } from "../../../core/ports.ts";

const SHORT = 16;

/** `msg_` and 16 hex digits: the same message in the same run is the same message. */
export function toMessageId(crypto: SyncCrypto, runId: string, message: JsonValue): string {
  return `msg_${hashCanonical(crypto, { message, run_id: runId }).slice(0, SHORT)}`;
}

export function toJobId(crypto: SyncCrypto, messageId: string): string {
  return `job_${crypto.sha256(`job:${messageId}`).slice(0, SHORT)}`;
}

/** A UUIDv8 made of the run, the job and the ordinal, so no two jobs share a step. */
export function toStepId(crypto: SyncCrypto, runId: string, jobId: string, ordinal: number): string;
export function toStepId(crypto: Crypto, runId: string, jobId: string, ordinal: number): Awaitable<string>;
export function toStepId(crypto: Crypto, runId: string, jobId: string, ordinal: number): Awaitable<string> {
  const hex = crypto.sha256(`step:${runId}:${jobId}:${ordinal}`);
  return typeof hex === "string" ? toUuid(hex) : hex.then(toUuid);
}

function toUuid(hex: string): string {
  const variant = ((Number.parseInt(hex[16]!, 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
