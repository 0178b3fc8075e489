import { createHash } from "node:crypto";
import { readdirSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { chargeBudgets } from "../../src/core/text/index.ts";
import { ContextWorkspace, type Expanded, refusal } from "../support/context-workspace.ts";

// What the context room must not do: defects of earlier systems of its kind. Each test names the rule it guards.
// What is read from disk, and when, is guarded in src/rooms/context/index/index-build.test.ts ("an incremental build").

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const opened: ContextWorkspace[] = [];

afterEach(async () => {
  for (const workspace of opened.splice(0)) await workspace.close();
});

async function openWith(files: Readonly<Record<string, string | Uint8Array>>): Promise<ContextWorkspace> {
  const workspace = new ContextWorkspace();
  opened.push(workspace);
  for (const [path, content] of Object.entries(files)) workspace.write(path, content);
  return workspace;
}

async function read(workspace: ContextWorkspace, path: string, slice: string): Promise<string> {
  const [whole] = await workspace.sections(path);
  const done = await workspace.call<Expanded>("expand", { refs: [whole!.section_id], slice });
  return done.expansions[0]!.content;
}

describe("the index must not", () => {
  it("have one section per file while headings are documented to make sections", async () => {
    const workspace = await openWith({ "a.md": "intro\n# One\n## Two\nText\n===\n" });
    await workspace.build();
    const paths = (await workspace.sections("a.md")).map(({ heading_path }) => heading_path);
    expect(paths).toEqual([[], ["One"], ["One", "Two"], ["Text"]]);
  });

  it("count lines in two ways: what is indexed with odd separators can be read", async () => {
    const odd = "a\fb\u000bc\u0085d\u2028e\u2029f\u001cg\nlast\r\n";
    const workspace = await openWith({ "odd.md": odd });
    await workspace.build();
    const [whole] = await workspace.sections("odd.md");
    expect(whole).toMatchObject({ line_start: 0, line_end: 2 });
    expect(await read(workspace, "odd.md", "lines[0:1]")).toBe("a\fb\u000bc\u0085d\u2028e\u2029f\u001cg");
    expect(await read(workspace, "odd.md", "tail(1)")).toBe("last");
  });

  it("skip a file with a warning when it cannot be decoded", async () => {
    const workspace = await openWith({ "good.md": "# Good\n", "bad.md": Uint8Array.from([0x23, 0xc3]) });
    expect(await workspace.refusal("index-build")).toMatchObject({
      code: "INDEX_SOURCES_INVALID",
      details: { problems: [{ code: "SOURCE_NOT_UTF8", file_path: "bad.md", byte_offset: 1 }] },
    });
    expect(await workspace.refusal("section-list")).toMatchObject({ code: "INDEX_MISSING" });
  });

  it("delete symbols when it is rebuilt, least of all when it is verified", async () => {
    const workspace = await openWith({ "a.md": "# A\n" });
    await workspace.build();
    await workspace.call("symbol-add", { symbol_id: "@N/A", file: "a.md", slice: "head(1)" });
    workspace.write("b.md", "# B\n");
    await workspace.call("index-verify");
    await workspace.build();
    await workspace.build({ full: true });
    expect(await workspace.call("symbol-list")).toHaveLength(1);
    expect((await workspace.ledger()).map(({ kind }) => kind)).not.toContain("SYMBOL_REMOVED");
  });

  it("sort by locale or UTF-16", async () => {
    const names = ["B.md", "a.md", "a-b.md", "\u00e4.md", "z.md", "\ue000.md", "\u{1f600}.md"];
    const workspace = await openWith(Object.fromEntries(names.map((name) => [name, "x\n"])));
    await workspace.build();
    const paths = (await workspace.sections()).map(({ file_path }) => file_path);
    expect(paths).toEqual(["B.md", "a-b.md", "a.md", "z.md", "\u00e4.md", "\ue000.md", "\u{1f600}.md"]);
  });

  it("lose a heading that is called __proto__ or constructor", async () => {
    const workspace = await openWith({ "a.md": "# `__proto__`\n## constructor\nx\n" });
    await workspace.build();
    await workspace.call("symbol-add", { symbol_id: "@N/P", heading: "a.md#__proto__/constructor", slice: "head(1)" });
    expect((await workspace.lines("index-export")).split("\n")[2]).toContain('["__proto__","constructor"]');
  });
});

describe("slices must not", () => {
  it("count characters where head counts lines, or be clamped", async () => {
    const workspace = await openWith({ "a.md": "one\ntwo\n" });
    await workspace.build();
    expect(await read(workspace, "a.md", "head(1)")).toBe("one");
    for (const slice of ["head(3)", "tail(3)", "lines[0:3]", "chars[0:9]"]) {
      expect(await refusal(read(workspace, "a.md", slice))).toMatchObject({ code: "SLICE_OUT_OF_BOUNDS" });
    }
  });

  it("be repaired: trimmed, lower-cased, with other digits, leading zeros or a final line feed", async () => {
    const workspace = await openWith({ "a.md": "one\ntwo\n" });
    await workspace.build();
    for (const slice of [
      " head(1)",
      "HEAD(1)",
      "head( 1)",
      "head(1)\n",
      "head(01)",
      "head(\u0661)",
      "head(+1)",
      "lines[0:1[",
      "head(1))",
    ]) {
      expect(await refusal(read(workspace, "a.md", slice)), slice).toMatchObject({ code: "SLICE_SYNTAX" });
      const added = workspace.call("symbol-add", { symbol_id: "@N/A", file: "a.md", slice });
      expect(await refusal(added), slice).toMatchObject({ code: "SLICE_SYNTAX" });
    }
    expect(await workspace.call("symbol-list")).toEqual([]);
  });

  it("be checked against an imaginary document when a symbol is added", async () => {
    const workspace = await openWith({ "a.md": "one\ntwo\n" });
    await workspace.build();
    expect(
      await workspace.refusal("symbol-add", { symbol_id: "@N/A", file: "a.md", slice: "lines[0:100]" }),
    ).toMatchObject({
      code: "SLICE_OUT_OF_BOUNDS",
      details: { lines: 2, suggested_slice: "lines[0:2]" },
    });
  });

  it("be left out of a read of a whole section while ALL is forbidden", async () => {
    const workspace = await openWith({ "a.md": "one\ntwo\n" });
    await workspace.build();
    const [whole] = await workspace.sections("a.md");
    expect(await workspace.refusal("expand", { refs: [whole!.section_id] })).toMatchObject({ code: "SLICE_REQUIRED" });
    for (const slice of ["ALL", "all", " All ", "\tALL\n"]) {
      const input = { refs: [whole!.section_id], slice };
      expect(await workspace.refusal("expand", input)).toMatchObject({ code: "SLICE_UNBOUNDED" });
    }
    expect(JSON.stringify(await workspace.call("section-show", { section_id: whole!.section_id }))).not.toContain(
      "one",
    );
  });
});

describe("symbol ids must not", () => {
  it("be a bare @, hold spaces, lack a name, or end in a line feed", async () => {
    const workspace = await openWith({ "a.md": "one\n" });
    await workspace.build();
    for (const symbol_id of [
      "@",
      "@A",
      "@A/",
      "@/B",
      "@A/B C",
      "@A/ ",
      "A/B",
      "@a/B",
      "@A/B\n",
      "@A/B/",
      "@A//B",
      "@A/\u0661",
      "",
    ]) {
      const input = { symbol_id, file: "a.md", slice: "head(1)" };
      expect(await workspace.refusal("symbol-add", input), symbol_id).toMatchObject({ code: "SYMBOL_SYNTAX", exit: 2 });
    }
  });
});

describe("budgets must not", () => {
  it("be four in name and one in fact, or hold per read so that the sum is unbounded", async () => {
    const workspace = await openWith({ "a.md": "# A\none\n## B\ntwo\n" });
    await workspace.build();
    const ids = [...new Set((await workspace.sections("a.md")).map(({ section_id }) => section_id))];
    await workspace.call("symbol-add", { symbol_id: "@N/A", file: "a.md", slice: "head(1)" });
    await workspace.call("symbol-add", { symbol_id: "@N/B", heading: "a.md#A/B", slice: "head(1)" });
    const refs = [...ids, "@N/A", "@N/B"];
    const enough = { max_symbols: 2, max_sections: 2, max_bytes: 14, max_expands: 4 };
    await workspace.call("expand", { refs, slice: "head(1)", ...enough });
    for (const [budget, code] of [
      ["max_symbols", "BUDGET_SYMBOLS"],
      ["max_sections", "BUDGET_SECTIONS"],
      ["max_bytes", "BUDGET_BYTES"],
      ["max_expands", "BUDGET_EXPANDS"],
    ] as const) {
      const input = { refs, slice: "head(1)", ...enough, [budget]: enough[budget] - 1 };
      expect(await workspace.refusal("expand", input)).toMatchObject({ code });
    }
  });

  it("depend on who comes first: the plan alone decides", async () => {
    const steps = [{ section_id: "a", bytes: 3 }, null, { section_id: "b", bytes: 4 }, { section_id: "a", bytes: 9 }];
    const limits = { max_symbols: 1, max_sections: 2, max_bytes_expanded: 7, max_expands_per_step: 9 };
    const verdicts = await Promise.all(Array.from({ length: 8 }, async () => chargeBudgets(["@N/A"], steps, limits)));
    for (const { breach } of verdicts) expect(breach).toMatchObject({ ordinal: 4, code: "BUDGET_BYTES" });
    // The same plan, expanded at once by many callers, is refused to all of them at the same step.
    const workspace = await openWith({ "a.md": "one\ntwo\n" });
    await workspace.build();
    const [whole] = await workspace.sections("a.md");
    const refs = [whole!.section_id, whole!.section_id];
    const refusals = await Promise.all(
      Array.from({ length: 8 }, () => workspace.refusal("expand", { refs, slice: "head(1)", max_bytes: 5 })),
    );
    for (const refused of refusals) expect(refused).toMatchObject({ code: "BUDGET_BYTES", details: { ordinal: 2 } });
  });
});

describe("symbols of a file must not", () => {
  it("be read with keys merged", async () => {
    const workspace = await openWith({ "a.md": "one\n" });
    await workspace.build();
    const file = workspace.place("s.jsonl");
    writeFileSync(
      file,
      '{"symbol_id":"@N/A","symbol_id":"@N/B","target_type":"FILE","target_ref":"a.md","default_slice_policy":"head(1)"}\n',
    );
    expect(await workspace.refusal("symbol-import", { file })).toMatchObject({ code: "JSON_DUPLICATE_KEY", exit: 2 });
  });
});

describe("search must not", () => {
  interface Shown {
    readonly results: readonly (Record<string, unknown> & {
      readonly preview: { readonly slice: string; readonly text: string } | null;
    })[];
  }

  it("put text into its results, but for the line or two of a preview", async () => {
    const workspace = await openWith({ "a.md": "# Title\nhidden above\n\nthe lantern word\n\nhidden below\n" });
    await workspace.build();
    const found = await workspace.call<Shown>("search", { query: "lantern" });
    expect(Object.keys(found.results[0]!).sort()).toEqual([
      "file_path",
      "heading_path",
      "line_end",
      "line_start",
      "preview",
      "ref",
      "score",
      "section_id",
      "slice",
    ]);
    expect(found.results[0]!.preview).toEqual({ slice: "lines[3:4]", text: "the lantern word" });
    expect(JSON.stringify(found)).not.toContain("hidden");
  });

  it("show more than 200 bytes of a section, or 2,000 in an answer", async () => {
    const line = (i: number) => `lantern \u00e4 ${i} ${"\u{1f600}".repeat(200)}`;
    const workspace = await openWith(
      Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`f${i}.md`, `${line(i)}\n`])),
    );
    await workspace.build();
    const { results } = await workspace.call<Shown>("search", { query: "lantern", limit: 30 });
    const sizes = results.map(({ preview }) => Buffer.byteLength(preview?.text ?? ""));
    expect(results).toHaveLength(30);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(200);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(2000);
    // Whole characters up to the limit, and previews until the answer has enough.
    expect(sizes[0]).toBeGreaterThan(190);
    expect(sizes.filter((size) => size > 0)).toHaveLength(10);
  });

  it("show a line of a file whose name is a secret's, or that links to one", async () => {
    const workspace = await openWith({ ".env": "lantern = 1\n", "plain.md": "lantern = 2\n" });
    symlinkSync(".env", workspace.place("linked.md"));
    workspace.configure({
      context: { sources: ["*.md", ".env"], secrets: { allow: [".env"] } },
    });
    await workspace.reopen();
    await workspace.build();
    const { results } = await workspace.call<Shown>("search", { query: "lantern" });
    expect(Object.fromEntries(results.map(({ file_path, preview }) => [file_path, preview?.text ?? null]))).toEqual({
      ".env": null,
      "linked.md": null,
      "plain.md": "lantern = 2",
    });
  });

  it("record what it showed: no preview is in the ledger or the content store", async () => {
    const workspace = await openWith({ "a.md": "the lantern word\n" });
    await workspace.build();
    const { results } = await workspace.call<Shown>("search", { query: "lantern" });
    expect(results[0]!.preview!.text).toBe("the lantern word");
    expect(JSON.stringify(await workspace.ledger())).not.toContain("lantern");
    const kept = readdirSync(workspace.place(".verbatim"), { recursive: true, withFileTypes: true });
    const blobs = kept.filter((entry) => entry.isFile() && entry.parentPath.includes("blobs"));
    expect(blobs).toEqual([]);
  });
});

