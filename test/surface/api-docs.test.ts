import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listOperations } from "../../src/app/call.ts";
import { SAYS_MODULE, toExamplePrograms } from "../../tools/api/examples.ts";
import { type ApiExport, checkApiExports, listApiExports } from "../../tools/api/exports.ts";
import { ROOT, readManifest, runIn } from "../support/packed-package.ts";

// Guards: whoever hovers over an export of the library reads what it is and sees how it is used, and what they see is true.

const manifest = readManifest();
const ENTRIES = Object.keys(manifest.exports)
  .filter((path) => path !== "./package.json")
  .map((path) => (path === "." ? "index" : path.slice("./".length)));
// In the checkout, so that the programs find the package by its own name.
const folder = join(ROOT, `dist.examples-${process.pid}`);
let exports: readonly ApiExport[] = [];

beforeAll(() => {
  const build = runIn(ROOT, join(ROOT, "node_modules/.bin/tsx"), ["tools/build.ts"]);
  expect(build.status, build.stderr).toBe(0);
  exports = listApiExports(join(ROOT, "dist/types"), ENTRIES);
  mkdirSync(folder, { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the exports of the library", () => {
  it("all have a sentence, and every value an example", () => {
    expect(exports.length).toBeGreaterThan(150);
    expect(checkApiExports(exports)).toEqual([]);
  });

  it("are found wanting where one is", () => {
    const planted = mkdtempSync(join(tmpdir(), "verbatim-api-"));
    const lines = [
      "/** Says when. */\nexport declare function when(): string;",
      "export type Tide = 'low' | 'high';",
      "/**\n * Says where.\n *\n * @example\n * where();\n */\nexport declare function where(): string;",
      "/** A place. */\nexport interface Place { readonly name: string }",
    ];
    writeFileSync(join(planted, "index.d.ts"), lines.join("\n"));
    const found = checkApiExports(listApiExports(planted, ["index"]));
    rmSync(planted, { recursive: true });
    expect(found).toEqual(["index: when has no @example", "index: Tide has no sentence"]);
  });
});

describe("the examples in comments", () => {
  const name = "verbatim-agent";

  it("compile, each as a program of its own", () => {
    const programs = toExamplePrograms(name, exports);
    for (const { name: file, typed } of programs) writeFileSync(join(folder, `${file}.ts`), typed);
    const flags = ["--ignoreConfig", "--noEmit", "--strict", "--skipLibCheck", "--pretty", "false", "--types", "node"];
    const target = ["--module", "nodenext", "--target", "es2023", "--lib", "es2023,dom,esnext.disposable"];
    const files = programs.map((program) => `${program.name}.ts`);
    const { stdout } = runIn(folder, join(ROOT, "node_modules/.bin/tsc"), [...flags, ...target, ...files]);
    expect(stdout).toBe("");
    expect(programs.length).toBeGreaterThan(80);
  });

  it("give what they say", () => {
    expect(runAll(exports)).toEqual({ status: 0, said: expect.stringMatching(/^[0-9]{2,} hold\n$/) });
  });

  it("are refused where they say something else", () => {
    const wrong = { entry: "index", name: "isRepoPath", isValue: true, summary: "x", isRepeated: false };
    const { status, said } = runAll([{ ...wrong, examples: ['isRepoPath("../a"); // => true'] }]);
    expect([status, said.includes("index-isRepoPath-0")]).toEqual([1, true]);
  });

  /** Runs every example that says what comes out, in one process. */
  function runAll(of: readonly ApiExport[]): { readonly status: number | null; readonly said: string } {
    const programs = toExamplePrograms(name, of).filter(({ runnable }) => runnable !== null);
    writeFileSync(join(folder, "says.mjs"), SAYS_MODULE);
    for (const program of programs) writeFileSync(join(folder, `${program.name}.mjs`), program.runnable!);
    const names = JSON.stringify(programs.map((program) => program.name));
    const main = `import { howMany } from "./says.mjs";
      for (const name of ${names})
        await import(\`./\${name}.mjs\`).catch((error) => { console.log(name, error); process.exitCode = 1; });
      if (process.exitCode !== 1) console.log(\`\${howMany()} hold\`);`;
    writeFileSync(join(folder, "main.mjs"), main);
    const { status, stdout, stderr } = spawnSync(process.execPath, ["main.mjs"], { cwd: folder, encoding: "utf8" });
    return { status, said: `${stdout}${stderr}` };
  }
});

describe("the methods of a workspace", () => {
  it("each say what they do to whoever hovers over one", async () => {
    const operations = await listOperations();
    const methods = operations.map(({ name }) =>
      name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    );
    const head = 'import { openWorkspace } from "verbatim-agent";\nconst workspace = openWorkspace(".");\n';
    const text = head + methods.map((method) => `workspace.${method};\n`).join("");
    const file = join(folder, "hover.ts");
    writeFileSync(file, text);
    const service = openEditor(file);
    const shown = new Map<string, string>();
    let at = head.length;
    for (const [i, method] of methods.entries()) {
      at += `workspace.${method}`.length;
      const { documentation } = service.getQuickInfoAtPosition(file, at - 1) ?? {};
      shown.set(operations[i]!.name, ts.displayPartsToString(documentation));
      at += ";\n".length;
    }
    expect(shown).toEqual(new Map(operations.map(({ name, summary }) => [name, summary])));
    expect(shown.get("workflow.new")).toBe("Create a workflow run at HEAD, outside the repository.");
    expect(service.getSemanticDiagnostics(file)).toEqual([]);
  });

  /** What an editor asks, of one file beside the built package. */
  function openEditor(file: string): ts.LanguageService {
    const options: ts.CompilerOptions = {
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      target: ts.ScriptTarget.ES2023,
      lib: ["lib.es2023.d.ts", "lib.esnext.disposable.d.ts"],
      types: ["node"],
      strict: true,
      skipLibCheck: true,
    };
    const { fileExists, readFile, readDirectory, directoryExists, getDirectories } = ts.sys;
    return ts.createLanguageService({
      getCompilationSettings: () => options,
      getScriptFileNames: () => [file],
      getScriptVersion: () => "1",
      getScriptSnapshot(name) {
        const text = readFile(name);
        return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
      },
      getCurrentDirectory: () => ROOT,
      getDefaultLibFileName: ts.getDefaultLibFilePath,
      fileExists,
      readFile,
      readDirectory,
      directoryExists,
      getDirectories,
    });
  }
});
