import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { checkLock, type Lock, type Manifest, productionClosure } from "../../tools/check-lock.ts";

// Guards: ADR 0002. What is installed is what was reviewed, on every platform, and nothing runs while installing.

const HASH = "sha512-AAAA";

const manifest: Manifest = {
  dependencies: { lantern: "1.2.3", "@photostructure/sqlite": "1.0.0" },
  devDependencies: { native: "npm:lantern-native@7.0.2", web: "file:..", beta: "18.4.0-beta.17" },
  overrides: { wick: "$wick" },
};

const packages: Lock["packages"] = {
  "": { dependencies: { lantern: "1.2.3", "@photostructure/sqlite": "1.0.0" } },
  "node_modules/lantern": {
    version: "1.2.3",
    integrity: HASH,
    dependencies: { wick: "^1.0.0" },
    optionalDependencies: { "lantern-linux": "1.2.3" },
  },
  "node_modules/lantern-linux": { version: "1.2.3", integrity: HASH },
  "node_modules/lantern/node_modules/wick": { version: "1.0.0", integrity: HASH },
  "node_modules/wick": { version: "2.0.0", integrity: HASH },
  "node_modules/@photostructure/sqlite": { version: "1.0.0", integrity: HASH, hasInstallScript: true },
  "node_modules/esbuild": { version: "0.1.0", integrity: HASH, hasInstallScript: true },
};

function withEntry(path: string, entry: Lock["packages"][string]): Lock {
  return { packages: { ...packages, [path]: { ...packages[path], ...entry } } };
}

describe("the lock check", () => {
  it("accepts a lock with exact versions, hashes and every optional package", () => {
    expect(checkLock(manifest, { packages })).toEqual([]);
  });

  it("refuses a download address", () => {
    const lock = withEntry("node_modules/wick", { resolved: "https://example.org/wick-2.0.0.tgz" });
    expect(checkLock(manifest, lock)).toEqual(["resolved: node_modules/wick names a download address"]);
  });

  it("refuses an entry without a hash", () => {
    const lock: Lock = { packages: { ...packages, "node_modules/wick": { version: "2.0.0" } } };
    expect(checkLock(manifest, lock)).toEqual(["integrity: node_modules/wick has no hash"]);
  });

  it("refuses an optional package that has no entry of its own", () => {
    const { "node_modules/lantern-linux": _left, ...rest } = packages;
    expect(checkLock(manifest, { packages: rest })).toEqual([
      "optional: node_modules/lantern names lantern-linux, which has no entry",
    ]);
  });

  it("refuses an install script in a production package that is not on the list", () => {
    const lock = withEntry("node_modules/lantern/node_modules/wick", { hasInstallScript: true });
    expect(checkLock(manifest, lock)).toEqual(["script: node_modules/lantern/node_modules/wick has an install script"]);
  });

  it("refuses a development tool with a script once production needs it", () => {
    const lock = withEntry("node_modules/lantern", { dependencies: { esbuild: "0.1.0" } });
    expect(checkLock(manifest, lock)).toEqual(["script: node_modules/esbuild has an install script"]);
  });

  it.each(["^1.2.3", "~1.2.3", "latest", "*", ">=1.0.0", "1.2", "git+https://example.org/a.git", "npm:wick@^1.0.0"])(
    "refuses the version %s in package.json",
    (version) => {
      const changed = { ...manifest, dependencies: { lantern: version } };
      expect(checkLock(changed, { packages })).toEqual([`exact: dependencies lantern is "${version}"`]);
    },
  );

  it("refuses more than 59 production packages", () => {
    const names = Array.from({ length: 60 }, (_, i) => `part-${i}`);
    const many = Object.fromEntries(
      names.map((name) => [`node_modules/${name}`, { version: "1.0.0", integrity: HASH }]),
    );
    const root = { dependencies: Object.fromEntries(names.map((name) => [name, "1.0.0"])) };
    expect(checkLock({}, { packages: { "": root, ...many } })).toEqual([
      "closure: 60 production packages, at most 59 are allowed",
    ]);
  });

  it("counts the copy a package really finds, and not what only development needs", () => {
    expect([...productionClosure({ packages })].sort()).toEqual([
      "node_modules/@photostructure/sqlite",
      "node_modules/lantern",
      "node_modules/lantern-linux",
      "node_modules/lantern/node_modules/wick",
    ]);
  });
});

describe("ADR 0002", () => {
  it("gives a reason for every dependency", () => {
    const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
    const { dependencies, devDependencies } = JSON.parse(read("package.json")) as Manifest;
    const rows = read("docs/adr/0002-dependencies.md")
      .split("\n")
      .filter((line) => line.startsWith("| "));
    const named = new Set(
      rows.flatMap((row) =>
        row
          .split("|")[1]!
          .split(",")
          .map((name) => name.trim()),
      ),
    );
    const silent = Object.keys({ ...dependencies, ...devDependencies }).filter((name) => !named.has(name));
    expect(silent).toEqual([]);
  });
});
