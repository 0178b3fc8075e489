import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";

// Guards: what npm would publish. It is packed, installed into an empty folder and used there, as a stranger would.

const ROOT = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
const NPM = process.platform === "win32" ? "npm.cmd" : "npm";
const UNREACHABLE = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|ENOTCACHED)\b/;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports: Record<string, unknown>;
}

const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Manifest;
const subpaths = Object.entries(manifest.exports).flatMap(([path, to]) => (isLoaded(to) ? [path] : []));

/** What is there to be loaded: neither a file of data nor types alone. */
function isLoaded(to: unknown): boolean {
  return typeof to === "object" && to !== null && "default" in to;
}

function run(command: string, args: readonly string[], cwd: string) {
  const shell = process.platform === "win32";
  return spawnSync(command, args, { cwd, encoding: "utf8", shell, maxBuffer: 64 * 1024 * 1024 });
}

describe("the published package", () => {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-pack-"));
  const user = join(folder, "user");
  let files: string[] = [];
  let sizes: readonly { readonly path: string; readonly size: number }[] = [];
  let unreachable: string | undefined;

  beforeAll(() => {
    const build = run(join(ROOT, "node_modules/.bin/tsx"), ["tools/build.ts"], ROOT);
    expect(build.status, build.stderr).toBe(0);
    const pack = run(NPM, ["pack", "--json", "--pack-destination", folder], ROOT);
    expect(pack.status, pack.stderr).toBe(0);
    const [packed] = JSON.parse(pack.stdout) as { filename: string; files: { path: string; size: number }[] }[];
    sizes = packed!.files;
    files = sizes.map(({ path }) => path);

    mkdirSync(user);
    writeFileSync(join(user, "package.json"), '{ "name": "stranger", "private": true, "type": "module" }\n');
    const install = run(NPM, ["install", "--prefer-offline", join("..", packed!.filename)], user);
    unreachable = UNREACHABLE.exec(install.stderr)?.[1];
    if (unreachable === undefined) expect(install.status, install.stderr).toBe(0);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function needsInstall(context: TestContext): void {
    context.skip(unreachable !== undefined, `the npm registry cannot be reached (${unreachable})`);
  }

  it("holds the program, its contracts and its papers, and nothing of the workshop", () => {
    expect(files).toEqual(
      expect.arrayContaining([
        "package.json",
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "bin/verbatim.js",
        "dist/main.cjs",
        "dist/cli/run.cjs",
        `dist/cli/run-${process.version}-${process.arch}.bin`,
      ]),
    );
    const own = /^(?:bin|dist|contracts)\/|^(?:package\.json|README\.md|LICENSE|CHANGELOG\.md)$/;
    expect(files.filter((file) => !own.test(file))).toEqual([]);
    expect(files.filter((file) => /\.test\.|\.map$|(?:^|\/)\.|(?:^|\/)test\//.test(file))).toEqual([]);
  });

  it("has a Studio of at most 2.6 MB, and 0.9 MB of it to download", () => {
    const studio = sizes.filter(({ path }) => path.startsWith("dist/studio/"));
    expect(studio.length).toBeGreaterThan(20);
    expect(studio.reduce((sum, { size }) => sum + size, 0)).toBeLessThanOrEqual(2_600_000);
    // As the package is compressed: files one after another.
    const part = gzipSync(Buffer.concat(studio.map(({ path }) => readFileSync(join(ROOT, path)))));
    expect(part.length).toBeLessThanOrEqual(900_000);
  });

  it("passes publint", () => {
    const lint = run(join(ROOT, "node_modules/.bin/publint"), ["run", "--strict", ROOT], folder);
    expect(lint.stdout).toContain("All good!");
    expect(lint.status).toBe(0);
  });

  it("names no place on the machine that built it", (context) => {
    needsInstall(context);
    const installed = join(user, "node_modules", manifest.name);
    const all = readdirSync(installed, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const telling = all.filter((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8").includes(ROOT));
    expect(all.length).toBeGreaterThan(5);
    expect(telling.map((entry) => entry.name)).toEqual([]);
  });

  it.for(["verbatim", "verbatim-agent"])(
    "answers npx %s --version with its version where it is installed",
    (name, context) => {
      needsInstall(context);
      const result = run("npx", ["--no-install", name, "--version"], user);
      expect(result.stdout.trim()).toBe(manifest.version);
      expect(result.status).toBe(0);
    },
  );

  it("is run as verbatim in a checkout of its own", () => {
    const result = run("npx", ["--no-install", "verbatim", "--version"], ROOT);
    expect(result.stdout.trim()).toBe(manifest.version);
    expect(result.status).toBe(0);
  });

  it("answers --help on one screen", (context) => {
    needsInstall(context);
    // The link that npx has just been seen to find.
    const result = run(join(user, "node_modules/.bin/verbatim"), ["--help"], user);
    expect(result.stdout).toContain("verbatim");
    expect(result.status).toBe(0);
  });

  const TYPED = `
      import { openWorkspace, type Output } from "${manifest.name}";
      import { openWorld } from "${manifest.name}/world";
      import type { Events, OperationName, Operations } from "${manifest.name}/api";
      const workspace = openWorkspace(".");
      export const files: number = (await workspace.call("context.index-build", {})).files;
      export const found: string | undefined = (await workspace.context.search({ query: "x" })).results[0]?.section_id;
      export const job: Output<"jobs.plan">["job_id"] = (await workspace.jobs.plan({ message: {} })).job_id;
      declare function call<N extends OperationName>(
        name: N, input: Operations[N]["input"]): Promise<Operations[N]["output"]>;
      export const runs: number = (await call("agent.list", {})).total;
      export const state: "running" extends Events["task"]["state"] ? true : false = true;
      // @ts-expect-error: agent.lits
      await call("agent.lits", {});
      // @ts-expect-error: totla
      export const nothing = (await call("agent.list", {})).totla;
      export const ok: boolean = (await openWorld("w").verify()).ok;
      // @ts-expect-error: index-biuld
      await workspace.call("context.index-biuld", {});
      // @ts-expect-error: serach
      await workspace.context.serach({ query: "x" });
      // @ts-expect-error: qeury
      await workspace.context.search({ qeury: "x" });
      // @ts-expect-error: resulst
      export const none = (await workspace.context.search({ query: "x" })).resulst;`;
  const imports = subpaths.map((path, i) => `import * as m${i} from "${path.replace(/^\./, manifest.name)}";`);
  const uses = subpaths.map((_, i) => `console.log(Object.keys(m${i}).length > 0);`);
  let complaints: readonly string[] | undefined;

  /** What the compiler says about a file of the user; both are compiled at once, because each needs all our types. */
  function compile(file: "typed.ts" | "use.ts"): readonly string[] {
    if (complaints === undefined) {
      writeFileSync(join(user, "typed.ts"), TYPED);
      writeFileSync(join(user, "use.ts"), `${[...imports, ...uses].join("\n")}\nexport {};\n`);
      const flags = ["--noEmit", "--strict", "--skipLibCheck", "--types", ""];
      const target = ["--module", "nodenext", "--target", "es2023", "--lib", "es2023,dom,esnext.disposable"];
      const { stdout } = run(
        join(ROOT, "node_modules/.bin/tsc"),
        [...flags, ...target, "--pretty", "false", "typed.ts", "use.ts"],
        user,
      );
      complaints = stdout.split("\n").filter((line) => line !== "");
    }
    const other = file === "typed.ts" ? "use.ts" : "typed.ts";
    return complaints.filter((line) => !line.startsWith(`${other}(`));
  }

  it("gives a program the types of every operation, and refuses what is misspelt", (context) => {
    needsInstall(context);
    expect(compile("typed.ts")).toEqual([]);
  });

  it("lets a program import every subpath, with types", (context) => {
    needsInstall(context);
    expect(compile("use.ts")).toEqual([]);
    writeFileSync(join(user, "use.mjs"), `${[...imports, ...uses].join("\n")}\n`);
    const result = run(process.execPath, ["use.mjs"], user);
    expect(result.stderr).toBe("");
    expect(result.stdout).toBe("true\n".repeat(subpaths.length));
  });
});
