import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../adapters/crypto/node-crypto.ts";
import { webCrypto } from "../../adapters/crypto/web-crypto.ts";
import { fromHex } from "../hex.ts";
import {
  computeRoot,
  EMPTY_ROOT,
  type HashSource,
  MerkleFrontier,
  proveConsistency,
  proveInclusion,
  TreeHasher,
  verifyConsistency,
  verifyInclusion,
  verifyInclusionPath,
} from "./index.ts";
import { consistencyRanges, inclusionRanges, type LeafRange } from "./tree-shape.ts";

// The leaves, roots and paths that certificate transparency implementations publish for RFC 6962.
const LEAVES = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"];
const ROOTS = [
  "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
  "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
  "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];
const [L0, L1, L4, L6] = [
  "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
  "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
  "b08693ec2e721597130641e8211e7eedccb4c26413963eee6c1e2ed16ffb1a5f",
] as const;
const [N01, N23, N45, N67, N03, N47] = [
  "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
  "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
  "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
] as const;

const leafBytes = (range: LeafRange) => LEAVES.slice(range.from, range.to).map((hex) => fromHex(hex)!);

async function rootOf(range: LeafRange, crypto = nodeCrypto as typeof nodeCrypto | typeof webCrypto): Promise<string> {
  const frontier = new MerkleFrontier(crypto);
  await frontier.appendLeaves(leafBytes(range));
  return frontier.root();
}

describe("the published test tree", () => {
  it.each([
    ["node:crypto", nodeCrypto],
    ["WebCrypto", webCrypto],
  ])("has the published roots at every size, on %s", async (_name, crypto) => {
    const frontier = new MerkleFrontier(crypto);
    expect(await frontier.root()).toBe(EMPTY_ROOT);
    for (let size = 1; size <= 8; size++) {
      await frontier.appendLeaves(leafBytes({ from: size - 1, to: size }));
      expect(frontier.size).toBe(size);
      expect(await frontier.root()).toBe(ROOTS[size - 1]);
    }
  });

  it.each([
    [0, 1, []],
    [0, 8, [L1, N23, N47]],
    [5, 8, [L4, N67, N03]],
    [2, 3, [N01]],
    [1, 5, [L0, N23, L4]],
  ])("has the published inclusion path of leaf %d at size %d", async (index, size, path) => {
    expect(await Promise.all(inclusionRanges(index, size).map((range) => rootOf(range)))).toEqual(path);
    const leaf_hash = await new TreeHasher(nodeCrypto).leaf(fromHex(LEAVES[index]!)!);
    const proof = { leaf_hash, index, tree_size: size, path, root_hash: ROOTS[size - 1]! };
    expect(await verifyInclusionPath(nodeCrypto, proof)).toBe(true);
    expect(await verifyInclusionPath(webCrypto, proof)).toBe(true);
  });

  it.each([
    [1, 8, [L1, N23, N47]],
    [6, 8, [N45, N67, N03]],
    [2, 5, [N23, L4]],
    [6, 7, [N45, L6, N03]],
  ])("has the published consistency path from size %d to %d", async (first, second, path) => {
    const { shared, whole, rest } = consistencyRanges(first, second);
    const ranges = whole ? rest : [shared, ...rest];
    expect(await Promise.all(ranges.map((range) => rootOf(range)))).toEqual(path);
    const sizes = { first_size: first, second_size: second };
    const proof = { ...sizes, first_root: ROOTS[first - 1]!, second_root: ROOTS[second - 1]!, path };
    expect(await verifyConsistency(nodeCrypto, proof)).toBe(true);
    expect(await verifyConsistency(webCrypto, proof)).toBe(true);
  });
});

// RFC 6962 section 2.1 word for word, recursive and slow, on node:crypto alone.
const sha = (...parts: Buffer[]) => createHash("sha256").update(Buffer.concat(parts)).digest();
const oracleLeaf = (hash: string) => sha(Buffer.of(0), Buffer.from(hash, "hex"));
const oracleSplit = (n: number) => 2 ** Math.ceil(Math.log2(n) - 1);

function oracleRoot(leaves: readonly Buffer[]): Buffer {
  if (leaves.length === 0) return sha();
  if (leaves.length === 1) return leaves[0]!;
  const k = oracleSplit(leaves.length);
  return sha(Buffer.of(1), oracleRoot(leaves.slice(0, k)), oracleRoot(leaves.slice(k)));
}

function oraclePath(m: number, leaves: readonly Buffer[]): Buffer[] {
  if (leaves.length === 1) return [];
  const k = oracleSplit(leaves.length);
  return m < k
    ? [...oraclePath(m, leaves.slice(0, k)), oracleRoot(leaves.slice(k))]
    : [...oraclePath(m - k, leaves.slice(k)), oracleRoot(leaves.slice(0, k))];
}

function oracleProof(m: number, leaves: readonly Buffer[], whole = true): Buffer[] {
  if (m === leaves.length) return whole ? [] : [oracleRoot(leaves)];
  const k = oracleSplit(leaves.length);
  return m <= k
    ? [...oracleProof(m, leaves.slice(0, k), whole), oracleRoot(leaves.slice(k))]
    : [...oracleProof(m - k, leaves.slice(k), false), oracleRoot(leaves.slice(0, k))];
}

const entryHash = (i: number) => createHash("sha256").update(`entry ${i}`).digest("hex");
const ENTRIES = Array.from({ length: 700 }, (_, i) => entryHash(i));
const OTHER = entryHash(-1);
const source: HashSource = (from, limit) => ENTRIES.slice(from, from + Math.min(limit, 7));
const oracleLeaves = ENTRIES.map(oracleLeaf);
const hex = (nodes: readonly Buffer[]) => nodes.map((node) => node.toString("hex"));

const sizes = fc.integer({ min: 1, max: ENTRIES.length });
const sizeAndIndex = sizes.chain((size) => fc.tuple(fc.constant(size), fc.nat(size - 1)));
const twoSizes = sizes.chain((second) => fc.tuple(fc.integer({ min: 1, max: second }), fc.constant(second)));

/** Every way to damage a path in one place. */
function damaged(path: readonly string[]): string[][] {
  const changed = path.flatMap((_, i) => [path.with(i, OTHER), path.toSpliced(i, 1), path.toSpliced(i, 0, path[i]!)]);
  const swapped = path.slice(1).map((node, i) => path.with(i, node).with(i + 1, path[i]!));
  return [...changed, ...swapped, [...path, OTHER], [OTHER, ...path]];
}

describe("roots", () => {
  it("are those of the recursive definition", async () => {
    for (let size = 0; size <= 70; size++) {
      expect(await computeRoot(nodeCrypto, source, size)).toBe(oracleRoot(oracleLeaves.slice(0, size)).toString("hex"));
    }
  });

  it("do not depend on how the leaves arrive", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(20), { maxLength: 20 }), async (pages) => {
        const frontier = new MerkleFrontier(nodeCrypto);
        for (const count of pages) await frontier.appendEntries(ENTRIES.slice(frontier.size, frontier.size + count));
        expect(await frontier.root()).toBe(oracleRoot(oracleLeaves.slice(0, frontier.size)).toString("hex"));
      }),
    );
  });

  it("come at once from a crypto that answers at once", () => {
    const frontier = new MerkleFrontier(nodeCrypto);
    expect(frontier.appendEntries(ENTRIES)).toBeUndefined();
    expect(frontier.root()).toBe(oracleRoot(oracleLeaves).toString("hex"));
    expect(computeRoot(nodeCrypto, source, 700)).toBe(frontier.root());
  });

  it("refuse what is not a hash", () => {
    for (const bad of ["", "ab", "Z".repeat(64), ENTRIES[0]!.toUpperCase(), `${"é".repeat(64)}`]) {
      expect(() => new MerkleFrontier(nodeCrypto).appendEntries([bad])).toThrowError(
        expect.objectContaining({ code: "LEDGER_INVALID" }),
      );
    }
  });
});

