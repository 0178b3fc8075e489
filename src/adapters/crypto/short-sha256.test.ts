import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { hashShort } from "./short-sha256.ts";

const bytesOf = (length: number) => Uint8Array.from({ length }, (_, i) => (i * 167 + length * 31) & 0xff);
const byNode = (data: Uint8Array) => createHash("sha256").update(data).digest("hex");

describe("the hash for short data", () => {
  it.each([
    ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
    ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
    [
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    ],
  ])("gives the published value of %j", (text, hash) => {
    expect(hashShort(new TextEncoder().encode(text))).toBe(hash);
  });

  it("is SHA-256 at every length around the ends of blocks, of bytes of every value", () => {
    for (let length = 0; length <= 400; length++) {
      const data = bytesOf(length);
      expect(hashShort(data), `${length} bytes`).toBe(byNode(data));
    }
    const high = new Uint8Array(5_000).fill(0xff);
    expect(hashShort(high)).toBe(byNode(high));
  });

  it("reads a part of a larger buffer where it lies", () => {
    const whole = bytesOf(300);
    expect(hashShort(whole.subarray(7, 207))).toBe(byNode(whole.subarray(7, 207)));
  });
});
