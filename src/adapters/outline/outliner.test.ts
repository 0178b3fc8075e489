import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { CODE_SAMPLES } from "../../../test/support/code-samples.ts";
import { CODE_GRAMMARS, type CodeDefinition, type CodeLanguage } from "../../rooms/context/ports.ts";
import { ENGINE_FILES, LANGUAGES, OUTLINE_LIMITS } from "./grammars.ts";
import { createOutliner } from "./outliner.ts";

const require = createRequire(import.meta.url);
const manifest = require.resolve(`${CODE_GRAMMARS.package}/package.json`);
const folder = join(dirname(manifest), "wasm");
const base = mkdtempSync(join(tmpdir(), "verbatim-outline-"));
afterAll(() => rmSync(base, { recursive: true }));

const outliner = createOutliner();

function show(found: readonly CodeDefinition[] | string): readonly string[] | string {
  if (typeof found === "string") return found;
  const key = ({ line_start, line_end, path }: CodeDefinition) =>
    `${String(line_start).padStart(6)} ${String(999_999 - line_end)} ${path.length} ${path.join("/")}`;
  const ordered = [...found].sort((a, b) => (key(a) < key(b) ? -1 : 1));
  return ordered.map(({ line_start, line_end, path }) => `${line_start}..${line_end} ${path.join("/")}`);
}

async function outline(language: CodeLanguage, text: string) {
  return show(await outliner.outline(language, text));
}

describe("the definitions of code", () => {
  it.each(CODE_SAMPLES.map((sample) => [sample.language, sample] as const))(
    "are found in %s, with what stands directly above them",
    async (language, { text, defines }) => {
      expect(await outline(language, text)).toEqual(defines);
    },
  );

  it("are the same without a thread, and in another order of files", async () => {
    const { Engine } = require("./scripts/outline-thread.cjs") as {
      readonly Engine: new (
        given: object,
      ) => {
        load(language: string): Promise<void>;
        outline(language: string, text: string): { readonly found: readonly [number, number, string[]][] };
      };
    };
    const engine = new Engine({ folder, engine: ENGINE_FILES, languages: LANGUAGES, limits: OUTLINE_LIMITS });
    for (const { language, text, defines } of [...CODE_SAMPLES].reverse()) {
      await engine.load(language);
      const { found } = engine.outline(language, text);
      expect(show(found.map(([line_start, line_end, path]) => ({ line_start, line_end, path })))).toEqual(defines);
    }
  });

  it("keep names that a reference has to escape, and cut those that no heading could have", async () => {
    const text = `class A {\n  "a/b#c"() {}\n  #d() {}\n}\nfunction ${"x".repeat(2000)}() {}\n`;
    expect(await outline("javascript", text)).toEqual([
      "0..4 A",
      "1..2 A/a/b#c",
      "2..3 A/#d",
      `4..5 ${"x".repeat(1024)}`,
    ]);
    const [, method] = (await outliner.outline("javascript", text)) as readonly CodeDefinition[];
    expect(method?.path).toEqual(["A", "a/b#c"]);
  });

  it("of one name are one where they follow each other, and several where something is between", async () => {
    expect(await outline("python", "def a(): pass\ndef a(): pass\ndef b(): pass\ndef a(): pass\n")).toEqual([
      "0..2 a",
      "2..3 b",
      "3..4 a",
    ]);
  });

  it("begin at the byte order mark, whatever the characters of a line", async () => {
    expect(await outline("typescript", "\ufeffconst a = 1;\nconst é = '\u{1f600}\u2028';\nfunction f() {}")).toEqual([
      "0..1 a",
      "1..2 é",
      "2..3 f",
    ]);
  });

  it("around something that does not parse are still found", async () => {
    expect(await outline("go", "package a\nfunc One() {}\nfunc ??? {\n}\nfunc Two() {}\n")).toEqual(
      expect.arrayContaining(["1..2 One", "4..5 Two"]),
    );
  });

  it("of an empty text, of a comment alone and of a text in another language are none", async () => {
    expect(await outline("rust", "")).toEqual([]);
    expect(await outline("rust", "// nothing\n")).toEqual([]);
    expect(await outline("go", "a::\n".repeat(8))).toEqual("OUTLINE_NOT_PARSED");
  });
});

