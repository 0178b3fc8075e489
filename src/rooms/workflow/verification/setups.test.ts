import { describe, expect, it } from "vitest";
import { findSetups, SETUPS, type SetupFacts, setupTable } from "./setups.ts";

/** A tree by its files, with what git does not keep, and the candidate's files over it. */
function facts(
  base: Readonly<Record<string, string>>,
  candidate: Readonly<Record<string, string | null>>,
  ignored: readonly string[] = [],
): SetupFacts {
  const after: Readonly<Record<string, string | null>> = { ...base, ...candidate };
  const encode = (text: string | null | undefined) => (text == null ? null : Buffer.from(text));
  return {
    changed: Object.keys(candidate),
    isThere: (path) => after[path] != null,
    has: (path) => ignored.includes(path),
    read: async (path, side) => encode(side === "base" ? base[path] : after[path]),
  };
}

const find = async (...args: Parameters<typeof facts>) => {
  const { steps, notices } = await findSetups(facts(...args));
  return { steps: steps.map(({ argv, cwd, why }) => `${cwd}: ${argv.join(" ")} (${why})`), notices };
};
const needs = (version: string) => JSON.stringify({ dependencies: { leftish: version }, scripts: { test: "node ." } });
const NPM = { "package.json": needs("1"), "package-lock.json": "{}" };

describe("the table of set-ups", () => {
  it("is what its schema says, and refuses a row with another member", () => {
    expect(SETUPS).toHaveLength(12);
    const row = { match: "x.lock", when: {}, command: ["x"], hosts_from: null };
    const table = (one: object) =>
      setupTable.safeParse({ schema_version: "verbatim-setups-v1", setups: [one] }).success;
    expect(table(row)).toBe(true);
    expect(table({ ...row, shell: "x" })).toBe(false);
    expect(table({ ...row, command: [] })).toBe(false);
  });

  it.each([
    ["package-lock.json", "npm ci"],
    ["pnpm-lock.yaml", "pnpm install --frozen-lockfile"],
    ["yarn.lock", "yarn install --frozen-lockfile"],
    ["bun.lock", "bun install --frozen-lockfile"],
    ["uv.lock", "uv sync --frozen"],
    ["poetry.lock", "poetry install --no-interaction"],
    ["Gemfile.lock", "bundle install"],
    ["composer.lock", "composer install"],
  ])("a changed %s asks for %s, in its own folder", async (lock, command) => {
    const path = `apps/web/${lock}`;
    expect(await find({ [path]: "1" }, { [path]: "2" })).toEqual({
      steps: [`apps/web: ${command} (${path} changed)`],
      notices: [],
    });
  });

  it.each(["Cargo.lock", "go.sum"])("a changed %s asks for nothing: the tool fetches by itself", async (lock) => {
    expect(await find({ [lock]: "1" }, { [lock]: "2" })).toEqual({ steps: [], notices: [] });
  });

  it("tells the two kinds of yarn apart by .yarnrc.yml", async () => {
    const base = { "yarn.lock": "1", ".yarnrc.yml": "" };
    expect((await find(base, { "yarn.lock": "2" })).steps).toEqual(
      ["yarn install --immutable"].map((text) => `.: ${text} (yarn.lock changed)`),
    );
  });

  it("installs requirements into a virtual environment that is there, and nowhere else", async () => {
    const base = { "requirements-dev.txt": "a" };
    const candidate = { "requirements-dev.txt": "b" };
    expect((await find(base, candidate, [".venv"])).steps).toEqual([
      ".: .venv/bin/pip install -r requirements-dev.txt (requirements-dev.txt changed)",
    ]);
    expect((await find(base, candidate)).steps).toEqual([]);
  });
});

describe("a manifest that changed", () => {
  it("is a reason where what it asks for changed, and is noticed without its lock file", async () => {
    expect(await find(NPM, { "package.json": needs("2") }, ["node_modules"])).toEqual({
      steps: [".: npm ci (package.json changed)"],
      notices: ["package.json changed but its lock file did not"],
    });
    expect(await find(NPM, { "package.json": needs("2"), "package-lock.json": "{ }" }, ["node_modules"])).toEqual({
      steps: [".: npm ci (package-lock.json changed)"],
      notices: [],
    });
  });

  it("is none where only its scripts changed, or where no lock file belongs to it", async () => {
    const scripts = needs("1").replace("node .", "node --test");
    expect(await find(NPM, { "package.json": scripts }, ["node_modules"])).toEqual({ steps: [], notices: [] });
    expect(await find({ "package.json": needs("1") }, { "package.json": needs("2") })).toEqual({
      steps: [],
      notices: [],
    });
  });

  it("is one where it cannot be read", async () => {
    expect((await find(NPM, { "package.json": "{" }, ["node_modules"])).steps).toEqual([
      ".: npm ci (package.json changed)",
    ]);
  });

  it("belongs to the nearest lock file above it", async () => {
    const base = {
      ...NPM,
      "packages/a/package.json": needs("1"),
      "packages/b/package.json": needs("1"),
      "packages/b/package-lock.json": "{}",
    };
    const candidate = { "packages/a/package.json": needs("2"), "packages/b/package.json": needs("2") };
    expect((await find(base, candidate, ["node_modules"])).steps).toEqual([
      ".: npm ci (packages/a/package.json changed)",
      "packages/b: npm ci (packages/b/package.json changed)",
    ]);
  });
});

describe("a folder of results", () => {
  it("that is missing is filled, also for a candidate that changes no lock file", async () => {
    expect((await find(NPM, { "src/a.js": "x" })).steps).toEqual([".: npm ci (node_modules is missing)"]);
    expect((await find(NPM, { "src/a.js": "x" }, ["node_modules"])).steps).toEqual([]);
  });

  it("is filled once, by the lock file that changed", async () => {
    const base = { ...NPM, "yarn.lock": "1" };
    expect((await find(base, { "yarn.lock": "2" })).steps).toEqual([
      ".: yarn install --frozen-lockfile (yarn.lock changed)",
    ]);
  });

  it("is not filled from a lock file that the candidate takes away", async () => {
    expect((await find(NPM, { "package-lock.json": null })).steps).toEqual([]);
  });
});
