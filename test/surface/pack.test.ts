import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { describeExamples } from "../support/packed-examples.ts";
import {
  compile,
  lend,
  type PackedPackage,
  packAndInstall,
  ROOT,
  readManifest,
  runIn,
  startStudio,
} from "../support/packed-package.ts";

// Guards: what npm would publish. It is packed, installed into an empty folder and used there, as a stranger would. One
// installation serves all tests, so they are in one file.

const manifest = readManifest();
const subpaths = Object.entries(manifest.exports).flatMap(([path, to]) => (isLoaded(to) ? [path] : []));
const TOKEN = "a-token-of-the-stranger";

/** What is there to be loaded: neither a file of data nor types alone. */
function isLoaded(to: unknown): boolean {
  return typeof to === "object" && to !== null && "default" in to;
}

describe("the published package", () => {
  let packed: PackedPackage;
  let files: string[] = [];

  beforeAll(() => {
    packed = packAndInstall(manifest.name);
    lend(packed, ["@types/node", "undici-types"]);
    files = packed.files.map(({ path }) => path);
  });
  afterAll(() => packed?.remove());

  it("holds the program, its contracts and its papers, and nothing of the workshop", () => {
    expect(files).toEqual(
      expect.arrayContaining([
        "package.json",
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "SECURITY.md",
        "bin/verbatim.js",
        "dist/main.cjs",
        "dist/cli/run.cjs",
        `dist/cli/run-${process.version}-${process.arch}.bin`,
        `dist/hook/core-${process.version}-${process.arch}.bin`,
        "docs/errors.md",
        "examples/README.md",
      ]),
    );
    const own = /^(?:bin|dist|contracts|docs|examples)\/|^(?:package\.json|[A-Z]+\.md|LICENSE)$/;
    expect(files.filter((file) => !own.test(file))).toEqual([]);
    expect(files.filter((file) => /\.test\.|\.map$|(?:^|\/)\.|(?:^|\/)test\//.test(file))).toEqual([]);
  });

  it("is at most 4 MB to download, with the Studio", () => {
    expect(packed.bytes).toBeGreaterThan(1_000_000);
    expect(packed.bytes).toBeLessThanOrEqual(4_000_000);
  });

  it("has a Studio of at most 2.6 MB, and 0.9 MB of it to download", () => {
    const studio = packed.files.filter(({ path }) => path.startsWith("dist/studio/"));
    expect(studio.length).toBeGreaterThan(20);
    expect(studio.reduce((sum, { size }) => sum + size, 0)).toBeLessThanOrEqual(2_600_000);
    // As the package is compressed: files one after another.
    const part = gzipSync(Buffer.concat(studio.map(({ path }) => readFileSync(join(ROOT, path)))));
    expect(part.length).toBeLessThanOrEqual(900_000);
  });

  it("has every page that its README links to", () => {
    const links = [
      ...readFileSync(join(ROOT, "README.md"), "utf8").matchAll(/(?<!!)\[[^\]]*\]\((?!https?:|#)([^)#\s]+)/g),
    ];
    const missing = links
      .map(([, to]) => to!)
      .filter((to) => !files.some((file) => file === to || file.startsWith(`${to.replace(/\/$/, "")}/`)));
    expect(links.length).toBeGreaterThan(5);
    expect(missing).toEqual([]);
  });

  it("passes publint", () => {
    const lint = runIn(packed.user, join(ROOT, "node_modules/.bin/publint"), ["run", "--strict", ROOT]);
    expect(lint.stdout).toContain("All good!");
    expect(lint.status).toBe(0);
  });

  it("names no place on the machine that built it", (context) => {
    packed.needsInstall(context);
    const entries = readdirSync(packed.installed, { recursive: true, withFileTypes: true });
    const all = entries.filter((entry) => entry.isFile());
    const telling = all.filter((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8").includes(ROOT));
    expect(all.length).toBeGreaterThan(5);
    expect(telling.map((entry) => entry.name)).toEqual([]);
  });

  it.for(["verbatim", "verbatim-agent"])(
    "answers npx %s --version with its version where it is installed",
    (name, context) => {
      packed.needsInstall(context);
      const result = runIn(packed.user, "npx", ["--no-install", name, "--version"]);
      expect(result.stdout.trim()).toBe(manifest.version);
      expect(result.status).toBe(0);
    },
  );

  it("is run as verbatim in a checkout of its own", () => {
    const result = runIn(ROOT, "npx", ["--no-install", "verbatim", "--version"]);
    expect(result.stdout.trim()).toBe(manifest.version);
    expect(result.status).toBe(0);
  });

  it("answers --help on one screen", (context) => {
    packed.needsInstall(context);
    // The link that npx has just been seen to find.
    const result = runIn(packed.user, join(packed.user, "node_modules/.bin/verbatim"), ["--help"]);
    expect(result.stdout).toContain("verbatim");
    expect(result.status).toBe(0);
  });

  it("serves the Studio with everything its page names", async (context) => {
    packed.needsInstall(context);
    const { address, child } = await startStudio(packed, TOKEN);
    onTestFinished(async () => {
      child.kill();
      if (child.exitCode === null) await once(child, "exit");
    });
    const page = await (await fetch(address)).text();
    const named = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path!);
    expect(named.length).toBeGreaterThan(1);
    for (const path of named) {
      const answer = await fetch(`${address}${path}`);
      expect([path, answer.status, (await answer.arrayBuffer()).byteLength > 100]).toEqual([path, 200, true]);
    }
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

  // Once as strictly as a stranger may, with our declarations checked too; once without even the types of Node.
  it.for([
    ["nodenext", ["--module", "nodenext", "--types", "node", "--skipLibCheck", "false"]],
    [
      "bundler",
      ["--module", "esnext", "--moduleResolution", "bundler", "--types", "", "--lib", "es2023,dom,esnext.disposable"],
    ],
  ] as const)("gives a program its types under %s, and refuses what is misspelt", ([, flags], context) => {
    packed.needsInstall(context);
    writeFileSync(join(packed.user, "typed.ts"), TYPED);
    writeFileSync(join(packed.user, "use.ts"), `${[...imports, ...uses].join("\n")}\nexport {};\n`);
    expect(compile(packed, flags, ["typed.ts", "use.ts"])).toEqual([]);
  });

  it("lets a program import every subpath", (context) => {
    packed.needsInstall(context);
    writeFileSync(join(packed.user, "use.mjs"), `${[...imports, ...uses].join("\n")}\n`);
    const result = runIn(packed.user, process.execPath, ["use.mjs"]);
    expect(result.stderr).toBe("");
    expect(result.stdout).toBe("true\n".repeat(subpaths.length));
  });

  describeExamples(() => packed);
});
