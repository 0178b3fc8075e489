import { rmSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ContextWorkspace, Expanded, OpenWorkspace } from "../support/context-workspace.ts";

interface Found {
  readonly total: number;
  readonly ignored: readonly string[];
  readonly results: readonly {
    readonly section_id: string;
    readonly file_path: string;
    readonly heading_path: readonly string[];
    readonly slice: string;
    readonly preview: { readonly slice: string; readonly text: string } | null;
  }[];
}

const WITHOUT_SPACES = [
  {
    language: "Chinese",
    text: "\u4ed6\u5728\u6e2f\u53e3\u70b9\u4eae\u4e86\u706f\u7b3c\u3002\u6f6e\u6c34\u9000\u4e86\u3002",
    part: "\u70b9\u4eae",
    absent: "\u4eae\u70b9",
  },
  {
    language: "Japanese",
    text: "\u6e2f\u306e\u30e9\u30f3\u30bf\u30f3\u3092\u706f\u3057\u305f\u5f7c\u5973\u306f\u6771\u4eac\u3078\u884c\u3063\u305f\u3002",
    part: "\u30e9\u30f3\u30bf\u30f3",
    absent: "\u4eac\u6771",
  },
  {
    language: "Thai",
    text: "\u0e40\u0e18\u0e2d\u0e08\u0e38\u0e14\u0e15\u0e30\u0e40\u0e01\u0e35\u0e22\u0e07\u0e17\u0e35\u0e48\u0e17\u0e48\u0e32\u0e40\u0e23\u0e37\u0e2d",
    part: "\u0e15\u0e30\u0e40\u0e01\u0e35\u0e22\u0e07",
    absent: "\u0e40\u0e23\u0e37\u0e2d\u0e40\u0e18\u0e2d",
  },
] as const;

