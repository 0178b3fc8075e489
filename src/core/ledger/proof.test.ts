import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../adapters/crypto/node-crypto.ts";
import { Float, formatCanonical, type JsonValue, parseJson } from "../canonical/index.ts";
import { isVerbatimError } from "../errors/index.ts";
import { LEDGER_AREAS } from "./conformance.ts";
import {
  type ConsistencyProof,
  type InclusionProof,
  parseConsistencyProof,
  parseInclusionProof,
  parseProof,
  proveConsistency,
  proveInclusion,
  verifyConsistency,
  verifyInclusion,
} from "./index.ts";

const HASHES = Array.from({ length: 9 }, (_, i) => nodeCrypto.sha256(String(i)));
const source = (from: number, limit: number) => HASHES.slice(from, from + limit);
const INCLUSION = (await proveInclusion(nodeCrypto, source, 4, 9)) as unknown as { [key: string]: JsonValue };
const CONSISTENCY = (await proveConsistency(nodeCrypto, source, 3, 9)) as unknown as { [key: string]: JsonValue };
const refusal = (pointer: string) =>
  expect.objectContaining({
    code: "PROOF_MALFORMED",
    details: { problems: expect.arrayContaining([expect.objectContaining({ pointer })]) },
  });

const BAD_SIZES: JsonValue[] = [-1, 0.5, new Float(4), 2n ** 53n, -(2n ** 70n), "4", null, true, [4], {}];
const BAD_HASHES: JsonValue[] = [
  "",
  "ab",
  "A".repeat(64),
  "g".repeat(64),
  ` ${"a".repeat(63)}`,
  `${"a".repeat(64)}\n`,
  null,
  1,
  [],
];

describe("reading proofs", () => {
  it("takes what was written and tells the two kinds apart", () => {
    const again = (proof: JsonValue) => parseProof(parseJson(formatCanonical(proof)));
    expect(again(INCLUSION)).toMatchObject({ kind: "inclusion", proof: { ...INCLUSION } });
    expect(again(CONSISTENCY)).toMatchObject({ kind: "consistency", proof: { ...CONSISTENCY } });
  });

  it("refuses sizes, indexes and hashes in any other form, naming the member", () => {
    for (const bad of BAD_SIZES) {
      for (const member of ["index", "tree_size"]) {
        expect(() => parseInclusionProof({ ...INCLUSION, [member]: bad })).toThrowError(refusal(`/${member}`));
      }
      for (const member of ["first_size", "second_size"]) {
        expect(() => parseConsistencyProof({ ...CONSISTENCY, [member]: bad })).toThrowError(refusal(`/${member}`));
      }
    }
    for (const bad of BAD_HASHES) {
      for (const member of ["entry_hash", "root_hash"]) {
        expect(() => parseInclusionProof({ ...INCLUSION, [member]: bad })).toThrowError(refusal(`/${member}`));
      }
      for (const member of ["first_root", "second_root"]) {
        expect(() => parseConsistencyProof({ ...CONSISTENCY, [member]: bad })).toThrowError(refusal(`/${member}`));
      }
      expect(() => parseInclusionProof({ ...INCLUSION, path: [HASHES[0]!, bad] })).toThrowError(refusal("/path/1"));
    }
    for (const bad of [null, "", {}, { length: 0 }] as JsonValue[]) {
      expect(() => parseConsistencyProof({ ...CONSISTENCY, path: bad })).toThrowError(refusal("/path"));
    }
  });

  it("refuses missing and extra members", () => {
    for (const member of Object.keys(INCLUSION)) {
      const { [member]: _gone, ...rest } = INCLUSION;
      expect(() => parseInclusionProof(rest)).toThrowError(refusal(`/${member}`));
    }
    expect(() => parseInclusionProof({ ...INCLUSION, "a/b": 1 })).toThrowError(refusal("/a~1b"));
    expect(() => parseProof({})).toThrowError(refusal("/first_size"));
    expect(() => parseProof([])).toThrowError(refusal(""));
  });

  it("never throws anything without a code", () => {
    const anything = fc.anything({ withBigInt: true, withNullPrototype: true, withSparseArray: true });
    const member = fc.oneof(anything, fc.constantFrom(...HASHES), fc.nat(9), fc.constant(INCLUSION["path"]));
    const proofs = [...Object.keys(INCLUSION), ...Object.keys(CONSISTENCY)];
    const shaped = fc.record(Object.fromEntries(proofs.map((name) => [name, member])), { requiredKeys: [] });
    fc.assert(
      fc.property(fc.oneof(anything, shaped), (value) => {
        try {
          parseProof(value as JsonValue);
        } catch (thrown) {
          expect(isVerbatimError(thrown) && thrown.code).toBe("PROOF_MALFORMED");
        }
      }),
    );
  });
});

