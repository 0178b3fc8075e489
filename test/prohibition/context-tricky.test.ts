import { renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { ContextWorkspace, type Expanded } from "../support/context-workspace.ts";

// The cases in which indexes of this kind usually go wrong, one test each. Not here: a process killed during a build
// (test/fault/context-kill.test.ts), a file that vanishes while it is read (src/rooms/context/index/index-build.test.ts).

const opened: ContextWorkspace[] = [];

afterEach(async () => {
  for (const workspace of opened.splice(0)) await workspace.close();
});

async function index(files: Readonly<Record<string, string | Uint8Array>>): Promise<ContextWorkspace> {
  const workspace = new ContextWorkspace();
  opened.push(workspace);
  for (const [path, content] of Object.entries(files)) workspace.write(path, content);
  await workspace.build();
  return workspace;
}

/** Heading paths of a file, the file itself left out. */
async function headings(text: string): Promise<string[][]> {
  const workspace = await index({ "a.md": text });
  return (await workspace.sections("a.md")).slice(1).map(({ heading_path }) => heading_path);
}

async function add(workspace: ContextWorkspace, id: string, target: object, slice = "head(1)"): Promise<void> {
  await workspace.call("symbol-add", { symbol_id: id, slice, ...target });
}

async function read(workspace: ContextWorkspace, ref: string, slice?: string): Promise<string> {
  const done = await workspace.call<Expanded>("expand", { refs: [ref], ...(slice === undefined ? {} : { slice }) });
  return done.expansions[0]!.content;
}

describe("line ends", () => {
  it("a CRLF file, an LF file and a lone-CR file with the same text have the same content", async () => {
    const text = "# A\none\n## B\ntwo\n";
    const ids: string[][] = [];
    for (const end of ["\n", "\r\n", "\r"]) {
      const workspace = await index({ "a.md": text.replaceAll("\n", end) });
      ids.push((await workspace.sections("a.md")).map(({ section_id }) => section_id));
    }
    expect(ids[1]).toEqual(ids[0]);
    expect(ids[2]).toEqual(ids[0]);
  });

  it("a file changed from LF to CRLF only leaves the index as it was", async () => {
    const workspace = await index({ "a.md": "# A\none\n" });
    const before = await workspace.lines("index-export");
    workspace.write("a.md", "# A\r\none\r\n");
    expect(await workspace.build()).toMatchObject({ changed: { added: 0, modified: 0, removed: 0 } });
    expect(await workspace.lines("index-export")).toBe(before);
  });
});

describe("shared ids", () => {
  it("a title on the first line gives two records with one id, and both symbols count as one section", async () => {
    const workspace = await index({ "a.md": "# Title\ntext\n" });
    const [whole, title, ...more] = await workspace.sections("a.md");
    expect(more).toEqual([]);
    expect(title!.section_id).toBe(whole!.section_id);
    await add(workspace, "@N/FILE", { file: "a.md" });
    await add(workspace, "@N/TITLE", { heading: "a.md#Title" });
    const { budget } = await workspace.call<Expanded>("expand", { refs: ["@N/FILE", "@N/TITLE"], max_sections: 1 });
    expect(budget.used).toMatchObject({ max_symbols: 2, max_sections: 1, max_expands_per_step: 2 });
    expect(await workspace.call("index-status")).toMatchObject({ files: 1, sections: 1 });
    expect((await workspace.lines("index-export")).split("\n")).toHaveLength(3);
  });
});

describe("what is a heading", () => {
  it.each([
    ["a file with only front matter has none", "---\ntitle: A\n---\n", []],
    [
      "without its closing line there is no front matter, and a later underline makes a heading",
      "---\nx\n\ntext\n----\n",
      [["text"]],
    ],
    ["dashes after a list item are a thematic break", "- item\n---\n", []],
    ["dashes after a quote are a thematic break", "> quote\n---\n", []],
    ["a tag alone on its line opens a block until a blank line", "<b>\n# x\n", []],
    ["a tag with text is a paragraph", "<b>x</b>\n# x\n", [["x"]]],
    ["a fence ends with the list item it stands in", "- ```\n  code\n# x\n", [["x"]]],
    ["a no-break space after the hash sign makes no heading", "#\u00a0x\n", []],
    ["headings in quotes and list items make no section", "> # a\n\n- # b\n\n1. c\n   =\n", []],
  ])("%s", async (_, text, expected) => {
    expect(await headings(text)).toEqual(expected);
  });

  it("empty headings have an empty text and are addressed with nothing after the hash sign", async () => {
    const workspace = await index({ "a.md": "x\n#\none\n## B\ntwo\n" });
    await add(workspace, "@N/EMPTY", { heading: "a.md#" });
    await add(workspace, "@N/BELOW", { heading: "a.md#/B" }, "tail(1)");
    expect(await read(workspace, "@N/EMPTY")).toBe("#");
    expect(await read(workspace, "@N/BELOW")).toBe("two");
  });
});

describe("heading references", () => {
  it("tell equal headings apart by their parents, and refuse those under the same parent", async () => {
    const workspace = await index({ "a.md": "# A\n## X\n1\n# B\n## X\n2\n## Y\n## Y\n" });
    await add(workspace, "@N/AX", { heading: "a.md#A/X" }, "tail(1)");
    await add(workspace, "@N/BX", { heading: "a.md#B/X" }, "tail(1)");
    expect([await read(workspace, "@N/AX"), await read(workspace, "@N/BX")]).toEqual(["1", "2"]);
    const refused = await workspace.refusal("symbol-add", { symbol_id: "@N/Y", heading: "a.md#B/Y", slice: "head(1)" });
    const same = (await workspace.sections("a.md")).filter(({ heading_path }) => heading_path.at(-1) === "Y");
    expect(refused).toMatchObject({
      code: "HEADING_AMBIGUOUS",
      details: { candidates: same.map(({ section_id }) => section_id) },
    });
    expect(refused.message).toContain("lines 6..7, 7..8");
    await add(workspace, "@N/Y", { section: same[1]!.section_id });
    expect(await read(workspace, "@N/Y")).toBe("## Y");
  });

  it("encode a slash and a hash sign inside a heading", async () => {
    const workspace = await index({ "a.md": "x\n# In/Out\n## C#\none\n" });
    await add(workspace, "@N/C", { heading: "a.md#In%2fOut/C%23" });
    expect(await workspace.call("symbol-show", { symbol_id: "@N/C" })).toMatchObject({
      target_ref: "a.md#In%2FOut/C%23",
    });
  });
});

describe("edits", () => {
  it("above a pinned section break the pin, while a heading symbol still works", async () => {
    const workspace = await index({ "a.md": "top\n# A\none\n" });
    const pinned = await workspace.find("a.md", "A");
    await add(workspace, "@N/PIN", { section: pinned.section_id });
    await add(workspace, "@N/NAME", { heading: "a.md#A" });
    workspace.write("a.md", "top\nmore\n# A\none\n");
    await workspace.build();
    expect(await workspace.find("a.md", "A")).toMatchObject({ content_hash: pinned.content_hash, line_start: 2 });
    const refused = await workspace.refusal("expand", { refs: ["@N/PIN"] });
    expect(refused).toMatchObject({ code: "SECTION_NOT_FOUND", fix: expect.stringContaining("symbol repin @N/PIN") });
    expect(refused.message).toContain("a.md (A, lines 1..3)");
    expect(await read(workspace, "@N/NAME")).toBe("# A");
  });

  it("of the same size in the same tick as the build are found, because the entry is racy", async () => {
    const workspace = await index({});
    const place = workspace.place("a.md");
    writeFileSync(place, "# One\n");
    await workspace.build();
    const { atime, mtime } = statSync(place);
    writeFileSync(place, "# Two\n");
    utimesSync(place, atime, mtime);
    expect(await workspace.build()).toMatchObject({ changed: { modified: 1 } });
    expect(await workspace.find("a.md", "Two")).toBeDefined();
  });

  it("that put an older copy in the place of a file are found", async () => {
    const workspace = await index({ "a.md": "# New\n" });
    workspace.write("old.txt", "# Old\n");
    utimesSync(workspace.place("old.txt"), 1_000_000, 1_000_000);
    renameSync(workspace.place("old.txt"), workspace.place("a.md"));
    expect(await workspace.build()).toMatchObject({ changed: { modified: 1 } });
    expect(await workspace.find("a.md", "Old")).toBeDefined();
  });

  it("that make a file too short for a symbol's slice are told by check, and do not alter the symbol", async () => {
    const workspace = await index({ "a.md": "one\ntwo\nthree\n" });
    await add(workspace, "@N/A", { file: "a.md" }, "lines[0:3]");
    workspace.write("a.md", "one\n");
    await workspace.build();
    expect(await workspace.refusal("expand", { refs: ["@N/A"] })).toMatchObject({ code: "SLICE_OUT_OF_BOUNDS" });
    expect(await workspace.call("symbol-check")).toMatchObject({
      ok: false,
      problems: [{ symbol_id: "@N/A", code: "SLICE_OUT_OF_BOUNDS" }],
    });
    expect(await workspace.call("symbol-list")).toMatchObject([{ default_slice_policy: "lines[0:3]" }]);
  });
});

describe("slices", () => {
  it("of an empty file are out of bounds, without a suggestion", async () => {
    const workspace = await index({ "a.md": "" });
    const [whole] = await workspace.sections("a.md");
    expect(await workspace.refusal("expand", { refs: [whole!.section_id], slice: "lines[0:1]" })).toMatchObject({
      code: "SLICE_OUT_OF_BOUNDS",
      details: { lines: 0, chars: 0, suggested_slice: null },
    });
  });

  it("by characters count code points: they may split a grapheme, never a code point", async () => {
    const workspace = await index({ "a.md": "e\u0301\u{1f600}x" });
    const [whole] = await workspace.sections("a.md");
    expect(await read(workspace, whole!.section_id, "chars[0:1]")).toBe("e");
    expect(await read(workspace, whole!.section_id, "chars[1:3]")).toBe("\u0301\u{1f600}");
  });
});

describe("names", () => {
  it("with a colon are addressed without escaping; those that differ by case or normalisation are two files", async () => {
    const names = ["ab:1:2.md", "A.md", "a.md", "\u00e9.md", "e\u0301.md"];
    const workspace = await index(Object.fromEntries(names.map((name, i) => [name, `${i}\n`])));
    const paths = (await workspace.sections()).map(({ file_path }) => file_path);
    expect(paths).toEqual(["A.md", "a.md", "ab:1:2.md", "e\u0301.md", "\u00e9.md"]);
    const { section_id } = await workspace.find("ab:1:2.md");
    expect(await read(workspace, section_id, "head(1)")).toBe("0");
  });
});

describe("searching", () => {
  it("for an open quote is a syntax error, and nothing is executed", async () => {
    const workspace = await index({ "a.md": "# A\n" });
    expect(await workspace.refusal("search", { query: '"; DROP' })).toMatchObject({ code: "SEARCH_SYNTAX", exit: 2 });
    expect(await workspace.call("search", { query: "; DROP TABLE context_file; --" })).toMatchObject({ total: 0 });
    expect(await workspace.sections()).toHaveLength(2);
  });

  it("right after an edit answers from the index as it was built; expanding the hit fails", async () => {
    const workspace = await index({ "a.md": "# A\nlantern\n" });
    await workspace.call("search", { query: "lantern" });
    workspace.write("a.md", "# A\nboats\n");
    const { results } = await workspace.call<{ results: { section_id: string; slice: string }[] }>("search", {
      query: "lantern",
    });
    const [{ section_id, slice }] = results as [{ section_id: string; slice: string }];
    expect(await workspace.refusal("expand", { refs: [section_id], slice })).toMatchObject({
      code: "CONTENT_HASH_MISMATCH",
      fix: "Build the index again: verbatim index build",
    });
  });
});

describe("expanding", () => {
  it("one slice does not look at the rest of the corpus", async () => {
    const workspace = await index({ "a.md": "one\n", "b.md": "two\n", "notes/c.md": "three\n" });
    await add(workspace, "@N/A", { file: "a.md" });
    await workspace.reopen();
    rmSync(workspace.place("b.md"));
    workspace.write("notes/c.md", Uint8Array.from([0xff]));
    expect(await read(workspace, "@N/A")).toBe("one");
  });
});
