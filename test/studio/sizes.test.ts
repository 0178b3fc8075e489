// How much a browser must load, judged by what was built. No browser is needed for that.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync, gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { filesOfHome, filesOfScreens, filesOfWorkers, type StudioManifest } from "../support/studio-sizes.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const STUDIO = join(ROOT, "dist/studio");
const KB = 1000;

/** Compressed with gzip, in bytes: what a browser loads that takes nothing better. */
function weigh(files: Iterable<string>): number {
  return [...files].reduce(
    (sum, file) => sum + gzipSync(brotliDecompressSync(readFileSync(join(STUDIO, `${file}.br`)))).length,
    0,
  );
}

describe("the Studio as it was built", () => {
  let manifest: StudioManifest;
  let assets: string[];

  beforeAll(() => {
    const build = spawnSync(join(ROOT, "node_modules/.bin/tsx"), ["tools/build.ts"], { cwd: ROOT, encoding: "utf8" });
    if (build.status !== 0) throw new Error(build.stderr);
    const list = JSON.parse(readFileSync(join(STUDIO, "assets.json"), "utf8")) as {
      readonly manifest: StudioManifest;
      readonly assets: readonly { readonly path: string }[];
    };
    manifest = list.manifest;
    assets = list.assets.map(({ path }) => path.slice(1));
  });

  it("shows Home after at most 200 kB of script and style", () => {
    const files = filesOfHome(manifest);
    // The page, the program, what all screens share, and styles: fewer would mean that something was not followed.
    expect([...files].filter((file) => /\/(?:index|main|base)-.*\.js$/.test(file))).toHaveLength(3);
    expect([...files].some((file) => file.endsWith(".css"))).toBe(true);
    expect(weigh(files)).toBeLessThanOrEqual(200 * KB);
  });

  it("adds at most 60 kB for any other screen", () => {
    const screens = filesOfScreens(manifest);
    expect([...screens.keys()]).toEqual(
      expect.arrayContaining(["src/screens/runs/RunsScreen.tsx", "src/screens/runs/ReviewPart.tsx"]),
    );
    const heavy = [...screens].map(([name, files]) => ({ name, bytes: weigh(files) }));
    expect(heavy.filter(({ bytes }) => bytes > 60 * KB)).toEqual([]);
  });

  it.each([
    ["colours", "highlight", 40],
    ["verifies", "verify", 65],
    ["follows a terminal", "terminal", 50],
  ])("%s with a worker of its own, which no screen waits for", (_does, name, most) => {
    const workers = filesOfWorkers(manifest, assets).filter((file) => file.startsWith(`assets/${name}-`));
    expect(workers).toHaveLength(1);
    expect(weigh(workers)).toBeLessThanOrEqual(most * KB);
  });

  it("has no other worker", () => {
    const others = filesOfWorkers(manifest, assets).filter(
      (file) => !/^assets\/(?:highlight|verify|terminal)-/.test(file),
    );
    expect(others).toEqual([]);
  });
});

describe("what belongs to a screen", () => {
  const built: StudioManifest = {
    "index.html": { file: "index.js", imports: ["_shared.js"], dynamicImports: ["src/app/main.tsx"], isEntry: true },
    "src/app/main.tsx": { file: "main.js", imports: ["_deep.js"], css: ["main.css"], dynamicImports: ["a.tsx"] },
    "_deep.js": { file: "deep.js", imports: ["_shared.js", "_deep.js"], css: ["deep.css"] },
    "_shared.js": { file: "shared.js" },
    "a.tsx": { file: "a.js", imports: ["_shared.js", "_own.js"], dynamicImports: ["b.tsx"] },
    "b.tsx": { file: "b.js", imports: ["_deep.js"] },
    "_own.js": { file: "own.js", css: ["own.css"] },
  };

  it("is everything it imports, however deep, without what Home has loaded", () => {
    expect([...filesOfHome(built)].toSorted()).toEqual([
      "deep.css",
      "deep.js",
      "index.js",
      "main.css",
      "main.js",
      "shared.js",
    ]);
    const screens = filesOfScreens(built);
    expect([...screens].map(([name, files]) => [name, [...files].toSorted()])).toEqual([
      ["a.tsx", ["a.js", "own.css", "own.js"]],
      ["b.tsx", ["b.js"]],
    ]);
    expect(filesOfWorkers(built, ["a.js", "w.js", "own.css"])).toEqual(["w.js"]);
  });
});