describe("inclusion proofs", () => {
  it("are those of the recursive definition and hold", async () => {
    await fc.assert(
      fc.asyncProperty(sizeAndIndex, async ([size, index]) => {
        const proof = await proveInclusion(nodeCrypto, source, index, size);
        const leaves = oracleLeaves.slice(0, size);
        expect(proof).toEqual({
          entry_hash: ENTRIES[index],
          index,
          tree_size: size,
          path: hex(oraclePath(index, leaves)),
          root_hash: oracleRoot(leaves).toString("hex"),
        });
        expect(await verifyInclusion(nodeCrypto, proof)).toBe(true);
      }),
    );
  });

  it("fail after any single change, for every index of every size up to 20", async () => {
    for (let size = 1; size <= 20; size++) {
      for (let index = 0; index < size; index++) {
        const proof = await proveInclusion(nodeCrypto, source, index, size);
        const others = Array.from({ length: size + 2 }, (_, i) => i).filter((i) => i !== index);
        const changed = [
          ...damaged(proof.path).map((path) => ({ ...proof, path })),
          ...others.map((other) => ({ ...proof, index: other })),
          { ...proof, entry_hash: OTHER },
          { ...proof, root_hash: OTHER },
          { ...proof, tree_size: index },
          { ...proof, tree_size: 0 },
        ];
        for (const one of changed) expect(await verifyInclusion(nodeCrypto, one)).toBe(false);
      }
    }
  });

  it("are the same from a source and a crypto that answer later", async () => {
    const later: HashSource = async (from, limit) => source(from, limit);
    const proof = await proveInclusion(webCrypto, later, 11, 23);
    expect(proof).toEqual(await proveInclusion(nodeCrypto, source, 11, 23));
    expect(await verifyInclusion(webCrypto, proof)).toBe(true);
    expect(await verifyInclusion(webCrypto, { ...proof, index: 12 })).toBe(false);
  });

  it("do not hold with a path that is too long, even if it leads to the root it names", async () => {
    const path = [OTHER];
    const root_hash = sha(Buffer.of(1), Buffer.from(OTHER, "hex"), oracleLeaves[0]!).toString("hex");
    const proof = { entry_hash: ENTRIES[0]!, index: 0, tree_size: 1, path, root_hash };
    expect(await verifyInclusion(nodeCrypto, proof)).toBe(false);
  });

  it("are the same from a source that gives more than it was asked for", async () => {
    const generous: HashSource = (from, limit) => ENTRIES.slice(from, from + limit + 3);
    expect(await proveInclusion(nodeCrypto, generous, 11, 23)).toEqual(
      await proveInclusion(nodeCrypto, source, 11, 23),
    );
  });

  it.each([
    [5, 5],
    [-1, 5],
    [0, 0],
    [0.5, 5],
    [0, 701],
    [0, Number.MAX_SAFE_INTEGER + 1],
    [Number.NaN, 5],
  ])("are refused for index %d of size %d", async (index, size) => {
    await expect(async () => proveInclusion(nodeCrypto, source, index, size)).rejects.toMatchObject({
      code: "LEDGER_RANGE_INVALID",
    });
  });
});

