import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Section } from "../../src/rooms/context/contracts/index.ts";
import {
  type Built,
  type ContextWorkspace,
  type Expanded,
  type OpenWorkspace,
  RULES,
} from "../support/context-workspace.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** Reading out slices, and listing what could be read. */
export function describeExpanding(open: OpenWorkspace): void {
  describe("expanding", () => {
    async function withSymbols(): Promise<{ workspace: ContextWorkspace; limits: Section }> {
      const workspace = open();
      workspace.write("notes/rules.md", RULES);
      workspace.write("crlf.md", "# A\r\nfive \u{1f600} boats\r\n");
      await workspace.build();
      await workspace.call("symbol-add", { symbol_id: "@CANON/RULES", file: "notes/rules.md", slice: "head(2)" });
      await workspace.call("symbol-add", {
        symbol_id: "@CANON/LIMITS",
        heading: "notes/rules.md#Rules/Limits",
        slice: "lines[1:2]",
      });
      return { workspace, limits: await workspace.find("notes/rules.md", "Rules", "Limits") };
    }

    it("gives the exact text, its hash, the section and a stored payload, and records it without the text", async () => {
      const { workspace, limits } = await withSymbols();
      const run_id = "11111111-2222-4333-8444-555555555555";
      const done = await workspace.call<Expanded>("expand", { refs: ["@CANON/LIMITS"], run_id });
      const content = "At most five boats.";
      const expansion = {
        run_id,
        symbol_or_section_id: "@CANON/LIMITS",
        slice: "lines[1:2]",
        content_hash: sha256(content),
        payload_ref: `sha256:${sha256(content)}`,
      };
      expect(done).toEqual({
        run_id,
        expansions: [{ expansion, section: limits, content, bytes: 19 }],
        budget: {
          used: { max_symbols: 1, max_sections: 1, max_bytes_expanded: 19, max_expands_per_step: 1 },
          limits: { max_symbols: 10, max_sections: 5, max_bytes_expanded: 10_000, max_expands_per_step: 3 },
        },
      });
      expect((await workspace.ledger()).at(-1)).toEqual({ kind: "EXPANSION", actor: "library", body: expansion });
      const made = await workspace.call<Expanded>("expand", { refs: [limits.section_id], slice: "chars[0:9]" });
      expect(made.run_id).toMatch(/^[0-9a-f-]{36}$/);
      expect(made.expansions[0]?.content).toBe("## Limits");
    });

    it("counts code points and folds line ends", async () => {
      const { workspace } = await withSymbols();
      const [whole] = await workspace.sections("crlf.md");
      const read = async (slice: string) =>
        (await workspace.call<Expanded>("expand", { refs: [whole!.section_id], slice })).expansions[0];
      expect((await read("lines[0:2]"))?.content).toBe("# A\nfive \u{1f600} boats");
      expect(await read("chars[9:10]")).toMatchObject({ content: "\u{1f600}", bytes: 4 });
      expect(whole!.content_hash).toBe(sha256("# A\nfive \u{1f600} boats\n"));
    });

    it("refuses every slice that is not exactly one, and leaves nothing but the record of the refusal", async () => {
      const { workspace, limits } = await withSymbols();
      const before = await workspace.ledger();
      for (const [slice, code] of [
        ["ALL", "SLICE_UNBOUNDED"],
        [" all\n", "SLICE_UNBOUNDED"],
        ["lines[0:1] ", "SLICE_SYNTAX"],
        ["lines[00:1]", "SLICE_SYNTAX"],
        ["head(\u0661)", "SLICE_SYNTAX"],
        ["lines[1:1]", "SLICE_EMPTY"],
        ["head(0)", "SLICE_EMPTY"],
        ["lines[0:3]", "SLICE_OUT_OF_BOUNDS"],
        ["lines[9007199254740992:9007199254740993]", "SLICE_OUT_OF_BOUNDS"],
        [undefined, "SLICE_REQUIRED"],
      ] as const) {
        const input = { refs: [limits.section_id], ...(slice === undefined ? {} : { slice }) };
        const refused = await workspace.refusal("expand", input);
        expect(refused.code, String(slice)).toBe(code);
        expect(refused.exit).toBe(code === "SLICE_OUT_OF_BOUNDS" ? 1 : 2);
        expect(refused.message + refused.fix).toMatch(/lines\[a:b\]|lines\[0:2\]/);
      }
      const after = await workspace.ledger();
      expect(after.slice(0, before.length)).toEqual(before);
      expect(new Set(after.slice(before.length).map(({ kind }) => kind))).toEqual(new Set(["REFUSED"]));
      expect(after.length).toBe(before.length + 10);
    });

    it("refuses what is no ref, and refs the index does not have", async () => {
      const { workspace, limits } = await withSymbols();
      for (const [ref, code] of [
        ["@CANON", "SYMBOL_SYNTAX"],
        // Whatever is neither a symbol nor an id is the address of a file.
        ["rules.md", "FILE_NOT_INDEXED"],
        [limits.section_id.toUpperCase(), "FILE_NOT_INDEXED"],
        ["0".repeat(64), "SECTION_NOT_FOUND"],
        ["@CANON/NONE", "SYMBOL_UNKNOWN"],
      ] as const) {
        expect(await workspace.refusal("expand", { refs: ["@CANON/RULES", ref], slice: "head(1)" })).toMatchObject({
          code,
        });
      }
    });

    it("fails for a file that changed since it was indexed, and says what to do", async () => {
      const { workspace } = await withSymbols();
      await workspace.call("expand", { refs: ["@CANON/RULES"] });
      workspace.write("notes/rules.md", RULES.replace("five", "four"));
      const expected = sha256(RULES);
      const actual = sha256(RULES.replace("five", "four"));
      expect(await workspace.refusal("expand", { refs: ["@CANON/RULES"] })).toMatchObject({
        code: "CONTENT_HASH_MISMATCH",
        exit: 1,
        fix: "Build the index again: verbatim index build",
        details: { file_path: "notes/rules.md", expected, actual },
      });
      workspace.write("notes/rules.md", Uint8Array.from([0xff]));
      expect(await workspace.refusal("expand", { refs: ["@CANON/RULES"] })).toMatchObject({
        code: "CONTENT_HASH_MISMATCH",
      });
      rmSync(workspace.place("notes/rules.md"));
      expect(await workspace.refusal("expand", { refs: ["@CANON/RULES"] })).toMatchObject({ code: "FILE_MISSING" });
      workspace.write("notes/rules.md", `${RULES}more\n`);
      const { expansions } = await workspace.call<Expanded>("expand", {
        refs: ["@CANON/RULES"],
        slice: "tail(1)",
        refresh: true,
      });
      expect(expansions.map(({ content }) => content)).toEqual(["more"]);
    });

    it("charges everything before anything is stored; a breach names what was used, the limit and the flag", async () => {
      const { workspace, limits } = await withSymbols();
      const before = await workspace.ledger();
      const breach = (input: object) => workspace.refusal("expand", { slice: "head(1)", ...input });
      const refs = ["@CANON/RULES", "@CANON/LIMITS", limits.section_id, "@CANON/RULES"];
      expect(await breach({ refs })).toMatchObject({
        code: "BUDGET_EXPANDS",
        exit: 1,
        details: { ordinal: 4, breaches: [{ budget: "max_expands_per_step", limit: 3, used: 4 }] },
      });
      expect(await breach({ refs, max_symbols: 1, max_expands: 9 })).toMatchObject({
        code: "BUDGET_SYMBOLS",
        details: { ordinal: 1 },
      });
      expect(await breach({ refs, max_sections: 1, max_expands: 9 })).toMatchObject({
        code: "BUDGET_SECTIONS",
        details: { ordinal: 2 },
      });
      // What comes after a breach is not looked at: the second ref has no third line.
      expect(await breach({ refs, slice: "lines[0:3]", max_symbols: 1 })).toMatchObject({ code: "BUDGET_SYMBOLS" });
      const bytes = await breach({ refs, max_bytes: 16, max_expands: 9 });
      expect(bytes).toMatchObject({ code: "BUDGET_BYTES", details: { ordinal: 3 } });
      expect(bytes.message).toContain("25 used, 16 allowed");
      expect(bytes.fix).toContain("--max-bytes 25");
      const refused = await workspace.ledger();
      expect(refused.slice(before.length).map(({ kind }) => kind)).toEqual(Array(5).fill("REFUSED"));
      const done = await workspace.call<Expanded>("expand", {
        refs,
        slice: "head(1)",
        max_symbols: 2,
        max_sections: 2,
        max_bytes: 32,
        max_expands: 4,
      });
      expect(done.budget.used).toEqual({
        max_symbols: 2,
        max_sections: 2,
        max_bytes_expanded: 32,
        max_expands_per_step: 4,
      });
      expect((await workspace.ledger()).length).toBe(refused.length + 4);
    });

    it("cannot be done to an empty file", async () => {
      const { workspace } = await withSymbols();
      workspace.write("empty.md", "");
      await workspace.build();
      const [empty] = await workspace.sections("empty.md");
      expect(empty).toMatchObject({ line_start: 0, line_end: 0, lines: 0, bytes: 0 });
      expect(await workspace.refusal("expand", { refs: [empty!.section_id], slice: "lines[0:1]" })).toMatchObject({
        code: "SLICE_OUT_OF_BOUNDS",
        details: { lines: 0, chars: 0, suggested_slice: null },
      });
    });
  });

  describe("listing sections", () => {
    it("tells sizes from the index alone, whatever happened to the files", async () => {
      const workspace = open();
      workspace.write("notes/rules.md", RULES);
      workspace.write("a.md", "caf\u00e9\n");
      await workspace.build();
      workspace.write("a.md", "changed and longer\n");
      rmSync(workspace.place("notes/rules.md"));
      const listed = await workspace.sections();
      expect(listed.map(({ file_path, lines, bytes }) => [file_path, lines, bytes])).toEqual([
        ["a.md", 1, 6],
        ["notes/rules.md", 6, 69],
        ["notes/rules.md", 6, 69],
        ["notes/rules.md", 2, 30],
        ["notes/rules.md", 2, 22],
      ]);
      expect((await workspace.sections("notes/")).length).toBe(4);
      const tides = await workspace.call<Section[]>("section-list", { heading: "Tid" });
      expect(tides.map(({ heading_path }) => heading_path)).toEqual([["Rules", "Tides"]]);
      expect(await workspace.refusal("section-list", { path: "note" })).toMatchObject({ code: "FILE_NOT_INDEXED" });
      expect(await workspace.refusal("section-show", { section_id: "0".repeat(64) })).toMatchObject({
        code: "SECTION_NOT_FOUND",
        fix: "See the full ids: verbatim section list --full",
      });
    });

    it("takes an id as tables print it, and records it in full", async () => {
      const workspace = open();
      workspace.write("notes/rules.md", RULES);
      await workspace.build();
      const limits = await workspace.find("notes/rules.md", "Rules", "Limits");
      const short = limits.section_id.slice(0, 12);
      const done = await workspace.call<Expanded>("expand", { refs: [short], slice: "chars[0:9]" });
      expect(done.expansions[0]).toMatchObject({
        content: "## Limits",
        expansion: { symbol_or_section_id: limits.section_id },
      });
      expect((await workspace.ledger()).at(-1)).toMatchObject({ body: { symbol_or_section_id: limits.section_id } });
      expect(await workspace.call("section-show", { section_id: short })).toMatchObject(limits);
      const symbol = { symbol_id: "@CANON/PIN", section: limits.section_id.slice(0, 20), slice: "head(1)" };
      expect(await workspace.call("symbol-add", symbol)).toMatchObject({ target_ref: limits.section_id });
      expect(await workspace.refusal("expand", { refs: [short] })).toMatchObject({ code: "SLICE_REQUIRED" });
      for (const [ref, code] of [
        ["0".repeat(63), "SECTION_NOT_FOUND"],
        [limits.section_id.slice(0, 3), "FILE_NOT_INDEXED"],
        [short.toUpperCase(), "FILE_NOT_INDEXED"],
        [`${limits.section_id}0`, "FILE_NOT_INDEXED"],
      ] as const) {
        expect(await workspace.refusal("expand", { refs: [ref], slice: "head(1)" })).toMatchObject({ code });
      }
    });

    it("refuses the beginning of several ids, and lists them", async () => {
      const workspace = open();
      // Of so many ids some begin with the same four digits.
      workspace.write("many.md", Array.from({ length: 1500 }, (_, i) => `# H${i}\n`).join(""));
      await workspace.build();
      const ids = [...new Set((await workspace.sections("many.md")).map(({ section_id }) => section_id))].sort();
      const digits = ids.find((id, i) => ids[i + 1]?.startsWith(id.slice(0, 4)))!.slice(0, 4);
      const candidates = ids.filter((id) => id.startsWith(digits));
      for (const [name, input] of [
        ["expand", { refs: [digits], slice: "head(1)" }],
        ["section-show", { section_id: digits }],
        ["symbol-add", { symbol_id: "@N/A", section: digits, slice: "head(1)" }],
      ] as const) {
        expect(await workspace.refusal(name, input)).toMatchObject({
          code: "SECTION_AMBIGUOUS",
          message: expect.stringContaining(candidates[1]!),
          details: { candidates },
        });
      }
      const more = candidates[0]!.slice(0, 12);
      expect(await workspace.call("section-show", { section_id: more })).toMatchObject({ section_id: candidates[0] });
    });

    it("counts the limits of headings and references in code points", async () => {
      const workspace = open();
      const heading = "\u{1f600}".repeat(1024);
      workspace.write("a.md", `# ${heading}\n## ${heading}x\n## B ${heading}\ntext\n`);
      await workspace.build();
      const paths = (await workspace.sections("a.md")).map(({ heading_path }) => heading_path);
      expect(paths).toEqual([[], [heading], [heading, heading], [heading, `B ${heading.slice(0, -4)}`]]);
      const symbol = { symbol_id: "@N/A", heading: `a.md#${heading}/${heading}`, slice: "head(1)" };
      expect(await workspace.call("symbol-add", symbol)).toMatchObject({ target_ref: symbol.heading });
      expect(await workspace.call("expand", { refs: ["@N/A"] })).toMatchObject({ expansions: [{ bytes: 4100 }] });
    });

    it("keeps headings with any character apart from line feeds", async () => {
      const workspace = open();
      const heading = 'a "b" \\ \u2028 \u0085 \u001b[31m %2F / # \u{1f600}';
      workspace.write("a.md", `# ${heading.replaceAll("\\", "\\\\")}\n`);
      await workspace.build();
      await workspace.reopen();
      expect((await workspace.sections("a.md"))[1]?.heading_path).toEqual([heading]);
      expect(await workspace.call<Built>("index-build", { full: true })).toMatchObject({
        changed: { added: 0, modified: 0 },
      });
    });
  });
}