describe("what a text may ask of the parser is counted, not timed", () => {
  it.each<[string, CodeLanguage, string, string]>([
    ["more than 1 MiB", "typescript", `//${"x".repeat(1024)}\n`.repeat(1100), "OUTLINE_TOO_LARGE"],
    ["a line for machines", "javascript", `var a=[${"1,".repeat(6000)}];\n`, "OUTLINE_TOO_COMPLEX"],
    ["brackets in brackets", "c-sharp", "(\n".repeat(300), "OUTLINE_TOO_COMPLEX"],
    ["classes in classes without end", "java", "class A {\n".repeat(5000), "OUTLINE_TOO_COMPLEX"],
    ["garbage that the parser would try to understand", "php", "<?php\n${a?->::\n".repeat(9000), "OUTLINE_TOO_COMPLEX"],
  ])("%s is refused", async (_, language, text, problem) => {
    expect(await outline(language, text)).toBe(problem);
  });

  it("names deeper than twelve belong to what is around them", async () => {
    const text = `class A:\n${Array.from({ length: 20 }, (_, i) => `${" ".repeat(i + 1)}class A${i}:\n`).join("")}${" ".repeat(22)}pass\n`;
    const found = (await outliner.outline("python", text)) as readonly CodeDefinition[];
    expect(Math.max(...found.map(({ path }) => path.length))).toBe(12);
    expect(found).toHaveLength(12);
  });

  it("memory is bounded, the next text is parsed all the same, and twice the same is said", async () => {
    const nested = "template<\n".repeat(6000);
    expect(await outline("c-sharp", nested)).toBe("OUTLINE_TOO_COMPLEX");
    expect(await outline("go", "package a\nfunc F() {}\n")).toEqual(["1..2 F"]);
    expect(await outline("c-sharp", nested)).toBe("OUTLINE_TOO_COMPLEX");
  });

  it("a text that takes too long ends its thread, and says so", async () => {
    const impatient = createOutliner({ longestMs: 1 });
    expect(await impatient.outline("typescript", "const a = 1;\n")).toBe("OUTLINE_TIMEOUT");
    expect(show(await createOutliner().outline("typescript", "const a = 1;\n"))).toEqual(["0..1 a"]);
  });
});

describe("the grammars", () => {
  it("are the pinned bytes of the pinned version", () => {
    expect(CODE_GRAMMARS).toEqual({ package: "@vscode/tree-sitter-wasm", version: "0.3.1" });
    for (const { file, sha256 } of [...Object.values(ENGINE_FILES), ...Object.values(LANGUAGES)]) {
      expect(
        createHash("sha256")
          .update(readFileSync(join(folder, file)))
          .digest("hex"),
        file,
      ).toBe(sha256);
    }
  });

  it("that are not there are missed without an error until an outline is asked for", async () => {
    const alone = createOutliner({ from: pathToFileURL(join(base, "alone.js")).href });
    expect(alone.missing()).toBe("not installed");
    await expect(alone.outline("go", "package a\n")).rejects.toMatchObject({ code: "OUTLINE_UNAVAILABLE" });
    expect(outliner.missing()).toBeNull();
  });

  it("of another version are not used, and damaged ones are refused", async () => {
    const copy = join(base, "copy/node_modules", CODE_GRAMMARS.package);
    mkdirSync(copy, { recursive: true });
    const from = pathToFileURL(join(base, "copy/index.js")).href;
    writeFileSync(join(copy, "package.json"), '{"version":"0.3.2"}');
    expect(createOutliner({ from }).missing()).toBe("version 0.3.2 is installed");
    writeFileSync(join(copy, "package.json"), '{"version":"0.3.1"}');
    mkdirSync(join(copy, "wasm"));
    for (const name of ["tree-sitter.js", "tree-sitter.wasm"]) cpSync(join(folder, name), join(copy, "wasm", name));
    writeFileSync(join(copy, "wasm/tree-sitter-go.wasm"), "not a grammar");
    const damaged = createOutliner({ from });
    expect(damaged.missing()).toBeNull();
    await expect(damaged.outline("go", "package a\n")).rejects.toMatchObject({
      code: "OUTLINE_UNAVAILABLE",
      message: expect.stringContaining("tree-sitter-go.wasm is not the file expected"),
    });
  });
});
