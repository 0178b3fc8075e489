import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { openApp } from "../call.ts";
import { proposeConfig } from "./init.ts";

const base = mkdtempSync(join(tmpdir(), "verbatim-init-"));
afterAll(() => rmSync(base, { recursive: true }));

it("proposes the roots a repository has and makes the folders of runs; what it wrote is a good configuration", async () => {
  for (const folder of ["dist", "node_modules/.cache", "LAW/CANON", "docs"])
    mkdirSync(join(base, folder), { recursive: true });
  writeFileSync(join(base, "LAW/CANON/law.md"), "# Law\n");
  writeFileSync(join(base, ".env"), "LAMP=on\n");
  writeFileSync(join(base, ".env.example"), "LAMP=\n");
  await using app = openApp({ surface: "library", start: base, env: { HOME: base }, platform: process.platform });
  const proposed = await app.call("hall.init", {});
  expect(proposed).toMatchObject({ written: false });
  expect(existsSync(join(base, ".verbatim"))).toBe(false);
  await app.call("hall.init", { write: true });
  const written = JSON.parse(readFileSync(join(base, "verbatim.config.json"), "utf8")) as Record<string, unknown>;
  expect(written["catalytic"]).toEqual({
    profile: "standard",
    durable_roots: [".verbatim/out", "dist"],
    catalytic_roots: [".verbatim/scratch", "node_modules/.cache"],
    forbidden_roots: [".env", "LAW/CANON"],
  });
  for (const name of ["runs", "out", "scratch"]) expect(existsSync(join(base, ".verbatim", name))).toBe(true);
  expect(readFileSync(join(base, ".verbatim/.gitignore"), "utf8")).toBe("*\n");
  await using again = openApp({ surface: "library", start: base, env: { HOME: base }, platform: process.platform });
  const { checks } = (await again.call("hall.doctor", {})) as { checks: { name: string; status: string }[] };
  expect(checks.find(({ name }) => name === "config")?.status).toBe("ok");
});

it.each<[string, Record<string, string>, string[] | null, string]>([
  [
    "of the package manager",
    { "package.json": '{"scripts":{"test":"x"}}', "pnpm-lock.yaml": "" },
    ["pnpm", "test"],
    "",
  ],
  ["that npm writes only where someone wrote one", { "package.json": '{"scripts":{"test":""}}' }, null, ""],
  ["past a package.json that is not JSON", { "package.json": "{", "go.mod": "" }, ["go", "test", "./..."], "left out"],
  ["of pytest where it is set up", { "pyproject.toml": "[tool.pytest.ini_options]\n" }, ["pytest"], ""],
  ["not of a project that names no test", { "pyproject.toml": "[project]\n" }, null, "no verify command found"],
  ["not of a virtual environment", { "pytest.ini": "", ".venv/bin/pytest": "" }, ["pytest"], ""],
])("proposes the test command %s", (_, files, argv, reason) => {
  const root = mkdtempSync(join(base, "commands-"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const { config, reasons } = proposeConfig(root);
  expect((config["workflow"] as { verify?: unknown } | undefined)?.verify ?? null).toEqual(
    argv === null ? null : { gates: { lite: [{ argv }] } },
  );
  expect(reasons.filter((text) => text.includes(reason)).length).toBeGreaterThan(0);
  expect(reasons.filter((text) => text.includes("left out")).length).toBeLessThan(2);
});

it("proposes what git tracks, with sections of code, where the contract has no sources; the index then holds just that", async () => {
  const root = mkdtempSync(join(base, "tracked-"));
  mkdirSync(join(root, "src"));
  writeFileSync(join(root, "src/lamp.ts"), "export function light() {}\n");
  writeFileSync(join(root, "yarn.lock"), "x\n");
  for (const args of [
    ["init", "-q"],
    ["add", "-A"],
  ])
    execFileSync("git", args, { cwd: root });
  await using app = openApp({ surface: "library", start: root, env: { HOME: base }, platform: process.platform });
  const { config, sources, reasons } = await app.call("hall.init", { write: true });
  expect(config["context"]).toEqual({ outline: "markdown+code" });
  expect(sources).toEqual([]);
  expect(reasons[0]).toBe("indexed are the text files that git tracks (1 file, 27 bytes)");
  await using again = openApp({ surface: "library", start: root, env: { HOME: base }, platform: process.platform });
  expect(await again.call("context.index-build", {})).toMatchObject({
    files: 1,
    sources: { rule: "git", left_out: { lock: 1 } },
    outline: { kind: "markdown+code", grammars: "@vscode/tree-sitter-wasm@0.3.1" },
  });
  expect((await again.call("context.section-list", {})).map(({ heading_path }) => heading_path)).toEqual([
    [],
    ["light"],
  ]);
});

it("proposes no folder for outputs whose files git tracks", async () => {
  const root = mkdtempSync(join(base, "outputs-"));
  for (const path of ["build/package.js", "dist/out.js", ".gitignore"]) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), "dist/\n");
  }
  for (const args of [
    ["init", "-q"],
    ["add", "-A"],
  ])
    execFileSync("git", args, { cwd: root });
  await using app = openApp({ surface: "library", start: root, env: { HOME: base }, platform: process.platform });
  const { config } = await app.call("hall.init", { write: false });
  expect(config["catalytic"]).toEqual({ profile: "standard", durable_roots: [".verbatim/out", "dist"] });
});

it("names no sources where there are none yet: later ones are found without it", () => {
  const { config, sources, reasons } = proposeConfig(mkdtempSync(join(base, "empty-")));
  expect([config["context"], sources]).toEqual([{ outline: "markdown+code" }, []]);
  expect(reasons[0]).toMatch(/^there is nothing to index yet/);
});