describe("asking for proofs", () => {
  it("is refused for sizes and indexes that no ledger has", () => {
    const invalid = (value: number, limit: number) =>
      expect.objectContaining({ code: "LEDGER_RANGE_INVALID", details: { value, limit } });
    for (const bad of [-1, 2.5, 2 ** 53, Number.NaN]) {
      expect(() => proveConsistency(nodeCrypto, source, 1, bad)).toThrowError(invalid(bad, bad));
      expect(() => proveConsistency(nodeCrypto, source, bad, 9)).toThrowError(invalid(bad, 9));
      expect(() => proveInclusion(nodeCrypto, source, 1, bad)).toThrowError(invalid(bad, bad));
      expect(() => proveInclusion(nodeCrypto, source, bad, 9)).toThrowError(invalid(bad, 8));
    }
    expect(() => proveConsistency(nodeCrypto, source, 5, 4)).toThrowError(invalid(5, 4));
    expect(() => proveInclusion(nodeCrypto, source, 9, 9)).toThrowError(invalid(9, 8));
  });
});

describe("checking hostile proofs", () => {
  it("gives yes or no, never a throw, whatever the members are", async () => {
    const anything = fc.anything({ withBigInt: true, withNullPrototype: true });
    const member = fc.oneof(
      anything,
      fc.constantFrom(...HASHES),
      fc.maxSafeNat(),
      fc.array(fc.constantFrom(...HASHES)),
    );
    const five = (names: string[]) => fc.record(Object.fromEntries(names.map((name) => [name, member])));
    await fc.assert(
      fc.asyncProperty(five(Object.keys(INCLUSION)), five(Object.keys(CONSISTENCY)), async (one, two) => {
        expect(await verifyInclusion(nodeCrypto, one as unknown as InclusionProof)).toBeTypeOf("boolean");
        expect(await verifyConsistency(nodeCrypto, two as unknown as ConsistencyProof)).toBeTypeOf("boolean");
      }),
    );
  });

  it("says no to paths and roots of anything but hashes", async () => {
    const inclusion = INCLUSION as unknown as InclusionProof;
    const consistency = CONSISTENCY as unknown as ConsistencyProof;
    for (const bad of BAD_HASHES as string[]) {
      expect(await verifyInclusion(nodeCrypto, { ...inclusion, path: inclusion.path.with(0, bad) })).toBe(false);
      expect(await verifyInclusion(nodeCrypto, { ...inclusion, entry_hash: bad })).toBe(false);
      expect(await verifyConsistency(nodeCrypto, { ...consistency, path: consistency.path.with(0, bad) })).toBe(false);
      expect(await verifyConsistency(nodeCrypto, { ...consistency, first_size: 4, first_root: bad })).toBe(false);
    }
    expect(await verifyInclusion(nodeCrypto, { ...inclusion, path: "x" as unknown as string[] })).toBe(false);
  });

  it("ends soon for a path of a hundred thousand hashes and for the largest sizes", async () => {
    const path = Array.from({ length: 100_000 }, () => HASHES[0]!);
    const most = Number.MAX_SAFE_INTEGER;
    const inclusion = { ...(INCLUSION as unknown as InclusionProof), index: most - 1, tree_size: most, path };
    const consistency = {
      ...(CONSISTENCY as unknown as ConsistencyProof),
      first_size: most - 1,
      second_size: most,
      path,
    };
    expect(await verifyInclusion(nodeCrypto, inclusion)).toBe(false);
    expect(await verifyConsistency(nodeCrypto, consistency)).toBe(false);
  });

  it("counts a malformed proof of a vector as one that does not hold", async () => {
    const ports = { crypto: nodeCrypto };
    for (const change of [{ index: new Float(4) }, { tree_size: 2n ** 64n }, { path: null }, { extra: 1 }]) {
      const input = { ...INCLUSION, ...change } as { [key: string]: JsonValue };
      expect(await LEDGER_AREAS["ledger.inclusion"](input, ports)).toEqual({ ok: false });
    }
    const upper = { ...CONSISTENCY, first_root: String(CONSISTENCY["first_root"]).toUpperCase() };
    expect(await LEDGER_AREAS["ledger.consistency"](upper, ports)).toEqual({ ok: false });
    expect(await LEDGER_AREAS["ledger.consistency"](CONSISTENCY, ports)).toEqual({ ok: true });
    const sha256 = (): string => {
      throw new Error("no hash today");
    };
    const broken = { crypto: { ...nodeCrypto, sha256 } };
    await expect(LEDGER_AREAS["ledger.inclusion"](INCLUSION, broken)).rejects.toThrow("no hash today");
    for (const entry_hashes of ["x", ["x"], [7], null]) {
      await expect(LEDGER_AREAS["ledger.merkle-root"]({ entry_hashes }, ports)).rejects.toMatchObject({
        code: "INPUT_INVALID",
      });
    }
  });
});
