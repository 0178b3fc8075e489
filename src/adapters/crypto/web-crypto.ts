import { encodeUtf8 } from "../../core/canonical/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import { toHex } from "../../core/hex.ts";
import type { Crypto } from "../../core/ports.ts";

const ED25519 = "Ed25519";
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

// DER prefix that turns a raw 32-byte Ed25519 seed into PKCS#8 (RFC 8410): WebCrypto imports no bare seeds.
const PKCS8_PREFIX = [0x30, 0x2e, 0x02, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];

/**
 * The port `Crypto` on WebCrypto, for browsers: every answer is a promise. It imports nothing of Node.
 *
 * @example
 * (await webCrypto.sha256("At noon.")).length; // => 64
 */
export const webCrypto: Crypto = {
  sha256: async (data) => toHex(await digest(typeof data === "string" ? encodeUtf8(data) : data)),
  sha256Bytes: (data) => digest(data),
  async hmacSha256(key, data) {
    // WebCrypto refuses an empty HMAC key; zeros of a block's length are the same key (RFC 2104).
    const bytes = key.length === 0 ? new Uint8Array(64) : key;
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    const imported = await subtle().importKey("raw", own(bytes), algorithm, false, ["sign"]);
    return new Uint8Array(
      await subtle().sign("HMAC", imported, own(typeof data === "string" ? encodeUtf8(data) : data)),
    );
  },
  async ed25519PublicKey(seed) {
    const { x } = await subtle().exportKey("jwk", await importSeed(seed, true));
    return fromBase64Url(x!);
  },
  async ed25519Sign(seed, message) {
    return new Uint8Array(await subtle().sign(ED25519, await importSeed(seed, false), own(message)));
  },
  async ed25519Verify(publicKey, message, signature) {
    if (publicKey.length !== KEY_BYTES || signature.length !== SIGNATURE_BYTES) return false;
    try {
      const key = await subtle().importKey("raw", own(publicKey), ED25519, false, ["verify"]);
      return await subtle().verify(ED25519, key, own(signature), own(message));
    } catch (thrown) {
      // Some engines refuse bytes that are no point of the curve where others answer that nothing verifies.
      if (thrown instanceof Error && thrown.name === "DataError") return false;
      throw thrown;
    }
  },
};

function subtle(): typeof globalThis.crypto.subtle {
  const found: typeof globalThis.crypto.subtle | undefined = globalThis.crypto?.subtle;
  if (found !== undefined) return found;
  throw new VerbatimError("INTERNAL", {
    message: "this page has no WebCrypto",
    fix: "Open the page over https or from localhost: browsers offer WebCrypto only to secure pages.",
  });
}

async function digest(data: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await subtle().digest("SHA-256", own(data)));
}

function importSeed(seed: Uint8Array, extractable: boolean) {
  const pkcs8 = new Uint8Array(PKCS8_PREFIX.length + seed.length);
  pkcs8.set(PKCS8_PREFIX);
  pkcs8.set(seed, PKCS8_PREFIX.length);
  return subtle().importKey("pkcs8", pkcs8, ED25519, extractable, ["sign"]);
}

/** The bytes as WebCrypto's types want them: nobody here hands in shared memory. */
function own(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes as Uint8Array<ArrayBuffer>;
}

function fromBase64Url(text: string): Uint8Array {
  const binary = globalThis.atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}
