import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sortedByCodePoint } from "../src/core/canonical/index.ts";
import { buildStudio, studioInputs } from "./build-studio.ts";
import { bundle, readPackages, TREESHAKE } from "./bundle.ts";
import { bundleCli, CLI_BUNDLED } from "./bundle-cli.ts";
import { SCRIPTS_INLINED } from "./inline-scripts.ts";
import { pruneTypes } from "./prune-types.ts";
import { ROOT } from "./stages.ts";

/** Files directly under src/ that become modules to import, where they exist. The command line is built apart. */
const ENTRIES = ["index", "contracts", "verify", "context", "jobs", "catalytic", "workflow", "world"];
/** Entries that are types and nothing else. */
const TYPES_ONLY = ["api"];
const DIST = join(ROOT, "dist");
const STAMP = ".build.json";

interface Manifest {
  readonly exports?: Record<string, unknown>;
}

/** Builds dist/ unless it was built from exactly these inputs; `--force` builds anyway. */
async function main(): Promise<void> {
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Manifest;
  const entries = ENTRIES.filter((name) => existsSync(join(ROOT, `src/${name}.ts`)));
  checkExports(manifest, entries);
  const inputs = hashInputs();
  if (!process.argv.includes("--force") && isFresh(inputs)) {
    console.log("dist is up to date");
    return;
  }
  const started = performance.now();
  const sources = Object.fromEntries(entries.map((name) => [name, `src/${name}.ts`]));
  const target = `${DIST}.${process.pid}`;
  try {
    mkdirSync(target, { recursive: true });
    const [ofStudio] = await Promise.all([
      buildStudio(target, readLicences),
      bundle(sources, target),
      buildCli(target),
      bundleHook(target),
      declare(target),
    ]);
    writeLicences(target, ofStudio);
    writeFileSync(join(target, STAMP), `${JSON.stringify({ inputs, files: listFiles(target) })}\n`);
    replaceDist(target);
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
  console.log(`built ${entries.join(", ")} in ${((performance.now() - started) / 1000).toFixed(1)} s`);
}

/** Puts the new folder in place of the old. Two builds at once have the same inputs: whoever comes last wins. */
function replaceDist(target: string): void {
  const old = `${target}.old`;
  if (existsSync(DIST)) renameSync(DIST, old);
  renameSync(target, DIST);
  rmSync(old, { recursive: true, force: true });
}

/** The published subpaths are exactly the entries that exist. */
function checkExports(manifest: Manifest, entries: readonly string[]): void {
  const expected = Object.fromEntries(
    entries.map((name) => [
      name === "index" ? "." : `./${name}`,
      { types: `./dist/types/${name}.d.ts`, default: `./dist/${name}.js` },
    ]),
  );
  const types = Object.fromEntries(TYPES_ONLY.map((name) => [`./${name}`, { types: `./dist/types/${name}.d.ts` }]));
  const wanted = { ...expected, ...types, "./package.json": "./package.json" };
  if (JSON.stringify(manifest.exports) !== JSON.stringify(wanted)) {
    throw new Error(`package.json: "exports" must be\n${JSON.stringify(wanted, null, 2)}`);
  }
}

/** What is built in keeps its licence next to it. */
function writeLicences(target: string, ofStudio: readonly string[]): void {
  writeFileSync(join(target, "THIRD_PARTY_LICENSES.txt"), readLicences(ofStudio));
}

/** The licence of a package that is published without its file, as its repository has it. */
function readOwnCopy(name: string): string {
  const file = join(ROOT, "tools/licences", `${name.replace("/", "-")}.txt`);
  if (!existsSync(file)) throw new Error(`${name} has no file with its licence`);
  return readFileSync(file, "utf8");
}

/** The licences of all packages that are built in, those of the Studio and those of the command line. */
function readLicences(ofStudio: readonly string[]): string {
  const texts = sortedByCodePoint([...new Set([...CLI_BUNDLED, ...ofStudio])]).map((name) => {
    const folder = join(ROOT, "node_modules", name);
    const licence = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
    if (licence === undefined) return `${name}\n\n${readOwnCopy(name)}`;
    return `${name}\n\n${readFileSync(join(folder, licence), "utf8")}`;
  });
  return texts.join("\n\n");
}

async function buildCli(target: string): Promise<void> {
  await bundleCli(target);
  await run(process.execPath, ["tools/cli-use.cjs", target], "the command line cannot be compiled");
}

/**
 * The hook surface once more, on its own and for `require`: an agent waits for it at every tool call, and the loader of
 * modules takes longer than the judgement. Everything an ordinary call needs is in one file; the rest is next to it.
 */
async function bundleHook(target: string): Promise<void> {
  const { rolldown } = await import("rolldown");
  const packages = readPackages();
  const build = await rolldown({
    cwd: ROOT,
    input: { hook: "src/hook.ts" },
    platform: "node",
    transform: { target: "node20.19" },
    treeshake: TREESHAKE,
    external: (id) => packages.some((name) => id === name || id.startsWith(`${name}/`)),
    plugins: [SCRIPTS_INLINED],
  });
  const { output } = await build.generate({
    format: "cjs",
    entryFileNames: "hook/[name].cjs",
    chunkFileNames: "hook/[name].cjs",
    dynamicImportInCjs: false,
    codeSplitting: { groups: [{ name: "core", test: (id) => !SELDOM.test(id) }] },
  });
  await build.close();
  mkdirSync(join(target, "hook"), { recursive: true });
  for (const file of output) {
    if (file.type === "chunk") writeFileSync(join(target, file.fileName), file.code);
  }
  const core = join(target, "hook", "core.cjs");
  await run(process.execPath, ["tools/hook-use.cjs", core], "the hook surface cannot be compiled");
}

/** What only some calls of a hook need: another database, a configuration that was never judged. */
const SELDOM = /[\\/]adapters[\\/]sql[\\/]postgres[\\/]|[\\/]core[\\/]contracts[\\/]|[\\/]app[\\/]config[\\/]config/;

async function declare(target: string): Promise<void> {
  const tsc = join(ROOT, "node_modules/.bin/tsc");
  const args = ["-p", "tsconfig.build.json", "--outDir", join(target, "types")];
  await run(tsc, args, "the type declarations do not build");
  const entries = [...ENTRIES, ...TYPES_ONLY].filter((name) => existsSync(join(ROOT, `src/${name}.ts`)));
  pruneTypes(join(target, "types"), entries);
}

async function run(command: string, args: readonly string[], failure: string): Promise<void> {
  // Without the options of this Node: compiled code is valid only for those it was made with.
  const { NODE_OPTIONS: _, ...env } = process.env;
  const shell = process.platform === "win32" && command !== process.execPath;
  const child = spawn(command, args, { cwd: ROOT, env, stdio: ["ignore", "inherit", "inherit"], shell });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code !== 0) throw new Error(failure);
}

