import { createHash, createPrivateKey, createPublicKey, hash, sign, verify } from "node:crypto";
import type { SyncCrypto } from "../../core/ports.ts";

// DER prefixes that turn a raw 32-byte Ed25519 key into PKCS#8 and SPKI (RFC 8410).
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");
const SPKI_PREFIX = Buffer.from("302a300506032b6570032100", "hex");

/**
 * The port `Crypto` on node:crypto.
 *
 * @example
 * nodeCrypto.sha256("At noon.").length; // => 64
 */
export const nodeCrypto: SyncCrypto = {
  sha256: (data) => hash("sha256", data, "hex"),
  sha256Bytes: (data) => hash("sha256", data, "buffer"),
  hmacSha256,
  ed25519PublicKey(seed) {
    const spki = createPublicKey(toPrivateKey(seed)).export({ format: "der", type: "spki" });
    return new Uint8Array(spki.subarray(SPKI_PREFIX.length));
  },
  ed25519Sign: (seed, message) => new Uint8Array(sign(null, message, toPrivateKey(seed))),
  ed25519Verify(publicKey, message, signature) {
    if (publicKey.length !== 32 || signature.length !== 64) return false;
    const key = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, publicKey]), format: "der", type: "spki" });
    return verify(null, message, key, signature);
  },
  hasher() {
    const running = createHash("sha256");
    return { update: (data) => void running.update(data), digest: () => running.digest("hex") };
  },
};

const HMAC_BLOCK = 64;

/** RFC 2104. Every id of a world is one, and making node's Hmac object takes longer than two plain hashes. */
function hmacSha256(key: Uint8Array, data: Uint8Array | string): Uint8Array {
  const size = typeof data === "string" ? Buffer.byteLength(data) : data.length;
  const inner = Buffer.allocUnsafe(HMAC_BLOCK + size);
  const outer = Buffer.allocUnsafe(HMAC_BLOCK + 32);
  const short = key.length > HMAC_BLOCK ? hash("sha256", key, "buffer") : key;
  for (let i = 0; i < HMAC_BLOCK; i++) {
    const byte = i < short.length ? short[i]! : 0;
    inner[i] = byte ^ 0x36;
    outer[i] = byte ^ 0x5c;
  }
  if (typeof data === "string") inner.write(data, HMAC_BLOCK);
  else inner.set(data, HMAC_BLOCK);
  // A digest comes sooner as a text of its bytes than as a buffer.
  outer.write(hash("sha256", inner, "binary"), HMAC_BLOCK, "latin1");
  return Buffer.from(hash("sha256", outer, "binary"), "latin1");
}

function toPrivateKey(seed: Uint8Array) {
  return createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: "der", type: "pkcs8" });
}
