// Patches of random and of broken bytes: reading hunks never does anything but refuse, and never loses or invents a line.
import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { applyEdits, readHunks } from "../../src/rooms/workflow/candidate/hunks.ts";
import { PatchRefused } from "../../src/rooms/workflow/patch/rejection.ts";
import { makeDice, makePatch } from "../support/patch-fuzz.ts";

describe("hunks of patches that somebody made up", () => {
  it("are refused as the gate refuses them, or are exactly the lines of the patch", () => {
    const dice = makeDice(20_261_116);
    let [read, refused] = [0, 0];
    for (let i = 0; i < 3000; i++) {
      const patch = makePatch(dice);
      // Every third one with a byte changed.
      if (i % 3 === 0) patch[dice(patch.length)] = dice(256);
      try {
        for (const { section, hunks } of readHunks(patch, nodeCrypto).values()) {
          read++;
          expect(hunks.reduce((sum, { facts }) => sum + facts.added, 0)).toBe(section.added);
          expect(hunks.reduce((sum, { facts }) => sum + facts.deleted, 0)).toBe(section.deleted);
          expect(hunks.map(({ facts }) => facts.n)).toEqual(hunks.map((_, k) => k + 1));
        }
      } catch (thrown) {
        if (!(thrown instanceof PatchRefused)) throw thrown;
        refused++;
      }
    }
    expect(read).toBeGreaterThan(300);
    expect(refused).toBeGreaterThan(300);
  });

  it("are never applied to a text that does not have their lines", () => {
    const line = (text: string) => Buffer.from(text);
    const base = line("a\nb\n");
    for (const edit of [
      { at: 0, remove: [line("b\n")], insert: [] },
      { at: 1, remove: [line("b")], insert: [] },
      { at: 3, remove: [], insert: [line("x\n")] },
      { at: 2, remove: [line("c\n")], insert: [] },
    ]) {
      expect(() => applyEdits(base, [edit])).toThrow(expect.objectContaining({ code: "INTERNAL" }));
    }
    const twice = { at: 0, remove: [line("a\n")], insert: [] };
    expect(() => applyEdits(base, [twice, twice])).toThrow(expect.objectContaining({ code: "INTERNAL" }));
  });
});
