import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../adapters/crypto/node-crypto.ts";
import { webCrypto } from "../../adapters/crypto/web-crypto.ts";
import { Float, formatCanonical, type JsonValue, parseJson } from "../canonical/index.ts";
import { hashEntry } from "./entry.ts";
import { formatEntry, NO_PREVIOUS, parseEntry, sealEntry } from "./index.ts";

const sha = (text: string) => createHash("sha256").update(text, "utf8").digest("hex");
const HEAD = {
  stream: "job/ärger",
  position: 7,
  previous: "ab".repeat(32),
  kind: "STEP_2_DONE",
  time: "2025-01-02T03:04:05.006Z",
  actor: "worker 🌱",
};
const ENTRY = sealEntry(nodeCrypto, { ...HEAD, body: { b: [1, new Float(1)], a: "ü" } });
const written = (): Record<string, JsonValue> => parseJson(formatEntry(ENTRY)) as Record<string, JsonValue>;

describe("sealing an entry", () => {
  it("hashes every field, the body by its own hash", () => {
    const body = '{"a":"\\u00fc","b":[1,1.0]}';
    const text = `verbatim-entry-v1\njob/ärger\n7\n${"ab".repeat(32)}\nSTEP_2_DONE\n2025-01-02T03:04:05.006Z\nworker 🌱\n${sha(body)}`;
    expect(ENTRY).toEqual({ ...HEAD, body, body_hash: sha(body), hash: sha(text) });
  });

  it("gives the same entry for a body that is canonical text already", () => {
    expect(sealEntry(nodeCrypto, { ...HEAD, body_text: ENTRY.body })).toEqual(ENTRY);
  });

  it("gives the same hash for a body that is hashed already, and refuses the same heads", () => {
    expect(hashEntry(nodeCrypto, HEAD, ENTRY.body_hash)).toBe(ENTRY.hash);
    for (const part of [{ stream: "" }, { position: -1 }, { position: 0.5 }, { previous: "ab" }]) {
      expect(() => hashEntry(nodeCrypto, { ...HEAD, ...part }, ENTRY.body_hash)).toThrowError(
        expect.objectContaining({ code: "LEDGER_ENTRY_INVALID" }),
      );
    }
  });

  it("gives the same entry with a crypto that answers later", async () => {
    const sealed = sealEntry(webCrypto, { ...HEAD, body: { b: [1, new Float(1)], a: "ü" } });
    expect(sealed).toBeInstanceOf(Promise);
    expect(await sealed).toEqual(ENTRY);
  });

  it.each([
    ["/stream", { stream: "" }],
    ["/stream", { stream: "a\nb" }],
    ["/stream", { stream: "a\u0085b" }],
    ["/actor", { actor: "a\u007f" }],
    ["/actor", { actor: "\ud800" }],
    ["/actor", { actor: 5 }],
    ["/kind", { kind: "receipt" }],
    ["/kind", { kind: "A-B" }],
    ["/kind", { kind: "_A" }],
    ["/kind", { kind: "" }],
    ["/kind", { kind: "A\n" }],
    ["/time", { time: "2025-01-02T03:04:05Z" }],
    ["/time", { time: "2025-01-02T03:04:05.000+00:00" }],
    ["/position", { position: -1 }],
    ["/position", { position: 0.5 }],
    ["/position", { position: 2 ** 53 }],
    ["/position", { position: 1n }],
    ["/position", { position: new Float(1) }],
    ["/previous", { previous: "AB".repeat(32) }],
    ["/previous", { previous: "ab" }],
  ])("refuses a bad %s: %o", (pointer, part) => {
    const parts = { ...HEAD, ...part, body: {} } as Parameters<typeof sealEntry>[1];
    expect(() => sealEntry(nodeCrypto, parts)).toThrowError(
      expect.objectContaining({
        code: "LEDGER_ENTRY_INVALID",
        details: { problems: [expect.objectContaining({ pointer })] },
      }),
    );
  });

  it("refuses a body that has no JSON form", () => {
    const body = { a: undefined } as unknown as JsonValue;
    expect(() => sealEntry(nodeCrypto, { ...HEAD, body })).toThrowError(
      expect.objectContaining({ code: "JSON_UNSUPPORTED_VALUE" }),
    );
  });
});

describe("writing an entry out and reading it back", () => {
  it("is one line of canonical JSON with exactly the nine fields", () => {
    const line = formatEntry(ENTRY);
    expect(line).toBe(formatCanonical({ ...ENTRY, body: parseJson(ENTRY.body) }));
    expect(line).not.toContain("\n");
    expect(Object.keys(parseJson(line) as object)).toEqual(
      "actor body body_hash hash kind position previous stream time".split(" "),
    );
  });

  it("round-trips whatever the body is", () => {
    const parts = fc.record({
      stream: fc.string({ minLength: 1, unit: "grapheme" }).filter((text) => !/\p{Cc}/u.test(text)),
      actor: fc.string({ minLength: 1, unit: "grapheme" }).filter((text) => !/\p{Cc}/u.test(text)),
      position: fc.maxSafeNat(),
      body: fc.json({ depthSize: "small" }),
    });
    fc.assert(
      fc.property(parts, ({ body, ...head }) => {
        const entry = sealEntry(nodeCrypto, { ...HEAD, ...head, body: parseJson(body) });
        expect(parseEntry(parseJson(formatEntry(entry)))).toEqual(entry);
      }),
    );
  });

  it.each([
    ["an extra field", "FIELD_UNKNOWN", "/index", { index: 3 }],
    ["a float as position", "FIELD_TYPE", "/position", { position: new Float(7) }],
    ["an integer outside the safe range", "FIELD_VALUE", "/position", { position: 2n ** 60n }],
    ["an upper-case hash", "FIELD_VALUE", "/hash", { hash: "A".repeat(64) }],
    ["a short hash", "FIELD_VALUE", "/body_hash", { body_hash: "ab" }],
    ["a lower-case kind", "FIELD_VALUE", "/kind", { kind: "plan" }],
    ["a list as kind", "FIELD_TYPE", "/kind", { kind: ["PLAN"] }],
    ["a time without milliseconds", "FIELD_VALUE", "/time", { time: "2025-01-02T03:04:05Z" }],
    ["a control character", "FIELD_VALUE", "/actor", { actor: "a\tb" }],
  ])("refuses %s", (_what, code, pointer, change) => {
    expect(() => parseEntry({ ...written(), ...change } as JsonValue)).toThrowError(
      expect.objectContaining({
        code: "LEDGER_ENTRY_MALFORMED",
        details: { problems: [expect.objectContaining({ code, pointer })] },
      }),
    );
  });

  it("refuses an entry without one of its fields, naming it", () => {
    for (const field of Object.keys(written())) {
      const { [field]: _gone, ...rest } = written();
      expect(() => parseEntry(rest)).toThrowError(
        expect.objectContaining({ details: { problems: [expect.objectContaining({ pointer: `/${field}` })] } }),
      );
    }
  });

  it("refuses everything that is not an object", () => {
    for (const value of [null, true, 1, 2n, "x", [], new Float(1)]) {
      expect(() => parseEntry(value)).toThrowError(expect.objectContaining({ code: "LEDGER_ENTRY_MALFORMED" }));
    }
  });

  it("takes the first entry of a stream", () => {
    const first = sealEntry(nodeCrypto, { ...HEAD, position: 0, previous: NO_PREVIOUS, body: null });
    expect(parseEntry(parseJson(formatEntry(first)))).toEqual(first);
  });
});
