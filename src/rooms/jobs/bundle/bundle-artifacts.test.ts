import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import type { ContentStore, SyncCrypto } from "../../../core/ports.ts";
import { type FinishedStep, writeArtifacts } from "./bundle-artifacts.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);
const SMALL = 256 * 1024;

/** A step that read a text under a name. */
function read(
  ref: string,
  slice: string,
  text: string,
  more: { op?: string; bytes?: number | null } = {},
): FinishedStep {
  const { op = "READ_SYMBOL", bytes = utf8(text).length } = more;
  const content_hash = nodeCrypto.sha256(text);
  texts.set(content_hash, utf8(text));
  return {
    row: { step: { op }, resolved: bytes === null ? {} : { bytes } },
    receipt: { receipt: { expanded: [{ symbol_or_section_id: ref, slice, content_hash }] } },
  } as unknown as FinishedStep;
}

const texts = new Map<string, Uint8Array>();
const content = { get: async (hash: string) => texts.get(hash)! } as unknown as ContentStore;

function makeSink() {
  const written = new Map<string, string>();
  const state = { now: 0, most: 0 };
  const sink = {
    async write(path: string, bytes: Uint8Array) {
      state.most = Math.max(state.most, ++state.now);
      await new Promise((resolve) => setImmediate(resolve));
      state.now--;
      written.set(path, new TextDecoder().decode(bytes));
    },
  };
  return { sink, written, state };
}

const idOf = (ref: string, slice: string) => nodeCrypto.sha256(`${ref}_${slice}`).slice(0, 16);

describe("artifacts", () => {
  it("hold the text of each pair once, end in a newline and come in order of their ids", async () => {
    const { sink, written } = makeSink();
    const ref = "a".repeat(64);
    const reads = [
      read("@A/B", "head(1)", "one"),
      read(ref, "head(1)", "two\n", { op: "READ_SECTION" }),
      read("@A/B", "head(1)", "one"),
      read("@A/B", "head(2)", ""),
    ];
    const made = await writeArtifacts({ content, crypto: nodeCrypto }, reads, sink);
    const expected = [
      ["@A/B", "head(1)", "one\n", "SYMBOL_SLICE"],
      [ref, "head(1)", "two\n", "SECTION_SLICE"],
      ["@A/B", "head(2)", "\n", "SYMBOL_SLICE"],
    ].map(([one, slice, text, kind]) => {
      const artifact_id = idOf(one!, slice!);
      const path = `artifacts/${artifact_id}.txt`;
      return { artifact_id, kind, ref: one, slice, path, sha256: nodeCrypto.sha256(text!), bytes: text!.length };
    });
    expect(made).toEqual(expected.sort((a, b) => (a.artifact_id < b.artifact_id ? -1 : 1)));
    expect(Object.fromEntries(written)).toEqual(
      Object.fromEntries([
        [`artifacts/${idOf("@A/B", "head(1)")}.txt`, "one\n"],
        [`artifacts/${idOf(ref, "head(1)")}.txt`, "two\n"],
        [`artifacts/${idOf("@A/B", "head(2)")}.txt`, "\n"],
      ]),
    );
  });

  it("that are small are written eight at a time, larger ones one by one", async () => {
    const many = (bytes: number | null) =>
      Array.from({ length: 20 }, (_, i) => read(`@S/${i}`, "head(1)", `${i}`, { bytes }));
    for (const [bytes, most] of [
      [SMALL, 8],
      [null, 8],
      [SMALL + 1, 1],
    ] as const) {
      const { sink, written, state } = makeSink();
      expect(await writeArtifacts({ content, crypto: nodeCrypto }, many(bytes), sink)).toHaveLength(20);
      expect([state.most, written.size]).toEqual([most, 20]);
    }
  });

  it("are all given up when one cannot be written, and nobody writes any more afterwards", async () => {
    let writes = 0;
    let under = 0;
    const sink = {
      async write() {
        under++;
        await new Promise((resolve) => setImmediate(resolve));
        under--;
        if (++writes === 1) throw new Error("no space");
      },
    };
    const reads = Array.from({ length: 40 }, (_, i) => read(`@S/${i}`, "head(1)", `${i}`));
    await expect(writeArtifacts({ content, crypto: nodeCrypto }, reads, sink)).rejects.toThrow("no space");
    expect([under, writes < 40]).toEqual([0, true]);
  });
});

describe("two reads under one name", () => {
  it("with different texts are a conflict", async () => {
    const { sink } = makeSink();
    const reads = [read("@A/B", "head(1)", "one"), read("@A/B", "head(1)", "two")];
    await expect(writeArtifacts({ content, crypto: nodeCrypto }, reads, sink)).rejects.toMatchObject({
      code: "BUNDLE_CONTENT_CONFLICT",
      details: { ref: "@A/B", slice: "head(1)" },
    });
  });

  it.each([
    ["@A/B", "head(2)"],
    ["@A/C", "head(1)"],
  ])("of different pairs whose ids are equal are a collision: %s %s", async (ref, slice) => {
    const crypto = { ...nodeCrypto, sha256: () => "0".repeat(64) } as unknown as SyncCrypto;
    const { sink } = makeSink();
    const reads = [read("@A/B", "head(1)", "one"), read(ref, slice, "one")];
    await expect(writeArtifacts({ content, crypto }, reads, sink)).rejects.toMatchObject({
      code: "BUNDLE_ARTIFACT_ID_COLLISION",
      details: {
        artifact_id: "0".repeat(16),
        pairs: [
          { ref: "@A/B", slice: "head(1)" },
          { ref, slice },
        ],
      },
    });
  });
});
