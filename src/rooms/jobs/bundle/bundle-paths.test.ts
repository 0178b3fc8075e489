import { expect, it } from "vitest";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import { cleanPath, findPathProblems, inspectArtifact, readArtifact, toArtifactPath } from "./bundle-paths.ts";
import { openMemoryBundle } from "./memory-bundle.ts";

it.each<[string, readonly string[]]>([
  ["artifacts/a.txt", []],
  ["./artifacts//a.txt", []],
  ["..a/b..", []],
  ["a:/b", ["PATH_ABSOLUTE"]],
  ["ab:/c", []],
  ["/a", ["PATH_ABSOLUTE"]],
  ["a/../b", ["PATH_TRAVERSAL"]],
  ["a\\b", ["PATH_BACKSLASH"]],
  ["", ["PATH_INVALID"]],
  ["a\0b", ["PATH_INVALID"]],
  ["/..\\\0/..", ["PATH_BACKSLASH", "PATH_ABSOLUTE", "PATH_TRAVERSAL", "PATH_INVALID"]],
])("the path %j has the problems %j", (path, codes) => {
  expect(findPathProblems(path)).toEqual(codes);
});

it("harmless parts of a path fall away", () => {
  expect([cleanPath("./a//b/./c/"), cleanPath("."), cleanPath("//")]).toEqual(["a/b/c", "", ""]);
  expect(toArtifactPath("0a")).toBe("artifacts/0a.txt");
});

it("nothing is read at a path that is none", async () => {
  const text = new TextEncoder().encode("a\n");
  const files = openMemoryBundle(nodeCrypto, {
    files: new Map([
      ["artifacts/a.txt", text],
      ["", text],
      ["../x", text],
    ]),
    links: new Set(["artifacts/l.txt"]),
  });
  expect(await inspectArtifact(files, "./artifacts/a.txt")).toMatchObject({ bytes: 2, newline: true, utf8: true });
  expect(await readArtifact(files, "artifacts//a.txt")).toBe("a\n");
  for (const path of ["../x", ".", "", "artifacts/l.txt", "artifacts"]) {
    expect(await inspectArtifact(files, path)).toEqual({ problem: "not-regular" });
  }
  for (const [path, code] of [
    ["../x", "PATH_TRAVERSAL"],
    [".", "ARTIFACT_NOT_REGULAR"],
    ["none", "ARTIFACT_MISSING"],
  ] as const) {
    await expect(readArtifact(files, path)).rejects.toMatchObject({
      code: "FILE_UNREADABLE",
      where: path,
      details: { code, path },
    });
  }
});
