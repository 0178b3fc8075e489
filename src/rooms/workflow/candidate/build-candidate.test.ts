import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import { decodeUtf8, encodeUtf8, parseJson } from "../../../core/canonical/index.ts";
import { judgeObject } from "../../../core/contracts/index.ts";
import { CANDIDATE, CARRIED } from "../contracts/candidate.ts";
import { buildCandidate, type FileChange, type FileSide, splitChanges } from "./build-candidate.ts";

const side = (text: string, mode: FileSide["mode"] = "100644"): FileSide => {
  const bytes = encodeUtf8(text);
  const facts = { mode, sha256: nodeCrypto.sha256(bytes), bytes: bytes.length, has_nul: text.includes("\0") };
  return mode === "120000" ? { ...facts, target: text } : facts;
};
const change = (before: FileSide | null, after: FileSide | null, path = "x"): FileChange => ({ path, before, after });
const text = side("a\n");
const binary = side("\0");
const link = side("to", "120000");

const PATCH = encodeUtf8("diff --git a/x b/x\nindex 7898192..6178079 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n");

describe("what travels in a patch and what is carried", () => {
  it.each([
    ["a changed text", text, side("b\n"), "modify", []],
    ["a new text", null, text, "create", []],
    ["a text that goes", text, null, "delete", []],
    ["a text that becomes executable", text, side("a\n", "100755"), "modify", []],
    ["a new binary", null, binary, null, ["create binary 100644"]],
    ["a binary that goes", binary, null, null, ["delete binary null"]],
    ["a text that becomes binary", text, binary, null, ["modify binary 100644"]],
    ["a binary that becomes text", binary, text, null, ["modify binary 100644"]],
    ["a binary that becomes executable", binary, side("\0", "100755"), null, ["modify mode 100755"]],
    ["a new link", null, link, null, ["create link 120000"]],
    ["a link that leads elsewhere", link, side("there", "120000"), null, ["modify link 120000"]],
    ["a link that goes", link, null, null, ["delete link null"]],
    ["a text that becomes a link", text, link, "delete", ["create link 120000"]],
    ["a link that becomes a text", link, text, null, ["modify binary 100644"]],
    ["a binary that becomes a link", binary, link, null, ["modify link 120000"]],
    ["a link that becomes a binary", link, binary, null, ["modify binary 100644"]],
    ["nothing at all", text, side("a\n"), null, []],
  ] as const)("%s", (_, before, after, inPatch, carried) => {
    const split = splitChanges([change(before, after)]);
    const operations = split.text.map((one) =>
      one.before === null ? "create" : one.after === null ? "delete" : "modify",
    );
    expect(operations).toEqual(inPatch === null ? [] : [inPatch]);
    expect(split.carried.map(({ operation, kind, mode }) => `${operation} ${kind} ${mode}`)).toEqual(carried);
  });
});

describe("a candidate", () => {
  const parts = {
    c: 1,
    kind: "capture",
    attempt: 1,
    base: { commit: "c".repeat(40), tree: "e".repeat(40) },
    patch: PATCH,
    changes: [
      change(null, side("\0\0"), "a.bin"),
      change(text, side("b\n")),
      change(null, link, "link"),
      change(text, link, "flip"),
    ],
    notices: [],
  } as const;

  it("has every file with its numbers, its hunks and the hash that it must have", async () => {
    const { candidate, carried } = buildCandidate(parts, nodeCrypto);
    expect(candidate.files.map(({ path, operation, kind }) => `${path} ${operation} ${kind}`)).toEqual([
      "a.bin create binary",
      "flip delete text",
      "flip create link",
      "link create link",
      "x modify text",
    ]);
    expect(candidate.files[4]).toEqual({
      path: "x",
      operation: "modify",
      kind: "text",
      added: 1,
      deleted: 1,
      bytes: 2,
      sha256: "0263829989b6fd954f72baaf2fc64bc2e2f01d692d4de72986ea808f6e99813f",
      mode: "100644",
      hunks: [
        {
          n: 1,
          id: "h_8854cae09fa5",
          old_start: 1,
          old_lines: 1,
          new_start: 1,
          new_lines: 1,
          added: 1,
          deleted: 1,
        },
      ],
    });
    expect(candidate.files[3]).toMatchObject({ target: "to", bytes: 2, mode: "120000" });
    expect(await judgeObject(CANDIDATE, parseJson(JSON.stringify(candidate)), nodeCrypto)).toEqual([]);
    expect(await judgeObject(CARRIED, parseJson(carried!), nodeCrypto)).toEqual([]);
    expect(decodeUtf8(carried!)).toMatch(/^\{"files":\[\{"bytes":2,.*"schema_version":"verbatim-carried-v1"\}\n$/s);
  });

  it("is known by base, patch and carried files, and by nothing else", () => {
    const { candidate } = buildCandidate(parts, nodeCrypto);
    const hash = nodeCrypto.sha256(
      `{"base":"${"e".repeat(40)}","carried":"${candidate.carried_sha256}","patch":"${candidate.patch_sha256}"}`,
    );
    expect(candidate.sha256).toBe(hash);
    const later = buildCandidate({ ...parts, c: 7, kind: "landing", parent: 1 }, nodeCrypto).candidate;
    expect(later.sha256).toBe(hash);
    const moved = buildCandidate({ ...parts, base: { ...parts.base, tree: "d".repeat(40) } }, nodeCrypto).candidate;
    expect(moved.sha256).not.toBe(hash);
  });

  it("has neither a patch nor carried files where there are none", () => {
    const nothing = buildCandidate({ ...parts, patch: null, changes: [] }, nodeCrypto);
    expect(nothing.carried).toBeNull();
    expect(nothing.candidate).toMatchObject({ patch_sha256: null, carried_sha256: null, files: [] });
    expect(nothing.candidate.sha256).toBe(
      nodeCrypto.sha256(`{"base":"${"e".repeat(40)}","carried":null,"patch":null}`),
    );
  });

  it("is written down even where the gate will refuse a name of it", () => {
    const patch = encodeUtf8('diff --git "a/x\\\\y" "b/x\\\\y"\nnew file mode 100644\nindex 0000000..e69de29\n');
    const { candidate } = buildCandidate({ ...parts, patch, changes: [change(null, text, "x\\y")] }, nodeCrypto);
    expect(candidate.files).toMatchObject([{ path: "x\\y", operation: "create", hunks: [] }]);
  });
});