/** Finding sections by words. */
export function describeSearching(open: OpenWorkspace): void {
  describe("searching", () => {
    const search = (workspace: ContextWorkspace, query: string, limit = 20) =>
      workspace.call<Found>("search", { query, limit });
    const places = async (workspace: ContextWorkspace, query: string) =>
      (await search(workspace, query)).results.map(({ file_path, heading_path }) =>
        [file_path, ...heading_path].join("#"),
      );

    it("names the innermost section once, with a slice around the first line that matches", async () => {
      const workspace = open();
      const lines = Array.from({ length: 20 }, (_, i) => (i === 12 ? "the Lantern glows" : `line ${i}`));
      workspace.write("notes/a.md", `intro\n# One\nfirst\n## Two\n${lines.join("\n")}\n`);
      workspace.write("b.md", "nothing\n");
      await workspace.build();
      const two = await workspace.find("notes/a.md", "One", "Two");
      const found = await search(workspace, "lantern");
      expect(found).toMatchObject({ query: "lantern", ignored: [], total: 1 });
      expect(found.results).toEqual([
        {
          section_id: two.section_id,
          file_path: "notes/a.md",
          heading_path: ["One", "Two"],
          line_start: 3,
          line_end: 24,
          ref: "notes/a.md#One/Two",
          slice: "lines[10:17]",
          score: expect.any(Number),
          preview: { slice: "lines[13:15]", text: "the Lantern glows\nline 13" },
        },
      ]);
      const { section_id, slice } = found.results[0]!;
      const read = await workspace.call<Expanded>("expand", { refs: [section_id], slice });
      expect(read.expansions[0]?.content.split("\n")[3]).toBe("the Lantern glows");
    });

    it("finds words, phrases, prefixes, paths and headings, without operators and diacritics", async () => {
      const workspace = open();
      workspace.write(
        "notes/harbour.md",
        "# Lamps\nThe caf\u00e9 by the quay is closed.\n## Oil\nByte identical copies OR none.\n",
      );
      workspace.write("notes/hill.md", "# Wind\nThe quay is far.\n");
      await workspace.build();
      expect(await places(workspace, "quay cafe")).toEqual(["notes/harbour.md#Lamps"]);
      expect((await places(workspace, "quay")).sort()).toEqual(["notes/harbour.md#Lamps", "notes/hill.md#Wind"]);
      expect(await places(workspace, '"byte identical"')).toEqual(["notes/harbour.md#Lamps#Oil"]);
      expect(await places(workspace, '"identical byte"')).toEqual([]);
      expect(await places(workspace, "identic*")).toEqual(["notes/harbour.md#Lamps#Oil"]);
      expect(await places(workspace, "identic")).toEqual(["notes/harbour.md#Lamps#Oil"]);
      expect(await places(workspace, '"identic"')).toEqual([]);
      expect(await places(workspace, "copies OR none")).toEqual(["notes/harbour.md#Lamps#Oil"]);
      expect(await places(workspace, "wind OR lamps")).toEqual([]);
      expect(await places(workspace, '"NOT" quay')).toEqual([]);
      expect(await places(workspace, "far NOT quay")).toEqual(["notes/hill.md#Wind"]);
      expect(await places(workspace, "hill")).toEqual(["notes/hill.md#Wind"]);
      expect(await places(workspace, "lamps oil")).toEqual(["notes/harbour.md#Lamps#Oil"]);
      expect(await search(workspace, "++ quay")).toMatchObject({ ignored: ["++"], total: 2 });
      expect(await search(workspace, "quay", 1)).toMatchObject({ total: 2, results: [expect.anything()] });
    });

    it("finds any part of a text without spaces, and nothing that is not there", async () => {
      const workspace = open();
      for (const { language, text } of WITHOUT_SPACES) workspace.write(`${language}.md`, `# Title\n\n${text}\n`);
      await workspace.build();
      for (const { language, text, part, absent } of WITHOUT_SPACES) {
        const place = [`${language}.md#Title`];
        expect(await places(workspace, part), language).toEqual(place);
        expect(await places(workspace, text.slice(1, 9)), language).toEqual(place);
        expect(await places(workspace, `"${part}" title`), language).toEqual(place);
        expect(await places(workspace, absent), language).toEqual([]);
      }
    });

    it("finds phrases anywhere in a long text whose words come again and again", async () => {
      const workspace = open();
      const filler = Array.from(
        { length: 20_000 },
        (_, i) => `\u306e${String.fromCodePoint(0x4e00 + (i % 3000))}`,
      ).join("");
      workspace.write("a.md", `# Long\n${filler}\u706f\u53f0\u306e\u9375\n${filler}\n`);
      await workspace.build();
      expect(await places(workspace, "\u706f\u53f0\u306e\u9375")).toEqual(["a.md#Long"]);
      expect(await places(workspace, "\u706f\u53f0\u9375")).toEqual([]);
      expect(await places(workspace, "long \u9375")).toEqual(["a.md#Long"]);
    });

    it("follows every build, and never answers from before it", async () => {
      const workspace = open();
      workspace.write("a.md", "# A\nlantern\n");
      workspace.write("b.md", "# B\nlantern\n");
      await workspace.build({ with_search: true });
      expect(await places(workspace, "lantern")).toHaveLength(2);
      workspace.write("a.md", "# A\nbeacon\n");
      rmSync(workspace.place("b.md"));
      // Until the next build the index as built is what is searched.
      expect(await places(workspace, "lantern")).toHaveLength(2);
      const { results } = await search(workspace, "lantern");
      expect(
        await workspace.refusal("expand", { refs: [results[0]!.section_id], slice: results[0]!.slice }),
      ).toMatchObject({
        code: "CONTENT_HASH_MISMATCH",
      });
      await workspace.build();
      expect(await places(workspace, "lantern")).toEqual([]);
      expect(await places(workspace, "beacon")).toEqual(["a.md#A"]);
      workspace.write("a.md", "# A\nnever seen\n");
      await workspace.build({ with_search: false });
      workspace.write("a.md", "# A\nedited again\n");
      expect(await workspace.refusal("search", { query: "seen" })).toMatchObject({
        code: "CONTENT_HASH_MISMATCH",
        fix: "Build the index again: verbatim index build",
      });
    });

    it("finds other forms of a word and words that begin with it, after the word itself", async () => {
      const workspace = open();
      workspace.write("a.md", "# A\nThe options are listed, and options again.\n");
      workspace.write("b.md", "# B\nAn optional lamp.\n");
      workspace.write(
        "c.md",
        "# C\nA long text about boats and quays that has one option, late, after many other words.\n",
      );
      workspace.write("d.md", "# D\nThe opt-in form.\n");
      await workspace.build();
      expect(await places(workspace, "option")).toEqual(["c.md#C", "a.md#A", "b.md#B"]);
      expect(await places(workspace, "options")).toEqual(["a.md#A", "c.md#C"]);
      expect(await places(workspace, '"option"')).toEqual(["c.md#C"]);
      expect(await places(workspace, "optional boats")).toEqual([]);
      const { results } = await search(workspace, "listing");
      expect(results.map(({ preview }) => preview?.text)).toEqual(["The options are listed, and options again."]);
    });

    it("lists names and headings before mentions, and everything before tests", async () => {
      const workspace = open();
      workspace.write("notes/a.md", "# Lantern\nlantern lantern lantern\n");
      workspace.write("notes/b.md", "# Boats\n## Lantern\nIt glows.\n");
      workspace.write("notes/lantern.txt", "a file about something else\n");
      workspace.write("notes/c.md", "# Lantern\n## Oil\nFill it.\n");
      workspace.write("notes/d.md", "# Quay\nlantern, lantern, lantern!\n");
      workspace.write("notes/tests/e.md", "# Lantern\nlantern\n");
      workspace.write("notes/f.test.ts", "lantern\n");
      workspace.write("notes/lantern/g.md", "# Path\nonly\n");
      await workspace.build();
      expect(await places(workspace, "lantern")).toEqual([
        "notes/a.md#Lantern",
        "notes/c.md#Lantern",
        "notes/b.md#Boats#Lantern",
        "notes/lantern.txt",
        "notes/c.md#Lantern#Oil",
        "notes/d.md#Quay",
        "notes/lantern/g.md#Path",
        "notes/tests/e.md#Lantern",
        "notes/f.test.ts",
      ]);
    });

    it("stays right through many small builds, whose files are put together again", async () => {
      const workspace = open();
      for (let i = 0; i < 6; i++) workspace.write(`f${i}.md`, `# F\nword${i} common\n`);
      await workspace.build();
      for (let round = 0; round < 30; round++) {
        workspace.write(`f${round % 6}.md`, `# F\nround${round} common${round % 5 === 0 ? " fifth" : ""}\n`);
        if (round === 20) rmSync(workspace.place("f5.md"));
        await workspace.build();
        expect(await places(workspace, `round${round}`)).toEqual(round === 20 ? [`f2.md#F`] : [`f${round % 6}.md#F`]);
      }
      expect(await places(workspace, "common")).toHaveLength(6);
      expect(await places(workspace, "fifth")).toEqual(["f1.md#F"]);
      expect(await places(workspace, "word0")).toEqual([]);
      expect(await search(workspace, "common")).toMatchObject({ total: 6 });
    });

    it("leaves out sections that have nothing to expand", async () => {
      const workspace = open();
      workspace.write("lantern.md", "");
      workspace.write("lantern-two.md", "x\n");
      await workspace.build();
      expect(await places(workspace, "lantern")).toEqual(["lantern-two.md"]);
    });

    it("never lets the text of a query reach the query parser: any text is words or refused", async () => {
      const workspace = open();
      workspace.write("a.md", "# A\nalpha NEAR beta\n");
      await workspace.build();
      const pieces = [
        ..."ab1'\"\\&|!<>-:*()^{}+~,;%_\0\t\n\u00e9\u65e5\u0e01\u{1f600}\u0301",
        ...[
          "NEAR(",
          " OR ",
          " AND ",
          " NOT ",
          "col:",
          "--",
          "/*",
          "$$",
          "''",
          '""',
          "<->",
          "<2>",
          "::tsquery",
          "alpha",
        ],
      ];
      const text = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => parts.join(""));
      await fc.assert(
        fc.asyncProperty(text, async (query) => {
          try {
            const { total, results } = await search(workspace, query);
            expect(results.length).toBe(total);
          } catch (thrown) {
            expect(thrown).toMatchObject({ code: expect.stringMatching(/^SEARCH_(?:SYNTAX|EMPTY)$/) });
          }
        }),
        { seed: 17, numRuns: 200 },
      );
      expect(await places(workspace, "alpha")).toEqual(["a.md#A"]);
    });

    it("refuses a query that has no meaning", async () => {
      const workspace = open();
      await workspace.build();
      for (const [query, code] of [
        ["", "SEARCH_EMPTY"],
        ["++ --", "SEARCH_EMPTY"],
        ['"; DROP', "SEARCH_SYNTAX"],
        ["x".repeat(1025), "SEARCH_TOO_LONG"],
        ["a ".repeat(33), "SEARCH_TOO_LONG"],
      ] as const) {
        expect(await workspace.refusal("search", { query })).toMatchObject({ code, exit: 2 });
      }
    });
  });
}
