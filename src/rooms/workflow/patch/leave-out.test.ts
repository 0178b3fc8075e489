import { describe, expect, it } from "vitest";
import { dropSections } from "./leave-out.ts";

const text = (path: string) => `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-a\n+b\r\n`;
const binary =
  "diff --git a/img/x.png b/img/x.png\nindex 1..2 100644\nGIT binary patch\nliteral 1\nIcmZPo000310RR91\n\n";
const drop = (patch: string, ...entries: string[]) => {
  const dropped = dropSections(Buffer.from(patch), entries);
  return [Buffer.from(dropped.patch).toString(), dropped.left_out];
};

describe("leaving paths out of a patch", () => {
  it("drops whole sections, binary ones too, and keeps the rest byte for byte", () => {
    expect(drop(text("src/a") + binary + text("src/b"), "img/")).toEqual([
      text("src/a") + text("src/b"),
      ["img/x.png"],
    ]);
    expect(drop(text("src/a") + text("src/b"), "src")).toEqual(["", ["src/a", "src/b"]]);
  });

  it("drops whole components only, and nothing when nothing is named", () => {
    expect(drop(text("src/ab"), "src/a")).toEqual([text("src/ab"), []]);
    expect(drop(text("src/a"))).toEqual([text("src/a"), []]);
  });

  it("leaves to the gate what it cannot read, and what has two names", () => {
    const rename = "diff --git a/img/x b/src/x\nrename from img/x\nrename to src/x\n";
    expect(drop(rename, "img")).toEqual([rename, []]);
    expect(drop('diff --git "a/img/x\nfoo\n', "img")).toEqual(['diff --git "a/img/x\nfoo\n', []]);
    expect(drop("prose\n", "img")).toEqual(["prose\n", []]);
  });
});