describe("consistency proofs", () => {
  it("are those of the recursive definition and hold", async () => {
    await fc.assert(
      fc.asyncProperty(twoSizes, async ([first, second]) => {
        const proof = await proveConsistency(nodeCrypto, source, first, second);
        const leaves = oracleLeaves.slice(0, second);
        expect(proof).toEqual({
          first_size: first,
          second_size: second,
          first_root: oracleRoot(leaves.slice(0, first)).toString("hex"),
          second_root: oracleRoot(leaves).toString("hex"),
          path: hex(oracleProof(first, leaves)),
        });
        expect(await verifyConsistency(nodeCrypto, proof)).toBe(true);
      }),
    );
  });

  it("fail after any single change, for every pair of sizes up to 20", async () => {
    for (let second = 1; second <= 20; second++) {
      for (let first = 1; first <= second; first++) {
        const proof = await proveConsistency(nodeCrypto, source, first, second);
        const others = Array.from({ length: second + 2 }, (_, i) => i).filter((i) => i !== first);
        const changed = [
          ...damaged(proof.path).map((path) => ({ ...proof, path })),
          ...others.map((other) => ({ ...proof, first_size: other })),
          { ...proof, first_root: OTHER },
          { ...proof, second_root: OTHER },
          { ...proof, second_size: first - 1 },
        ];
        for (const one of changed) expect(await verifyConsistency(nodeCrypto, one)).toBe(false);
      }
    }
  });

  it("start from the empty tree with an empty path and the empty root", async () => {
    const proof = await proveConsistency(nodeCrypto, source, 0, 5);
    expect(proof).toMatchObject({ first_root: EMPTY_ROOT, path: [], second_size: 5 });
    expect(await verifyConsistency(nodeCrypto, proof)).toBe(true);
    expect(await verifyConsistency(nodeCrypto, { ...proof, path: [OTHER] })).toBe(false);
    expect(await verifyConsistency(nodeCrypto, { ...proof, first_root: OTHER })).toBe(false);
    const nothing = await proveConsistency(nodeCrypto, source, 0, 0);
    expect(await verifyConsistency(nodeCrypto, nothing)).toBe(true);
    expect(await verifyConsistency(nodeCrypto, { ...nothing, first_root: OTHER, second_root: OTHER })).toBe(false);
  });

  it("between equal sizes need equal roots and an empty path", async () => {
    const proof = await proveConsistency(nodeCrypto, source, 6, 6);
    expect(proof.path).toEqual([]);
    expect(await verifyConsistency(nodeCrypto, proof)).toBe(true);
    expect(await verifyConsistency(nodeCrypto, { ...proof, path: [OTHER] })).toBe(false);
    expect(await verifyConsistency(nodeCrypto, { ...proof, second_root: OTHER })).toBe(false);
  });

  it("are the same from a crypto that answers later", async () => {
    const proof = await proveConsistency(webCrypto, source, 13, 23);
    expect(proof).toEqual(await proveConsistency(nodeCrypto, source, 13, 23));
    expect(await verifyConsistency(webCrypto, proof)).toBe(true);
  });

  it.each([
    [6, 5],
    [-1, 5],
    [1, 701],
    [1, 1.5],
    [0, 1.5],
  ])("are refused from %d to %d", async (first, second) => {
    await expect(async () => proveConsistency(nodeCrypto, source, first, second)).rejects.toMatchObject({
      code: "LEDGER_RANGE_INVALID",
    });
  });
});
