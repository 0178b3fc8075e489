import { rmSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type ContextWorkspace, type OpenWorkspace, RULES, refusal } from "../support/context-workspace.ts";

/** Names for sections, and what happens to them when the files change. */
export function describeSymbols(open: OpenWorkspace): void {
  describe("symbols", () => {
    async function withRules(): Promise<ContextWorkspace> {
      const workspace = open();
      workspace.write("notes/rules.md", RULES);
      workspace.write("twice.md", "# A\n## B\none\n## B\ntwo\n");
      await workspace.build();
      return workspace;
    }

    it("point to files, headings and sections, and are shown with what they mean now", async () => {
      const workspace = await withRules();
      const limits = await workspace.find("notes/rules.md", "Rules", "Limits");
      const added = await workspace.call("symbol-add", {
        symbol_id: "@CANON/FILE",
        file: "notes/rules.md",
        slice: "head(2)",
      });
      expect(added).toEqual({
        symbol_id: "@CANON/FILE",
        target_type: "FILE",
        target_ref: "notes/rules.md",
        default_slice_policy: "head(2)",
      });
      await workspace.call("symbol-add", {
        symbol_id: "@CANON/LIMITS",
        heading: "notes/rules.md#Rules/Limits",
        slice: "lines[0:2]",
      });
      await workspace.call("symbol-add", { symbol_id: "@CANON/PIN", section: limits.section_id, slice: "tail(1)" });
      expect(await workspace.call("symbol-show", { symbol_id: "@CANON/LIMITS" })).toMatchObject({
        section: limits,
        problem: null,
      });
      expect(await workspace.call("section-show", { section_id: limits.section_id })).toEqual({
        ...limits,
        symbols: ["@CANON/LIMITS", "@CANON/PIN"],
      });
      const list = await workspace.call<{ symbol_id: string }[]>("symbol-list");
      expect(list.map(({ symbol_id }) => symbol_id)).toEqual(["@CANON/FILE", "@CANON/LIMITS", "@CANON/PIN"]);
      expect(await workspace.call("symbol-check")).toEqual({ ok: true, problems: [] });
    });

    it("are refused when the target does not resolve or the slice does not fit now", async () => {
      const workspace = await withRules();
      const add = (target: object, slice = "head(1)") =>
        workspace.refusal("symbol-add", { symbol_id: "@N/A", slice, ...target });
      expect(await add({ file: "other.md" })).toMatchObject({ code: "FILE_NOT_INDEXED" });
      expect(await add({ heading: "notes/rules.md#Rules/Tidse" })).toMatchObject({
        code: "HEADING_NOT_FOUND",
        details: { nearest: ["notes/rules.md#Rules/Tides"] },
      });
      const ambiguous = await add({ heading: "twice.md#A/B" });
      expect(ambiguous).toMatchObject({ code: "HEADING_AMBIGUOUS" });
      expect(ambiguous.message).toContain("lines 1..3, 3..5");
      expect(ambiguous.details?.["candidates"]).toHaveLength(2);
      expect(await add({ section: "0".repeat(64) })).toMatchObject({ code: "SECTION_NOT_FOUND" });
      expect(await add({ file: "notes/rules.md" }, "head(7)")).toMatchObject({
        code: "SLICE_OUT_OF_BOUNDS",
        message: "head(7) asks for 7 lines, @N/A has 6. Use head(6).",
        details: { lines: 6, chars: RULES.length, suggested_slice: "head(6)" },
      });
      expect(await add({ file: "notes/rules.md" }, "ALL")).toMatchObject({ code: "SLICE_UNBOUNDED", exit: 2 });
      expect(await add({})).toMatchObject({ code: "USAGE" });
      expect(await add({ file: "notes/rules.md", heading: "x#y" })).toMatchObject({ code: "USAGE" });
      expect(await workspace.call("symbol-list")).toEqual([]);
      expect((await workspace.changes()).map(({ kind }) => kind)).toEqual(["INDEX_BUILT"]);
    });

    it("are added once, replaced and removed, and every change is in the ledger", async () => {
      const workspace = await withRules();
      const symbol = {
        symbol_id: "@CANON/R",
        target_type: "FILE",
        target_ref: "notes/rules.md",
        default_slice_policy: "head(2)",
      };
      const input = { symbol_id: "@CANON/R", file: "notes/rules.md", slice: "head(2)" };
      await workspace.call("symbol-add", input);
      expect(await workspace.call("symbol-add", input)).toEqual({ ...symbol, existing: true });
      const exists = await workspace.refusal("symbol-add", { ...input, slice: "head(3)" });
      expect(exists).toMatchObject({ code: "SYMBOL_EXISTS", exit: 1, details: { symbol } });
      expect(exists.fix).toContain("symbol replace @CANON/R");
      const next = { ...symbol, default_slice_policy: "head(3)" };
      expect(await workspace.call("symbol-replace", { ...input, slice: "head(3)" })).toEqual(next);
      expect(await workspace.call("symbol-replace", { ...input, slice: "head(3)" })).toEqual({
        ...next,
        existing: true,
      });
      expect(await workspace.call("symbol-remove", { symbol_id: "@CANON/R" })).toEqual(next);
      expect(await workspace.refusal("symbol-remove", { symbol_id: "@CANON/R" })).toMatchObject({
        code: "SYMBOL_UNKNOWN",
      });
      expect(await workspace.refusal("symbol-replace", input)).toMatchObject({ code: "SYMBOL_UNKNOWN" });
      expect((await workspace.changes()).slice(1)).toEqual([
        { kind: "SYMBOL_ADDED", actor: "library", body: symbol },
        { kind: "SYMBOL_REPLACED", actor: "library", body: { new: next, old: symbol } },
        { kind: "SYMBOL_REMOVED", actor: "library", body: next },
      ]);
    });

    it("that are unknown come with up to three nearest ids", async () => {
      const workspace = await withRules();
      for (const name of ["RULES", "RULER", "RULED", "TIDES"]) {
        await workspace.call("symbol-add", { symbol_id: `@CANON/${name}`, file: "notes/rules.md", slice: "head(1)" });
      }
      expect(await workspace.refusal("expand", { refs: ["@CANON/RULEX"] })).toMatchObject({
        code: "SYMBOL_UNKNOWN",
        details: { nearest: ["@CANON/RULED", "@CANON/RULER", "@CANON/RULES"] },
      });
    });

    it("stay when the index is rebuilt without their target, are listed by check and work again later", async () => {
      const workspace = await withRules();
      await workspace.call("symbol-add", {
        symbol_id: "@CANON/LIMITS",
        heading: "notes/rules.md#Rules/Limits",
        slice: "head(2)",
      });
      await workspace.call("symbol-add", { symbol_id: "@CANON/RULES", file: "notes/rules.md", slice: "head(6)" });
      const before = await workspace.lines("symbol-export");
      workspace.write("notes/rules.md", "# Rules\n");
      await workspace.build();
      await workspace.call("index-verify");
      expect(await workspace.lines("symbol-export")).toBe(before);
      expect(await workspace.call("symbol-check")).toMatchObject({
        ok: false,
        problems: [
          { symbol_id: "@CANON/LIMITS", code: "HEADING_NOT_FOUND" },
          { symbol_id: "@CANON/RULES", code: "SLICE_OUT_OF_BOUNDS" },
        ],
      });
      expect(await workspace.call("symbol-show", { symbol_id: "@CANON/LIMITS" })).toMatchObject({
        section: null,
        problem: { code: "HEADING_NOT_FOUND" },
      });
      rmSync(workspace.place("notes/rules.md"));
      await workspace.build({ full: true });
      expect(await workspace.refusal("expand", { refs: ["@CANON/RULES"] })).toMatchObject({ code: "FILE_NOT_INDEXED" });
      workspace.write("notes/rules.md", RULES);
      await workspace.build();
      expect(await workspace.call("symbol-check")).toEqual({ ok: true, problems: [] });
    });

    it("that pin say where they pointed, and are pinned again when one section stands there", async () => {
      const workspace = await withRules();
      const limits = await workspace.find("notes/rules.md", "Rules", "Limits");
      await workspace.call("symbol-add", { symbol_id: "@CANON/PIN", section: limits.section_id, slice: "head(1)" });
      workspace.write("notes/rules.md", `one line above\n${RULES}`);
      await workspace.build();
      const stale = await workspace.refusal("expand", { refs: ["@CANON/PIN"] });
      expect(stale).toMatchObject({
        code: "SECTION_NOT_FOUND",
        message: "@CANON/PIN pins a section of notes/rules.md (Rules/Limits, lines 2..4) whose content has changed",
        fix: "To pin the new content: verbatim symbol repin @CANON/PIN",
      });
      const moved = await workspace.find("notes/rules.md", "Rules", "Limits");
      expect(moved.content_hash).toBe(limits.content_hash);
      expect(await workspace.call("symbol-repin", { symbol_id: "@CANON/PIN" })).toMatchObject({
        target_ref: moved.section_id,
      });
      expect((await workspace.ledger()).at(-1)?.kind).toBe("SYMBOL_REPLACED");
      await workspace.call("expand", { refs: ["@CANON/PIN"] });
    });

    it("that cannot be pinned again alone list the candidates and stay", async () => {
      const workspace = await withRules();
      const first = (await workspace.sections("twice.md"))[2]!;
      await workspace.call("symbol-add", { symbol_id: "@T/B", section: first.section_id, slice: "head(1)" });
      workspace.write("twice.md", "# A\n## B\nnew\n## B\ntwo\n");
      await workspace.build();
      const sections = await workspace.sections("twice.md");
      const ambiguous = await workspace.refusal("symbol-repin", { symbol_id: "@T/B" });
      expect(ambiguous).toMatchObject({
        code: "HEADING_AMBIGUOUS",
        exit: 1,
        details: { file_path: "twice.md", candidates: [sections[2]!.section_id, sections[3]!.section_id] },
      });
      expect(ambiguous.message).toContain(`${sections[3]!.section_id} (A/B, lines 3..5)`);
      expect(await workspace.call("symbol-repin", { symbol_id: "@T/B", to: sections[3]!.section_id })).toMatchObject({
        target_ref: sections[3]!.section_id,
      });
      workspace.write("twice.md", "# A\nnothing\n");
      await workspace.build();
      const [whole] = await workspace.sections("twice.md");
      const gone = await workspace.refusal("symbol-repin", { symbol_id: "@T/B" });
      expect(gone).toMatchObject({ code: "HEADING_NOT_FOUND", exit: 1 });
      expect(gone.details?.["candidates"]).toContain(whole!.section_id);
      rmSync(workspace.place("twice.md"));
      await workspace.build();
      expect(await workspace.refusal("symbol-repin", { symbol_id: "@T/B" })).toMatchObject({
        code: "FILE_NOT_INDEXED",
      });
      await workspace.call("symbol-add", { symbol_id: "@T/FILE", file: "notes/rules.md", slice: "head(1)" });
      expect(await workspace.refusal("symbol-repin", { symbol_id: "@T/FILE" })).toMatchObject({
        code: "SYMBOL_INVALID",
        exit: 2,
      });
    });

    it("travel as JSON Lines, and an import is all or nothing", async () => {
      const workspace = await withRules();
      const line = (id: string, ref: string, slice = "head(1)") =>
        `{"default_slice_policy":"${slice}","symbol_id":"${id}","target_ref":"${ref}","target_type":"FILE"}\n`;
      const file = workspace.place("symbols.jsonl");
      const imported = (text: string) => {
        writeFileSync(file, text);
        return workspace.call("symbol-import", { file });
      };
      const good = line("@B/B", "notes/rules.md") + line("@A/A", "twice.md");
      for (const [text, code, where] of [
        [good + line("@C/C", "missing.md"), "FILE_NOT_INDEXED", "missing.md"],
        [good + line("@C/C", "twice.md", "head(99)"), "SLICE_OUT_OF_BOUNDS", undefined],
        [good + line("@c/C", "twice.md"), "SYMBOL_SYNTAX", `${file}:3 /symbol_id`],
        [good + line("@A/A", "twice.md"), "SYMBOL_EXISTS", `${file}:3`],
        [`${good}{"symbol_id":1`, "JSON_SYNTAX", undefined],
        [`${good}\n`, "JSON_SYNTAX", undefined],
        [`\ufeff${good}`, "JSON_BOM", undefined],
      ] as const) {
        const refused = await refusal(imported(text));
        expect(refused.code, text).toBe(code);
        if (where !== undefined) expect(refused.where).toBe(where);
        expect(await workspace.lines("symbol-export")).toBe("");
      }
      expect(await imported(good)).toEqual({ added: 2, existing: 0 });
      expect(await workspace.lines("symbol-export")).toBe(line("@A/A", "twice.md") + line("@B/B", "notes/rules.md"));
      expect(await imported(good)).toEqual({ added: 0, existing: 2 });
      expect(await refusal(imported(line("@D/D", "twice.md") + line("@A/A", "twice.md", "tail(1)")))).toMatchObject({
        code: "SYMBOL_EXISTS",
      });
      expect(await workspace.call("symbol-list")).toHaveLength(2);
      // What is there already stays as it is, whatever became of its target.
      rmSync(workspace.place("twice.md"));
      await workspace.build();
      expect(await imported(good)).toEqual({ added: 0, existing: 2 });
      expect((await workspace.changes()).map(({ kind }) => kind)).toEqual([
        "INDEX_BUILT",
        "SYMBOL_ADDED",
        "SYMBOL_ADDED",
        "INDEX_BUILT",
      ]);
    });
  });
}
