import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type OpenWorkspace, RULES } from "../support/context-workspace.ts";

const sha256 = (text: string | Uint8Array) => createHash("sha256").update(text).digest("hex");

/** Building, verifying, describing and writing out the index. */
export function describeIndex(open: OpenWorkspace): void {
  describe("the index", () => {
    it("is missing before the first build, and says which command makes it", async () => {
      const workspace = open();
      for (const [name, input] of [
        ["index-verify", {}],
        ["index-status", {}],
        ["section-list", {}],
        ["search", { query: "boats" }],
        ["expand", { refs: ["0".repeat(64)], slice: "head(1)" }],
      ] as const) {
        expect(await workspace.refusal(name, input)).toMatchObject({
          code: "INDEX_MISSING",
          exit: 1,
          fix: "Build it: verbatim index build",
        });
      }
    });

    it("has file sections and heading sections in the order of the contract, each line canonical", async () => {
      const workspace = open();
      workspace.write("notes/rules.md", RULES);
      workspace.write("notes-b.md", "text\n");
      workspace.write("notes/a.sql", "# not a heading\n");
      const built = await workspace.build();
      const file = (path: string, from: number, to: number, heading: string[], content: string) => {
        const hash = sha256(content);
        const id = sha256(`${path}:${from}:${to}:${hash}`);
        return `{"content_hash":"${hash}","file_path":"${path}","heading_path":${JSON.stringify(heading)},"line_end":${to},"line_start":${from},"section_id":"${id}"}\n`;
      };
      const expected = [
        file("notes-b.md", 0, 1, [], "text\n"),
        file("notes/a.sql", 0, 1, [], "# not a heading\n"),
        file("notes/rules.md", 0, 6, [], RULES),
        file("notes/rules.md", 0, 6, ["Rules"], RULES),
        file("notes/rules.md", 2, 4, ["Rules", "Limits"], "## Limits\nAt most five boats.\n"),
        file("notes/rules.md", 4, 6, ["Rules", "Tides"], "## Tides\nLow at noon.\n"),
      ].join("");
      expect(await workspace.lines("index-export")).toBe(expected);
      expect(built).toEqual({
        index_hash: sha256(expected),
        files: 3,
        // The file and its first heading share an id; counting sections counts ids.
        sections: 5,
        changed: { added: 3, modified: 0, removed: 0 },
        mode: "full",
        empty_globs: [],
        skipped_links: [],
        sources: { rule: "configuration", left_out: {} },
        outline: { kind: "markdown", grammars: null, missing: null, unparsed: [] },
      });
    });

    it("is the empty file when nothing is selected, and names the globs that match nothing", async () => {
      const workspace = open({ context: { sources: ["LAW/**/*.md", "notes/*.md"] } });
      const built = await workspace.build();
      expect(built).toMatchObject({ index_hash: sha256(""), files: 0, sections: 0 });
      expect(built.empty_globs).toEqual(["LAW/**/*.md", "notes/*.md"]);
      expect(await workspace.lines("index-export")).toBe("");
    });

    it("counts what came, changed and went, and records a build only when the hash changed", async () => {
      const workspace = open();
      workspace.write("a.md", "# A\n");
      workspace.write("b.md", "# B\n");
      await workspace.build();
      workspace.write("a.md", "# A\r\n");
      expect(await workspace.build()).toMatchObject({
        mode: "incremental",
        changed: { added: 0, modified: 0, removed: 0 },
      });
      workspace.write("a.md", "# A2\n");
      workspace.write("c.md", "# C\n");
      rmSync(workspace.place("b.md"));
      const built = await workspace.build();
      expect(built).toMatchObject({ mode: "incremental", files: 2, changed: { added: 1, modified: 1, removed: 1 } });
      const kinds = await workspace.ledger();
      expect(kinds.map(({ kind }) => kind)).toEqual(["INDEX_BUILT", "INDEX_BUILT"]);
      expect(kinds[1]).toEqual({
        kind: "INDEX_BUILT",
        actor: "library",
        body: { index_hash: built.index_hash, files: 2, sections: 2 },
      });
    });

    it("follows a changed configuration without reading more than the new list", async () => {
      const workspace = open();
      workspace.write("a.md", "# A\n");
      workspace.write("notes/b.md", "# B\n");
      await workspace.build();
      workspace.configure({ context: { sources: ["**/*.md"], exclude: ["notes/**"] } });
      await workspace.reopen();
      expect(await workspace.build()).toMatchObject({ files: 1, changed: { added: 0, modified: 0, removed: 1 } });
      workspace.configure({ context: { sources: ["**/*.md"] } });
      await workspace.reopen();
      expect(await workspace.build()).toMatchObject({ files: 2, changed: { added: 1, modified: 0, removed: 0 } });
    });

    it("verifies, and names what was added, removed and changed without changing anything", async () => {
      const workspace = open();
      workspace.write("a.md", "# A\n");
      workspace.write("b.md", "# B\n");
      const built = await workspace.build();
      const before = await workspace.lines("index-export");
      expect(await workspace.call("index-verify")).toEqual({
        ok: true,
        index_hash: built.index_hash,
        actual_hash: built.index_hash,
        added: [],
        removed: [],
        changed: [],
      });
      workspace.write("a.md", "# X\n");
      workspace.write("c.md", "# C\n");
      rmSync(workspace.place("b.md"));
      const verdict = await workspace.call<{ actual_hash: string }>("index-verify");
      expect(verdict).toMatchObject({
        ok: false,
        index_hash: built.index_hash,
        added: ["c.md"],
        removed: ["b.md"],
        changed: ["a.md"],
      });
      expect(await workspace.lines("index-export")).toBe(before);
      expect((await workspace.build()).index_hash).toBe(verdict.actual_hash);
    });

    it("says what is stale and which symbols would fail", async () => {
      const workspace = open();
      workspace.write("a.md", "# A\none\n");
      workspace.write("b.md", "# B\n");
      workspace.write("c.md", "# C\n");
      await workspace.build();
      await workspace.call("symbol-add", { symbol_id: "@NOTES/A", file: "a.md", slice: "lines[0:2]" });
      workspace.clock.advance(61_000);
      expect(await workspace.call("index-status")).toMatchObject({
        age_ms: 61_000,
        files: 3,
        stale: [],
        symbol_problems: [],
      });
      workspace.write("a.md", "# A\n");
      rmSync(workspace.place("b.md"));
      workspace.write("d.md", "# D\n");
      expect(await workspace.call("index-status")).toMatchObject({
        stale: ["a.md", "b.md", "d.md"],
        symbol_problems: [{ symbol_id: "@NOTES/A", code: "CONTENT_HASH_MISMATCH" }],
      });
    });

    it("is written to a file in one piece, also over an older one", async () => {
      const workspace = open();
      workspace.write("a.md", "# A\n");
      const built = await workspace.build();
      const out = workspace.place("out.jsonl");
      writeFileSync(out, "older and much longer than what comes now".repeat(100));
      expect(await workspace.call("index-export", { out })).toEqual({
        path: out,
        index_hash: built.index_hash,
        sections: 1,
      });
      expect(sha256(readFileSync(out))).toBe(built.index_hash);
      expect(readdirSync(workspace.root).filter((name) => name.endsWith(".tmp"))).toEqual([]);
    });
  });
}
