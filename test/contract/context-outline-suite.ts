import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CODE_SAMPLES } from "../support/code-samples.ts";
import type { ContextWorkspace, Expanded, OpenWorkspace } from "../support/context-workspace.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** What the hash of an index with code begins with. */
const SEAL = '{"grammars":"@vscode/tree-sitter-wasm@0.3.1","outline":"markdown+code","rules":1}\n';

const CODE = { context: { sources: ["**/*"], exclude: ["*.json"], outline: "markdown+code" } };

const LAMP = "const MAX = 5;\nexport class Lamp {\n  light() {\n    return wick;\n  }\n}\nstart(harbour);\n";

function git(workspace: ContextWorkspace, ...args: string[]): void {
  execFileSync("git", args, { cwd: workspace.root, stdio: "ignore" });
}

/** Index and sections of code, and sources that no configuration names. */
export function describeOutlines(open: OpenWorkspace): void {
  describe("sections of code", () => {
    it("have heading paths in every language, and the index names its grammars in its hash", async () => {
      const workspace = open(CODE);
      for (const { path, text } of CODE_SAMPLES) workspace.write(path, text);
      const built = await workspace.build();
      expect(built.outline).toEqual({
        kind: "markdown+code",
        grammars: "@vscode/tree-sitter-wasm@0.3.1",
        missing: null,
        unparsed: [],
      });
      for (const { path, defines } of CODE_SAMPLES) {
        const sections = (await workspace.sections(path)).filter(({ heading_path }) => heading_path.length > 0);
        expect(
          sections.map((one) => `${one.line_start}..${one.line_end} ${one.heading_path.join("/")}`),
          path,
        ).toEqual(defines);
      }
      const exported = await workspace.lines("index-export");
      expect(built.index_hash).toBe(sha256(SEAL + exported));
      expect(await workspace.call("index-verify")).toMatchObject({ ok: true, actual_hash: built.index_hash });
      const again = await workspace.build({ full: true });
      expect(again.index_hash).toBe(built.index_hash);
      expect(await workspace.lines("index-export")).toBe(exported);
    });

    it("are expanded, named by symbols and searched like headings", async () => {
      const workspace = open(CODE);
      workspace.write("src/lamp.ts", LAMP);
      await workspace.build();
      await workspace.call("symbol-add", {
        symbol_id: "@CODE/LIGHT",
        heading: "src/lamp.ts#Lamp/light",
        slice: "head(2)",
      });
      const { expansions } = await workspace.call<Expanded>("expand", { refs: ["@CODE/LIGHT"] });
      expect(expansions[0]).toMatchObject({ content: "  light() {\n    return wick;", bytes: 28 });
      expect(expansions[0]?.section.section_id).toBe((await workspace.find("src/lamp.ts", "Lamp", "light")).section_id);
      const search = async (query: string) => {
        const found = await workspace.call<{
          readonly results: readonly { readonly heading_path: readonly string[]; readonly slice: string }[];
        }>("search", { query });
        return found.results.map(({ heading_path, slice }) => `${heading_path.join("/")} ${slice}`);
      };
      expect(await search("wick")).toEqual(["Lamp/light lines[0:3]"]);
      // What stands between definitions belongs to the file.
      expect(await search("harbour")).toEqual([" lines[3:7]"]);
    });

    it("are made again for changed files only, and as a full build makes them", async () => {
      const workspace = open(CODE);
      for (const { path, text } of CODE_SAMPLES) workspace.write(path, text);
      workspace.write("src/wide.js", `var a=[${"1,".repeat(6000)}];\n`);
      workspace.write("docs/a.md", "# A\n");
      await workspace.build();
      const unparsed = [{ file_path: "src/wide.js", code: "OUTLINE_TOO_COMPLEX" }];
      workspace.write("src/lamp.ts", LAMP);
      const built = await workspace.build();
      expect(built).toMatchObject({ changed: { added: 0, modified: 1, removed: 0 }, mode: "incremental" });
      expect(built.outline.unparsed).toEqual(unparsed);
      expect(await workspace.build()).toMatchObject({
        changed: { added: 0, modified: 0, removed: 0 },
        index_hash: built.index_hash,
        outline: { unparsed },
      });
      const exported = await workspace.lines("index-export");
      expect((await workspace.build({ full: true })).index_hash).toBe(built.index_hash);
      expect(await workspace.lines("index-export")).toBe(exported);
      expect(await workspace.sections("src/wide.js")).toHaveLength(1);
    });

    it("are not made of a file that is not in the language of its name, and the build names it", async () => {
      const workspace = open(CODE);
      workspace.write("src/odd.go", "a::\n".repeat(8));
      workspace.write("src/lamp.ts", LAMP);
      const built = await workspace.build();
      expect(built.outline.unparsed).toEqual([{ file_path: "src/odd.go", code: "OUTLINE_NOT_PARSED" }]);
      expect((await workspace.sections("src/odd.go")).map(({ heading_path }) => heading_path)).toEqual([[]]);
      expect((await workspace.find("src/lamp.ts", "Lamp")).section_id).toMatch(/^[0-9a-f]{64}$/);
    });

    it("are not there with the other outline, and go and come with it", async () => {
      const workspace = open(CODE);
      workspace.write("src/lamp.ts", LAMP);
      workspace.write("docs/a.md", "# A\n## B\n");
      const withCode = await workspace.build();
      expect(withCode).toMatchObject({ sections: 6 });
      workspace.configure({ context: { ...CODE.context, outline: "markdown" } });
      await workspace.reopen();
      const without = await workspace.build();
      expect(without).toMatchObject({ sections: 3, outline: { kind: "markdown", grammars: null } });
      expect(without.index_hash).toBe(sha256(await workspace.lines("index-export")));
      workspace.configure(CODE);
      await workspace.reopen();
      expect((await workspace.build()).index_hash).toBe(withCode.index_hash);
    });

    it("leave the hash of Markdown alone as it is", async () => {
      const workspace = open(CODE);
      workspace.write("docs/a.md", "# A\n## B\n");
      workspace.write("docs/b.txt", "x\n");
      const built = await workspace.build();
      expect(built.outline).toMatchObject({ kind: "markdown+code", grammars: null });
      expect(built.index_hash).toBe(sha256(await workspace.lines("index-export")));
    });

    it("have lines as files have them, whatever ends them", async () => {
      const workspace = open(CODE);
      workspace.write("a.ts", "\ufefffunction a() {\r\n  x();\r}\n\rfunction b() {}");
      await workspace.build();
      expect(await workspace.find("a.ts", "a")).toMatchObject({ line_start: 0, line_end: 3 });
      expect(await workspace.find("a.ts", "b")).toMatchObject({ line_start: 4, line_end: 5 });
      expect(await workspace.find("a.ts", "a")).toMatchObject({
        content_hash: sha256("\ufefffunction a() {\n  x();\n}\n"),
      });
    });

    it("of one name in two places are never guessed", async () => {
      const workspace = open(CODE);
      workspace.write("a.py", "def a(): pass\ndef b(): pass\ndef a(): pass\n");
      await workspace.build();
      const refused = await workspace.refusal("symbol-add", {
        symbol_id: "@CODE/A",
        heading: "a.py#a",
        slice: "head(1)",
      });
      expect(refused).toMatchObject({
        code: "HEADING_AMBIGUOUS",
        message: expect.stringContaining("lines 0..1, 2..3"),
      });
    });
  });

  describe("sources that no configuration names", () => {
    it("are the contract's where it has any, else the text files that git tracks", async () => {
      const workspace = open({});
      workspace.write("README.md", "# Harbour\n");
      expect(await workspace.build()).toMatchObject({ files: 0, sources: { rule: "contract", left_out: {} } });
      git(workspace, "init", "-q");
      expect(await workspace.build()).toMatchObject({ files: 0, sources: { rule: "git", left_out: {} } });
      git(workspace, "add", "README.md");
      workspace.write("untracked.md", "# No\n");
      const tracked = await workspace.build();
      expect(tracked).toMatchObject({
        files: 1,
        sections: 1,
        sources: { rule: "git" },
        outline: { kind: "markdown+code" },
      });
      expect(await workspace.call("index-status")).toMatchObject({
        sources: tracked.sources,
        outline: tracked.outline,
        stale: [],
      });
      workspace.write("LAW/CANON/law.md", "# Law\n");
      const contract = await workspace.build();
      expect(contract).toMatchObject({ files: 1, sources: { rule: "contract" }, outline: { kind: "markdown" } });
      expect((await workspace.sections()).map(({ file_path }) => file_path)).toEqual([
        "LAW/CANON/law.md",
        "LAW/CANON/law.md",
      ]);
      rmSync(workspace.place("LAW"), { recursive: true });
      expect((await workspace.build()).index_hash).toBe(tracked.index_hash);
    });

    it("leave out what is not text or not written here, and say how much and why", async () => {
      const workspace = open({ context: { exclude: ["old/**"], max_file_bytes: 100 } });
      git(workspace, "init", "-q");
      workspace.write("src/lamp.ts", LAMP.slice(0, 90));
      workspace.write("docs/guide.md", "# Guide\n");
      workspace.write("image.png", "x");
      workspace.write("blob.dat", Uint8Array.from([0x61, 0, 0x62]));
      workspace.write("latin.txt", Uint8Array.from([0x61, 0xe9, 0x0a]));
      workspace.write("package-lock.json", "{}\n");
      workspace.write("vendor/lib/x.js", "1\n");
      workspace.write("web/dist/x.js", "1\n");
      workspace.write("style.min.css", "a{}\n");
      workspace.write(".env", "LAMP=1\n");
      workspace.write("old/x.md", "# Old\n");
      workspace.write("long.md", "x".repeat(101));
      workspace.write("a\nb.md", "x\n");
      symlinkSync("docs/guide.md", workspace.place("link.md"));
      workspace.write("swapped.md", "x\n");
      workspace.write("gone.md", "x\n");
      git(workspace, "add", "-A", "-f", ".", ":!verbatim.config.json", ":!.verbatim");
      rmSync(workspace.place("gone.md"));
      rmSync(workspace.place("swapped.md"));
      symlinkSync("/etc/hostname", workspace.place("swapped.md"));
      const built = await workspace.build();
      expect(built.sources).toEqual({
        rule: "git",
        left_out: { binary: 3, excluded: 1, generated: 2, large: 1, link: 1, lock: 1, name: 1, secret: 1, vendored: 1 },
      });
      const paths = (await workspace.sections()).filter(({ heading_path }) => heading_path.length === 0);
      expect(paths.map(({ file_path }) => file_path)).toEqual(["docs/guide.md", "src/lamp.ts"]);
      for (const [path, about] of [
        ["src/lamp.ts", { source: true, rule: "git", tracked: true, left_out: null }],
        ["blob.dat", { source: false, tracked: true, left_out: "binary" }],
        ["latin.txt", { source: false, left_out: "binary" }],
        [".env", { source: false, left_out: "secret" }],
        ["long.md", { source: false, left_out: "large" }],
        ["swapped.md", { source: false, left_out: "link" }],
        ["link.md", { source: false, tracked: false }],
        ["old/x.md", { source: false, left_out: "excluded", exclude: ["old/**"] }],
        ["vendor/lib/x.js", { source: false, left_out: "vendored" }],
        ["nothing.md", { source: false, tracked: false, left_out: null }],
      ] as const) {
        expect(await workspace.call("index-explain", { path }), path).toMatchObject(about);
      }
      // What was binary and is text now is a source, and the other way round.
      workspace.write("latin.txt", "a\n");
      workspace.write("docs/guide.md", Uint8Array.from([0]));
      expect(await workspace.build()).toMatchObject({ files: 2, sources: { left_out: { binary: 3 } } });
      expect(await workspace.call("index-verify")).toMatchObject({ ok: true });
    });

    it("run nothing that a repository could name", async () => {
      const workspace = open({});
      git(workspace, "init", "-q");
      workspace.write("a.md", "# A\n");
      workspace.write("trap.sh", `#!/bin/sh\ntouch ${workspace.place("sprung")}\ncat\n`);
      chmodSync(workspace.place("trap.sh"), 0o755);
      workspace.write(".gitattributes", "* filter=trap\n");
      git(workspace, "add", "a.md", ".gitattributes");
      for (const [key, value] of [
        ["core.fsmonitor", "./trap.sh"],
        ["core.hooksPath", "."],
        ["filter.trap.clean", "./trap.sh"],
        ["filter.trap.smudge", "./trap.sh"],
        ["core.pager", "./trap.sh"],
      ] as const) {
        git(workspace, "config", key, value);
      }
      expect(await workspace.build()).toMatchObject({ files: 2, sources: { rule: "git" } });
      expect(() => rmSync(workspace.place("sprung"))).toThrow(/ENOENT/);
    });

    it("that git cannot list are an error, and the previous index stays", async () => {
      const workspace = open({});
      git(workspace, "init", "-q");
      workspace.write("a.md", "# A\n");
      git(workspace, "add", "a.md");
      await workspace.build();
      writeFileSync(workspace.place(".git/index"), "not an index at all");
      expect(await workspace.refusal("index-build")).toMatchObject({ code: "SOURCES_NOT_LISTED" });
      expect(await workspace.sections()).toHaveLength(2);
    });
  });
}
