import { describe, expect, it } from "vitest";
import type { BodyPiece } from "../../core/ports.ts";
import { nodeCrypto } from "../crypto/node-crypto.ts";
import { joinBody, piecesOf, requirePiece, toStoredBody } from "./pieces.ts";

const long = `"${"x".repeat(70_000)}"`;
const name = "a".repeat(64);
const piece: BodyPiece = { sha256: name, size: long.length, bytes: () => new TextEncoder().encode(long) };

describe("a body in pieces", () => {
  const stored = toStoredBody({ parts: ['{"a":', piece, ',"b":1}'], sha256: "" });

  it("is kept without its long pieces, in a form that is no JSON", () => {
    expect(stored.text).toBe(`@["{\\"a\\":","${name}",",\\"b\\":1}"]`);
    expect(stored.pieces).toEqual([piece]);
    expect(piecesOf(stored.text)).toEqual([name]);
    expect(() => JSON.parse(stored.text)).toThrow(SyntaxError);
  });

  it("comes back as it was, and shows where a piece is missing", () => {
    expect(joinBody(stored.text, () => long)).toBe(`{"a":${long},"b":1}`);
    expect(joinBody(stored.text, () => undefined)).toBe(stored.text);
  });

  it("is simply its text when no piece is long", () => {
    const short = toStoredBody({
      parts: ["[", { ...piece, size: 3, bytes: () => new TextEncoder().encode('"x"') }, "]"],
      sha256: "",
    });
    expect(short).toEqual({ text: '["x"]', pieces: [] });
    expect(piecesOf('["x"]')).toEqual([]);
    expect(joinBody('["x"]', () => "never")).toBe('["x"]');
  });

  it("is kept only under the hash of its own text", () => {
    expect(() => requirePiece(nodeCrypto, piece)).toThrow(expect.objectContaining({ code: "LEDGER_ENTRY_INVALID" }));
    expect(requirePiece(nodeCrypto, { ...piece, sha256: nodeCrypto.sha256(`${long}\n`) })).toBe(long);
  });

  it("that somebody spoiled is given as it is, so that its hash tells", () => {
    for (const body of ["@", '@["a']) expect(joinBody(body, () => undefined)).toBe(body);
    // No pieces at all come to no text, which has another hash as well.
    for (const body of ["@{}", "@null"]) expect(joinBody(body, () => undefined)).toBe("");
  });
});
