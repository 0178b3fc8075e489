import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { beforeAll, describe, expect, it } from "vitest";

// Guards: verbatim-agent/contracts and verbatim-agent/verify run in a browser. The built files are read, because a bundler may
// put code for Node into a chunk that they share.

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Every module that loading a built file loads: files of ours by path, packages and built-in modules by name. */
function reach(entry: string): Set<string> {
  const seen = new Set<string>([entry]);
  for (const file of seen) {
    if (!file.startsWith("dist/")) continue;
    // Tokens, not text: strings of ours hold programs with imports of their own.
    for (const { fileName } of ts.preProcessFile(readFileSync(join(ROOT, file), "utf8"), true, true).importedFiles) {
      const isOurs = fileName.startsWith("./") || fileName.startsWith("../");
      seen.add(isOurs ? normalize(join(dirname(file), fileName)) : fileName);
    }
  }
  return seen;
}

describe("the entries for browsers", () => {
  beforeAll(() => {
    const build = spawnSync(join(ROOT, "node_modules/.bin/tsx"), ["tools/build.ts"], { cwd: ROOT, encoding: "utf8" });
    if (build.status !== 0) throw new Error(build.stderr);
  });

  it.for(["contracts", "verify"])("verbatim-agent/%s loads zod and nothing else from outside", (name, context) => {
    const isThere = existsSync(join(ROOT, `src/${name}.ts`));
    context.skip(!isThere, `there is no src/${name}.ts yet`);
    const outside = [...reach(`dist/${name}.js`)].filter((module) => !module.startsWith("dist/"));
    expect(outside.filter((module) => module !== "zod")).toEqual([]);
  });

  it("the check sees built-in modules where there are some", () => {
    expect([...reach("dist/index.js")].some((module) => module.startsWith("node:"))).toBe(true);
  });
});