describe("expanding must not", () => {
  it("open a connection to the database for every expansion", async (context) => {
    if (process.platform !== "linux") context.skip("the open files of a process are listed in /proc only on Linux");
    const workspace = await openWith({ "a.md": "one\n" });
    await workspace.build();
    await workspace.call("symbol-add", { symbol_id: "@N/A", file: "a.md", slice: "head(1)" });
    const countOpen = () =>
      readdirSync("/proc/self/fd").filter((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`).startsWith(workspace.root);
        } catch (thrown) {
          // The descriptor of the listing itself is closed by now.
          if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return false;
          throw thrown;
        }
      }).length;
    await workspace.call("expand", { refs: ["@N/A"] });
    // The thread that searches has a connection of its own; a build gets it ready.
    await workspace.call("search", { query: "one" });
    const before = countOpen();
    for (let i = 0; i < 30; i++) await workspace.call("expand", { refs: ["@N/A"] });
    expect(countOpen()).toBe(before);
    expect(before).toBeGreaterThan(0);
  });

  it("put the text into the ledger", async () => {
    const workspace = await openWith({ "a.md": "the lantern\n" });
    await workspace.build();
    expect(await read(workspace, "a.md", "head(1)")).toBe("the lantern");
    const entries = await workspace.ledger();
    expect(entries.at(-1)?.body["content_hash"]).toBe(sha256("the lantern"));
    expect(JSON.stringify(entries)).not.toContain("lantern");
  });
});
