import { isHash } from "../canonical/index.ts";
import { VerbatimError } from "../errors/index.ts";
import { fromHex, toHex } from "../hex.ts";
import type { Awaitable, Crypto } from "../ports.ts";

/** Bytes of an Ed25519 seed and of a public key. */
const KEY_BYTES = 32;

/** An Ed25519 public key as policies and reports name it: lower-case hex. */
export interface PublicKey {
  /** SHA-256 of the 32 raw bytes. */
  readonly key_id: string;
  readonly public_key: string;
}

/** A key that can sign. The seed stays inside the function: no log, error or JSON text can show it. */
export interface SigningKey extends PublicKey {
  readonly sign: (message: Uint8Array) => Awaitable<Uint8Array>;
}

/** The public key with these raw bytes; KEY_INVALID unless there are 32. */
export async function toPublicKey(crypto: Crypto, raw: Uint8Array): Promise<PublicKey> {
  if (raw.length !== KEY_BYTES) {
    throw new VerbatimError("KEY_INVALID", { message: `an Ed25519 public key has 32 bytes, not ${raw.length}` });
  }
  return { key_id: await crypto.sha256(raw), public_key: toHex(raw) };
}

/** The raw bytes of a public key in lower-case hex; KEY_INVALID for anything else. */
export function parsePublicKey(hex: string): Uint8Array {
  const raw = isHash(hex) ? fromHex(hex) : null;
  if (raw === null) {
    throw new VerbatimError("KEY_INVALID", { message: "a public key is written as 64 lower-case hex digits" });
  }
  return raw;
}

/** A signing key out of its 32-byte seed; KEY_INVALID unless there are 32 bytes. The seed is copied. */
export async function toSigningKey(crypto: Crypto, seed: Uint8Array): Promise<SigningKey> {
  if (seed.length !== KEY_BYTES) throw new VerbatimError("KEY_INVALID", { message: "an Ed25519 seed has 32 bytes" });
  const secret = seed.slice();
  const key = await toPublicKey(crypto, await crypto.ed25519PublicKey(secret));
  return { ...key, sign: (message) => crypto.ed25519Sign(secret, message) };
}
