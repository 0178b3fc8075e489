// Names that some file system takes for one another: refused by the gate, against the work tree and against a base.
import { afterAll, describe, expect, it } from "vitest";
import { SampleRepository } from "../support/sample-repository.ts";

const repository = new SampleRepository(undefined, {
  "README.md": "# Sample\n",
  "docs/Caf\u00e9.md": "x\n",
  "lib/tool/a.js": "a\n",
  LICENSE: "free\n",
  "Both.txt": "1\n",
  "both.txt": "2\n",
});
afterAll(() => repository.remove());

const create = (path: string) =>
  `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`;
const remove = (path: string, line: string) =>
  `diff --git a/${path} b/${path}\ndeleted file mode 100644\n--- a/${path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-${line}\n`;
const rename = (from: string, to: string) =>
  `diff --git a/${from} b/${to}\nsimilarity index 100%\nrename from ${from}\nrename to ${to}\n`;

async function judge(patch: string) {
  return (await repository.call("patch-check", { patch }))["result"] as Record<string, unknown>;
}

describe("a new name", () => {
  it.each([
    ["a file beside a file", create("readme.md"), ["readme.md"]],
    ["another Unicode form", create("docs/Cafe\u0301.md"), ["docs/Cafe\u0301.md"]],
    ["a folder beside a folder", create("LIB/b.js"), ["LIB/b.js"]],
    ["a folder beside a file", create("license/x"), ["license/x"]],
    ["a file beside a folder", create("Lib"), ["Lib"]],
    ["a folder deeper down", create("lib/TOOL/b.js"), ["lib/TOOL/b.js"]],
    ["two folders of one patch", create("new/a") + create("NEW/b"), ["NEW/b"]],
    ["the target of a rename", rename("LICENSE", "Readme.MD"), ["Readme.MD"]],
    ["all of them", create("readme.md") + create("Lib/c.js"), ["readme.md", "Lib/c.js"]],
  ])("is refused as a twin: %s", async (_, patch, paths) => {
    const result = await judge(patch);
    expect(result).toMatchObject({ verdict: "reject", code: "PATCH_PATH_INVALID", rule: "twin", path: paths[0] });
    expect(result["findings"]).toEqual(paths.map((path) => ({ code: "PATCH_PATH_INVALID", rule: "twin", path })));
  });

  it.each([
    ["beside names that differ in more", create("readme.txt") + create("lib/b.js")],
    ["that takes the place of its twin in one section", rename("README.md", "readme.md")],
    ["below a folder that is there", create("lib/tool/b.js")],
    ["in a folder that had twins before", create("more.txt")],
  ])("is accepted %s", async (_, patch) => {
    expect(await judge(patch)).toMatchObject({ verdict: "accept" });
  });

  it("is judged against the base of a run, where the work tree does not matter", async () => {
    await repository.plan("twins");
    await repository.submit("diff.patch", create("src/GREET.js"), "twins");
    expect(await repository.call("advance", { run: "twins" })).toMatchObject({
      code: "PATCH_REJECTED",
      findings: [{ message: "twin src/GREET.js" }],
    });
  });
});

describe("a folder and a file", () => {
  it("may change places when everything in the way goes with the patch", async () => {
    expect(await judge(create("lib") + remove("lib/tool/a.js", "a"))).toMatchObject({ verdict: "accept" });
    expect(await judge(create("LICENSE/x") + remove("LICENSE", "free"))).toMatchObject({ verdict: "accept" });
  });

  it("may not when something stays", async () => {
    expect(await judge(create("lib"))).toMatchObject({
      code: "PATCH_TARGET_TYPE",
      rule: "folder_not_empty",
      path: "lib/tool/a.js",
    });
    expect(await judge(create("LICENSE/x"))).toMatchObject({ code: "PATCH_TARGET_TYPE", rule: "symlink_parent" });
  });
});
