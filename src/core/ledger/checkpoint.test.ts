import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../adapters/crypto/node-crypto.ts";
import { encodeUtf8 } from "../canonical/index.ts";
import { isVerbatimError } from "../errors/index.ts";
import { compareWithCheckpoint, computeRoot, EMPTY_ROOT, formatCheckpoint, parseCheckpoint } from "./index.ts";

const ID = "3f0c9a52-7b1e-4c60-9d2a-5e8f1b7c6d40";
const HASHES = Array.from({ length: 9 }, (_, i) => nodeCrypto.sha256(String(i)));
const ledgerOf = (hashes: readonly string[]) => ({
  ledger_id: ID,
  size: hashes.length,
  hashes: (from: number, limit: number) => hashes.slice(from, from + limit),
});
const ROOT_5 = await computeRoot(nodeCrypto, ledgerOf(HASHES).hashes, 5);
const AT_5 = { ledger_id: ID, root_hash: ROOT_5, tree_size: 5 };

describe("the payload of a checkpoint", () => {
  it("is canonical JSON of three members", () => {
    const text = `{"ledger_id":"${ID}","root_hash":"${ROOT_5}","tree_size":5}`;
    expect(formatCheckpoint(AT_5)).toBe(text);
    expect(parseCheckpoint(encodeUtf8(text))).toMatchObject(AT_5);
  });

  it.each([
    ["spaces", formatCheckpoint(AT_5).replace(",", ", ")],
    ["another order", `{"tree_size":5,"ledger_id":"${ID}","root_hash":"${ROOT_5}"}`],
    ["a final line feed", `${formatCheckpoint(AT_5)}\n`],
    ["a float", formatCheckpoint(AT_5).replace(":5}", ":5.0}")],
    ["a number that is too large", formatCheckpoint(AT_5).replace(":5}", ":9007199254740993}")],
    ["a negative size", formatCheckpoint(AT_5).replace(":5}", ":-5}")],
    ["an extra member", formatCheckpoint(AT_5).replace("}", ',"x":1}')],
    ["an upper-case id", formatCheckpoint(AT_5).replace(ID, ID.toUpperCase())],
    ["an upper-case root", formatCheckpoint(AT_5).replace(ROOT_5, ROOT_5.toUpperCase())],
    ["a duplicate key", formatCheckpoint(AT_5).replace("}", ',"tree_size":5}')],
    ["nothing", ""],
    ["null", "null"],
  ])("is refused with %s", (_what, text) => {
    expect(() => parseCheckpoint(encodeUtf8(text))).toThrowError(
      expect.objectContaining({ code: "ATTESTATION_INVALID" }),
    );
  });

  it("that is not JSON is refused with what is wrong with the JSON", () => {
    expect(() => parseCheckpoint(encodeUtf8('{"tree_size":'))).toThrowError(
      expect.objectContaining({ code: "ATTESTATION_INVALID", details: { json_code: "JSON_SYNTAX" } }),
    );
  });

  it("of any bytes is a checkpoint or a coded refusal", () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array(), fc.json().map(encodeUtf8)), (bytes) => {
        try {
          parseCheckpoint(bytes);
        } catch (thrown) {
          expect(isVerbatimError(thrown) && thrown.code).toBe("ATTESTATION_INVALID");
        }
      }),
    );
  });
});

describe("a ledger compared with a checkpoint", () => {
  it("fits when it has the same entries, or the same and more", async () => {
    expect(await compareWithCheckpoint(nodeCrypto, ledgerOf(HASHES.slice(0, 5)), AT_5)).toBeNull();
    expect(await compareWithCheckpoint(nodeCrypto, ledgerOf(HASHES), AT_5)).toBeNull();
  });

  it("is LEDGER_TRUNCATED when entries are missing", async () => {
    expect(await compareWithCheckpoint(nodeCrypto, ledgerOf(HASHES.slice(0, 4)), AT_5)).toEqual({
      code: "LEDGER_TRUNCATED",
      expected: "5",
      actual: "4",
    });
  });

  it("is LEDGER_CHECKPOINT_MISMATCH when an entry up to its size was replaced", async () => {
    for (let i = 0; i < 5; i++) {
      const rewritten = ledgerOf(HASHES.with(i, nodeCrypto.sha256("other")));
      const problem = await compareWithCheckpoint(nodeCrypto, rewritten, AT_5);
      expect(problem).toMatchObject({ code: "LEDGER_CHECKPOINT_MISMATCH", expected: ROOT_5 });
    }
    const later = ledgerOf(HASHES.with(5, nodeCrypto.sha256("other")));
    expect(await compareWithCheckpoint(nodeCrypto, later, AT_5)).toBeNull();
  });

  it("is LEDGER_CHECKPOINT_MISMATCH when the checkpoint is another ledger's", async () => {
    const other = { ...AT_5, ledger_id: ID.replace("3", "4") };
    expect(await compareWithCheckpoint(nodeCrypto, ledgerOf(HASHES), other)).toEqual({
      code: "LEDGER_CHECKPOINT_MISMATCH",
      expected: other.ledger_id,
      actual: ID,
    });
  });

  it("holds the root of a checkpoint of nothing against it too", async () => {
    const nothing = { ...AT_5, tree_size: 0, root_hash: EMPTY_ROOT };
    expect(await compareWithCheckpoint(nodeCrypto, ledgerOf([]), nothing)).toBeNull();
    expect(await compareWithCheckpoint(nodeCrypto, ledgerOf([]), { ...nothing, root_hash: ROOT_5 })).toMatchObject({
      code: "LEDGER_CHECKPOINT_MISMATCH",
    });
  });
});
