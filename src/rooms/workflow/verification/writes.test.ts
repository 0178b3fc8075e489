import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { ViewWrite } from "../ports.ts";
import { checkWritten, encodeWrites, planWrites } from "./writes.ts";

const ONE = createHash("sha256").update("one").digest("hex");
const TWO = createHash("sha256").update("two").digest("hex");
const file = (path: string, sha256 = ONE): ViewWrite => ({ path, mode: "100644", sha256 });
const gone = (path: string): ViewWrite => ({ path, mode: null });

describe("the list of writes", () => {
  it("takes everything away from the inside out before it makes anything", () => {
    const plan = planWrites([gone("a/b/c"), file("x/y")], [gone("a/b"), file("a"), gone("x/z")]);
    expect(plan.map(({ path, mode }) => `${mode ?? "-"} ${path}`)).toEqual([
      "- x/z",
      "- a/b/c",
      "- a/b",
      "100644 a",
      "100644 x/y",
    ]);
  });

  it("lets the candidate have the last word on a path", () => {
    expect(planWrites([file("a"), gone("b"), file("c")], [file("a", TWO), file("b"), gone("c")])).toEqual([
      gone("c"),
      file("a", TWO),
      file("b"),
    ]);
  });

  it("is frames of JSON with the bytes of files, and ends with an empty one", async () => {
    const bytes: number[] = [];
    const writes: ViewWrite[] = [gone("a"), { path: "l", mode: "120000", target: "t" }, file("é")];
    for await (const part of encodeWrites(writes, { get: async () => Buffer.from("one") })) bytes.push(...part);
    const all = Buffer.from(bytes);
    const frames = [
      '{"path":"a","mode":null}',
      '{"path":"l","mode":"120000","target":"t"}',
      '{"path":"é","mode":"100644","size":3}',
    ];
    const expected = frames.map((text) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(Buffer.byteLength(text));
      return Buffer.concat([length, Buffer.from(text)]);
    });
    expect(all.equals(Buffer.concat([...expected, Buffer.from("one"), Buffer.alloc(4)]))).toBe(true);
  });
});

describe("what is read back", () => {
  it("is what was written", () => {
    const writes: ViewWrite[] = [gone("a"), { path: "l", mode: "120000", target: "t" }, file("f")];
    expect(() => checkWritten(writes, [...writes].reverse())).not.toThrow();
  });

  it.each([
    ["other bytes", file("f", TWO)],
    ["another mode", { path: "f", mode: "100755", sha256: ONE }],
    ["a link", { path: "f", mode: "120000", target: ONE }],
    ["a special file", { path: "f", mode: "other" }],
    ["nothing", gone("f")],
    ["another path", file("g")],
  ] as const)("is not: VERIFY_VIEW_MISMATCH for %s", (_, found) => {
    expect(() => checkWritten([file("f")], [found])).toThrow(
      expect.objectContaining({ code: "VERIFY_VIEW_MISMATCH", where: "f" }),
    );
  });

  it("is refused where a file stayed that had to go, or a link leads elsewhere", () => {
    const mismatch = expect.objectContaining({ code: "VERIFY_VIEW_MISMATCH" });
    expect(() => checkWritten([gone("f")], [file("f")])).toThrow(mismatch);
    const link = (target: string): ViewWrite => ({ path: "f", mode: "120000", target });
    expect(() => checkWritten([link("a")], [link("b")])).toThrow(mismatch);
  });
});
