import fc from "fast-check";
import { expect, it } from "vitest";
import { applyEdits, type Edit, type Hunk } from "../candidate/hunks.ts";
import { listAddedRanges } from "./added-ranges.ts";
import { toModelId } from "./model-id.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

it("names every added line by its place in the file as the change leaves it, and no other line", () => {
  const step = fc.record({ keep: fc.nat(3), remove: fc.nat(3), insert: fc.nat(3) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), fc.nat(3), (steps, perHunk) => {
      const edits: Edit[] = [];
      const base: string[] = [];
      let added = 0;
      for (const { keep, remove, insert } of steps) {
        for (let i = 0; i < keep; i++) base.push(`kept ${base.length}\n`);
        const gone = Array.from({ length: remove }, (_, i) => `gone ${base.length + i}\n`);
        const come = Array.from({ length: insert }, () => `added ${added++}\n`);
        edits.push({ at: base.length, remove: gone.map(encode), insert: come.map(encode) });
        base.push(...gone);
      }
      const hunks: Pick<Hunk, "edits">[] = [];
      for (let at = 0; at < edits.length; at += perHunk + 1) hunks.push({ edits: edits.slice(at, at + perHunk + 1) });
      const image = decode(applyEdits(encode(base.join("")), edits)).split("\n");
      const ranges = listAddedRanges(hunks);
      for (const { start_line, end_line, bytes } of ranges) {
        expect(decode(bytes)).toBe(
          image
            .slice(start_line - 1, end_line)
            .map((line) => `${line}\n`)
            .join(""),
        );
      }
      const named = ranges.reduce((sum, { start_line, end_line }) => sum + end_line - start_line + 1, 0);
      expect(named).toBe(image.filter((line) => line.startsWith("added")).length);
    }),
  );
});

it("names models as models.dev does, where their name says whose they are", () => {
  const names = ["claude-sonnet-5", "gpt-6", "o3-mini", "gemini-3", "harbour-1", "mistral/large", "x".repeat(300)];
  expect(names.map(toModelId)).toEqual([
    "anthropic/claude-sonnet-5",
    "openai/gpt-6",
    "openai/o3-mini",
    "google/gemini-3",
    "harbour-1",
    "mistral/large",
    "x".repeat(250),
  ]);
});
