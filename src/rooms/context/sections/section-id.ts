import type { Awaitable, Crypto, SyncCrypto } from "../../../core/ports.ts";

/** The address of a section: SHA-256 of `file_path:line_start:line_end:content_hash`. */
export function sectionId(
  crypto: SyncCrypto,
  file_path: string,
  line_start: number,
  line_end: number,
  content_hash: string,
): string;
export function sectionId(
  crypto: Crypto,
  file_path: string,
  line_start: number,
  line_end: number,
  content_hash: string,
): Awaitable<string>;
export function sectionId(
  crypto: Crypto,
  file_path: string,
  line_start: number,
  line_end: number,
  content_hash: string,
): Awaitable<string> {
  return crypto.sha256(`${file_path}:${line_start}:${line_end}:${content_hash}`);
}
