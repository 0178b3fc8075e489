import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findAddon } from "./addon.ts";

const PREBUILD = join("prebuilds", "linux-x64", "@photostructure+sqlite.glibc.node");
const LINUX = { arch: "x64", env: {}, platform: "linux" } as const;

describe("the native part of the SQLite package", () => {
  let folder: string;
  let home: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "verbatim-addon-"));
    home = join(folder, "node_modules", "@photostructure", "sqlite");
    mkdirSync(dirname(join(home, PREBUILD)), { recursive: true });
    writeFileSync(join(home, PREBUILD), "");
  });

  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it("is the one that the package itself would load", () => {
    const own = createRequire(import.meta.url);
    const gyp = createRequire(own.resolve("@photostructure/sqlite"))("node-gyp-build") as { path(dir: string): string };
    const loaded = gyp.path(dirname(dirname(own.resolve("@photostructure/sqlite"))));
    expect([loaded, null]).toContain(findAddon(import.meta.dirname));
  });

  it("is found in the nearest folder above that has the package", () => {
    expect(findAddon(join(folder, "a", "b"), LINUX)).toBe(join(home, PREBUILD));
    const nearer = join(folder, "a", "node_modules", "@photostructure", "sqlite");
    mkdirSync(nearer, { recursive: true });
    expect(findAddon(join(folder, "a", "b"), LINUX)).toBeNull();
  });

  it("is left to the package where somebody chose or built another", () => {
    expect(findAddon(folder, { ...LINUX, env: { LIBC: "musl" } })).toBeNull();
    expect(findAddon(folder, { ...LINUX, arch: "riscv64" })).toBeNull();
    mkdirSync(join(home, "build"));
    expect(findAddon(folder, LINUX)).toBeNull();
  });
});