/** One hash over everything that decides what dist/ holds. Linear in the size of the sources. */
function hashInputs(): string {
  const hash = createHash("sha256");
  const sources = listFiles(join(ROOT, "src")).filter((file) => !file.endsWith(".test.ts"));
  const settings = ["package.json", "package-lock.json", "tsconfig.json", "tsconfig.build.json"];
  const programs = [
    "tools/build.ts",
    "tools/build-studio.ts",
    "tools/bundle.ts",
    "tools/bundle-cli.ts",
    "tools/inline-scripts.ts",
    "tools/prune-types.ts",
    "tools/cli-use.cjs",
    "tools/hook-use.cjs",
    "tools/replace-stream.cjs",
    "bin/compiled.js",
  ];
  hash.update(process.version);
  const own = sources.map((source) => `src/${source}`);
  for (const file of [...settings, ...programs, ...studioInputs(), ...own]) {
    const bytes = readFileSync(join(ROOT, file));
    hash.update(`${file}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest("hex");
}

function isFresh(inputs: string): boolean {
  const stamp = join(DIST, STAMP);
  if (!existsSync(stamp)) return false;
  const last = JSON.parse(readFileSync(stamp, "utf8")) as { inputs: string; files: string[] };
  return last.inputs === inputs && last.files.every((file) => existsSync(join(DIST, file)));
}

function listFiles(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return sortedByCodePoint(files.map((file) => file.slice(folder.length + 1).replaceAll("\\", "/")));
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
