import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeUtf8 } from "../../core/canonical/index.ts";
import { fromHex, toHex } from "../../core/hex.ts";
import { nodeCrypto } from "./node-crypto.ts";
import { webCrypto } from "./web-crypto.ts";

const bytes = (hex: string): Uint8Array => fromHex(hex)!;

// RFC 8032 section 7.1, tests 1, 2, 3 and SHA(abc).
const RFC_8032 = [
  {
    seed: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
    publicKey: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    message: "",
    signature:
      "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
  },
  {
    seed: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
    publicKey: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
    message: "72",
    signature:
      "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
  },
  {
    seed: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
    publicKey: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
    message: "af82",
    signature:
      "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
  },
  {
    seed: "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
    publicKey: "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
    message:
      "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
    signature:
      "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704",
  },
];

describe.each([
  ["node:crypto", nodeCrypto],
  ["WebCrypto", webCrypto],
])("Ed25519 on %s", (_name, crypto) => {
  it.each(RFC_8032)("gives the published key and signature for the seed $seed", async (vector) => {
    expect(toHex(await crypto.ed25519PublicKey(bytes(vector.seed)))).toBe(vector.publicKey);
    expect(toHex(await crypto.ed25519Sign(bytes(vector.seed), bytes(vector.message)))).toBe(vector.signature);
    const verify = (message: Uint8Array, signature: string) =>
      crypto.ed25519Verify(bytes(vector.publicKey), message, bytes(signature));
    expect(await verify(bytes(vector.message), vector.signature)).toBe(true);
    expect(await verify(Uint8Array.of(0xff), vector.signature)).toBe(false);
    expect(await verify(bytes(vector.message), vector.signature.replace(/^../, "00"))).toBe(false);
  });

  it("answers false for anything that is not a valid signature, and never throws", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 31, maxLength: 33 }),
        fc.uint8Array({ minLength: 63, maxLength: 65 }),
        async (key, signature) => {
          expect(await crypto.ed25519Verify(key, Uint8Array.of(1), signature)).toBe(false);
        },
      ),
      { numRuns: 50 },
    );
  });

  it("refuses a signature whose second half is beyond the group order", async () => {
    // RFC 8032 section 5.1.7: S + L verifies the same equation and must be refused.
    const { publicKey, signature } = RFC_8032[0]!;
    const order = 0x1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3edn;
    const s = BigInt(`0x${toHex(bytes(signature.slice(64)).reverse())}`) + order;
    const malleable = signature.slice(0, 64) + toHex(bytes(s.toString(16).padStart(64, "0")).reverse());
    expect(await crypto.ed25519Verify(bytes(publicKey), new Uint8Array(), bytes(malleable))).toBe(false);
  });
});

describe("the port Crypto on WebCrypto", () => {
  it("gives what node:crypto gives", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.uint8Array({ maxLength: 80 }), async (data, key) => {
        expect(await webCrypto.sha256(data)).toBe(nodeCrypto.sha256(data));
        expect(toHex(await webCrypto.sha256Bytes(data))).toBe(toHex(nodeCrypto.sha256Bytes(data)));
        expect(toHex(await webCrypto.hmacSha256(key, data))).toBe(toHex(nodeCrypto.hmacSha256(key, data)));
      }),
    );
  });

  it("hashes a string as UTF-8", async () => {
    expect(await webCrypto.sha256("grün 🌱")).toBe(nodeCrypto.sha256("grün 🌱"));
    const key = encodeUtf8("key");
    const expected = toHex(nodeCrypto.hmacSha256(key, encodeUtf8("grün 🌱")));
    expect(toHex(nodeCrypto.hmacSha256(key, "grün 🌱"))).toBe(expected);
    expect(toHex(await webCrypto.hmacSha256(key, "grün 🌱"))).toBe(expected);
  });

  it("signs and derives public keys like node:crypto", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.uint8Array(), async (seed, message) => {
        expect(toHex(await webCrypto.ed25519PublicKey(seed))).toBe(toHex(nodeCrypto.ed25519PublicKey(seed)));
        expect(toHex(await webCrypto.ed25519Sign(seed, message))).toBe(toHex(nodeCrypto.ed25519Sign(seed, message)));
      }),
      { numRuns: 20 },
    );
  });

  it("imports nothing of Node", () => {
    const source = readFileSync(new URL("web-crypto.ts", import.meta.url), "utf8");
    expect(source).not.toMatch(/from "node:|\bBuffer\b|\bprocess\b|require\(/);
  });
});
