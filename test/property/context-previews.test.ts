import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import { ContextWorkspace, type Expanded } from "../support/context-workspace.ts";

interface Found {
  readonly results: readonly {
    readonly section_id: string;
    readonly slice: string;
    readonly preview: { readonly slice: string; readonly text: string } | null;
  }[];
}

const BUDGETS = { max_symbols: 1000, max_sections: 1000, max_bytes: 1_000_000, max_expands: 1000 };
const opened: ContextWorkspace[] = [];

afterAll(async () => {
  for (const workspace of opened) await workspace.close();
});

// Words, headings and what lies between: ends of lines, marks, characters of one to four bytes, lines of any length.
const pieces = fc.constantFrom(
  ..."lantern|lanterns|Lantern|\n|\n\n|\r\n|\r|\n# |\n## |\n---\n|\u00e4|\u65e5\u672c|\u{1f600}|\u0301|e\u0301|\t|\f|\u2028|`|  ".split(
    "|",
  ),
  "x".repeat(60),
  "\u{1f9ed}".repeat(55),
  " word".repeat(50),
  "\u0130",
);
const text = fc.array(pieces, { minLength: 1, maxLength: 24 }).map((parts) => parts.join(""));

it("the address of every preview means exactly its bytes, and every slice can be expanded", async () => {
  const workspace = new ContextWorkspace();
  opened.push(workspace);
  let shown = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 4 }), async (texts) => {
      for (let i = 0; i < 4; i++) workspace.write(`f${i}.md`, texts[i] ?? "");
      await workspace.build();
      for (const query of ["lantern", "\u65e5", "word", "x*"]) {
        const { results } = await workspace.call<Found>("search", { query });
        for (const { section_id, slice, preview } of results) {
          await workspace.call("expand", { refs: [section_id], slice, ...BUDGETS });
          if (preview === null) continue;
          shown++;
          const read = await workspace.call<Expanded>("expand", {
            refs: [section_id],
            slice: preview.slice,
            ...BUDGETS,
          });
          expect(preview.text).toBe(read.expansions[0]!.content);
          expect(Buffer.byteLength(preview.text)).toBeLessThanOrEqual(200);
          expect(preview.text.isWellFormed()).toBe(true);
        }
      }
    }),
    { seed: 19, numRuns: 60 },
  );
  expect(shown).toBeGreaterThan(100);
});
