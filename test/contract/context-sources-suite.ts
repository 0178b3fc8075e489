import { createHash } from "node:crypto";
import { symlinkSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { OpenWorkspace } from "../support/context-workspace.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** Which files are sources, and what is said about those that cannot be. */
export function describeSources(open: OpenWorkspace): void {
  describe("sources that cannot be indexed", () => {
    it("are all named in path order, and the previous index stays", async () => {
      const workspace = open({ context: { sources: ["**/*"], exclude: ["*.json"], max_file_bytes: 20 } });
      workspace.write("good.md", "# Good\n");
      const before = await workspace.build();
      workspace.write("z.md", Uint8Array.from([0x61, 0x0a, 0xff]));
      workspace.write("b/long.md", "123456789012345678901");
      workspace.write("a/.env", "LAMP=1\n");
      workspace.write("a\nb.md", "x");
      symlinkSync("nowhere", workspace.place("dangling.md"));
      symlinkSync("/etc/hostname", workspace.place("outside.md"));
      const refused = await workspace.refusal("index-build");
      expect(refused).toMatchObject({ code: "INDEX_SOURCES_INVALID", exit: 1 });
      expect(refused.details).toEqual({
        problems: [
          { code: "SOURCE_PATH_INVALID", file_path: "a\nb.md" },
          { code: "SOURCE_SECRET", file_path: "a/.env" },
          { code: "SOURCE_TOO_LARGE", file_path: "b/long.md", bytes: 21, limit: 20 },
          { code: "SOURCE_UNREADABLE", file_path: "dangling.md" },
          { code: "SOURCE_LINK_OUTSIDE", file_path: "outside.md" },
          { code: "SOURCE_NOT_UTF8", file_path: "z.md", byte_offset: 2 },
        ],
      });
      expect(await workspace.sections()).toHaveLength(2);
      expect(sha256(await workspace.lines("index-export"))).toBe(before.index_hash);
      expect((await workspace.changes()).map(({ kind }) => kind)).toEqual(["INDEX_BUILT"]);
      workspace.configure({
        context: { sources: ["**/*"], exclude: ["*.json", "**/*.md"], secrets: { allow: ["a/.env"] } },
      });
      await workspace.reopen();
      expect(await workspace.build()).toMatchObject({ files: 1 });
    });

    it("are explained one by one", async () => {
      const workspace = open({
        context: { sources: ["*.md", "notes/**/*"], exclude: ["notes/old/**"], max_file_bytes: 20 },
      });
      workspace.write("a.md", "# A\n");
      workspace.write("bad.md", Uint8Array.from([0xff]));
      workspace.write("long.md", "123456789012345678901");
      workspace.write("notes/old/x.md", "x");
      workspace.write("notes/key.pem", "x");
      symlinkSync("notes/key.pem", workspace.place("innocent.md"));
      symlinkSync("a.md", workspace.place("inside.md"));
      symlinkSync("/etc/hostname", workspace.place("outside.md"));
      symlinkSync("old", workspace.place("notes/link"));
      const explain = (path: string) => workspace.call("index-explain", { path });
      expect(await explain("a.md")).toEqual({
        file_path: "a.md",
        source: true,
        rule: "configuration",
        sources: ["*.md"],
        exclude: [],
        tracked: null,
        left_out: null,
        problem: null,
      });
      expect(await explain("inside.md")).toMatchObject({ source: true, problem: null });
      expect(await explain("b.txt")).toMatchObject({ source: false, sources: [], exclude: [], problem: null });
      expect(await explain("notes/old/x.md")).toMatchObject({
        source: false,
        sources: ["notes/**/*"],
        exclude: ["notes/old/**"],
      });
      expect(await explain("notes/.git/config")).toMatchObject({ source: false, exclude: ["**/.git/**"] });
      for (const [path, problem] of [
        ["bad.md", "SOURCE_NOT_UTF8"],
        ["long.md", "SOURCE_TOO_LARGE"],
        ["notes/key.pem", "SOURCE_SECRET"],
        ["innocent.md", "SOURCE_SECRET"],
        ["outside.md", "SOURCE_LINK_OUTSIDE"],
        ["missing.md", "SOURCE_UNREADABLE"],
        ["line\nbreak.md", "SOURCE_PATH_INVALID"],
        ["notes/link/x.md", "SOURCE_NOT_REGULAR"],
        ["notes/old", "SOURCE_NOT_REGULAR"],
      ] as const) {
        expect(await explain(path), path).toMatchObject({ source: false, problem });
      }
    });

    it("do not include links to files inside, and links to folders are listed, not entered", async () => {
      const workspace = open({ context: { sources: ["docs/**/*.md", "linked/**/*.md"] } });
      workspace.write("docs/a.md", "# A\n");
      workspace.write("elsewhere/b.md", "# B\n");
      symlinkSync("../elsewhere/b.md", workspace.place("docs/b.md"));
      symlinkSync("../elsewhere", workspace.place("docs/folder"));
      symlinkSync("elsewhere", workspace.place("linked"));
      symlinkSync(".", workspace.place("docs/loop"));
      const built = await workspace.build();
      expect(built).toMatchObject({ files: 2, empty_globs: ["linked/**/*.md"] });
      expect(built.skipped_links).toEqual(["docs/folder", "docs/loop", "linked"]);
      workspace.write("elsewhere/b.md", "# B2\n");
      expect(await workspace.build()).toMatchObject({ changed: { added: 0, modified: 1, removed: 0 } });
    });

    it("are not reported from a folder that is excluded as a whole", async () => {
      const workspace = open({ context: { sources: ["**/*.md"] } });
      workspace.write("a.md", "# A\n");
      workspace.write("x/node_modules/bad.md", Uint8Array.from([0xff]));
      workspace.write(".git/bad.md", Uint8Array.from([0xff]));
      workspace.write("sub/.verbatim/bad.md", Uint8Array.from([0xff]));
      expect(await workspace.build()).toMatchObject({ files: 1 });
    });
  });
}
