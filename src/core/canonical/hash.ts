import type { Awaitable, Crypto, SyncCrypto } from "../ports.ts";
import { formatCanonical } from "./write.ts";

/** SHA-256 of a value's canonical bytes without a newline, lower-case hex. */
export function hashCanonical(crypto: SyncCrypto, value: unknown): string;
export function hashCanonical(crypto: Crypto, value: unknown): Awaitable<string>;
export function hashCanonical(crypto: Crypto, value: unknown): Awaitable<string> {
  return crypto.sha256(formatCanonical(value));
}

const HASH = /^[0-9a-f]{64}$/;

/** Whether a text is a SHA-256 in lower-case hex. */
export function isHash(text: string): boolean {
  return HASH.test(text);
}
