import { describe, expect, it } from "vitest";
import { formatTable } from "./table.ts";

// Guards: a table fits the terminal, and what it cuts is what has the most to give.

const COLUMNS = [{ title: "name", shrink: true }, { title: "target", shrink: true }, { title: "slice" }] as const;

describe("a table that is too wide", () => {
  it("cuts its widest column and leaves a short one whole", () => {
    expect(formatTable(COLUMNS, [["@DOCS/GUIDE", "docs/guide/of/the/harbour.md", "head(1)"]], 40)).toEqual([
      "name         target              slice",
      "@DOCS/GUIDE  docs/guide/of/the…  head(1)",
    ]);
  });

  it("cuts columns that are equally wide alike", () => {
    const rows = [["abcdefghijklmnopqrst", "abcdefghijklmnopqrstuvwx", "head(1)"]];
    expect(formatTable(COLUMNS, rows, 31)[1]).toBe("abcdefghi…  abcdefghi…  head(1)");
    expect(formatTable(COLUMNS, rows, 5)[1]).toBe("abcdefg…  abcdefg…  head(1)");
  });

  it("counts two columns for a wide character where it cuts", () => {
    expect(formatTable(COLUMNS, [["a", "日本語日本語日本語", "head(1)"]], 27)[1]).toBe("a     日本語日本…   head(1)");
  });

  it("cuts nothing of a column that may not shrink, nor of a narrow one", () => {
    expect(formatTable(COLUMNS, [["abcd", "abcdefghijklmnop", "lines[10:20]"]], 10)[1]).toBe(
      "abcd  abcdefg…  lines[10:20]",
    );
  });
});
