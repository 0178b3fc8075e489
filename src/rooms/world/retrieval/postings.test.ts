import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type IndexedEntry, RecentTerms, toPostings, toRecentRow } from "./postings.ts";

const KEYS = ["t:a", "t:ab", "t:b", "t:海", "t:ท", "v:1", "v:11", "a:1"] as const;

/** Entries with consecutive numbers, cut into commits. */
const commits = fc
  .tuple(
    fc.integer({ min: 1, max: 600 }),
    fc.array(fc.array(fc.uniqueArray(fc.constantFrom(...KEYS), { minLength: 1 }), { minLength: 1, maxLength: 4 }), {
      maxLength: 30,
    }),
  )
  .map(([first, lists]) => {
    let wseq = first;
    return lists.map((commit): IndexedEntry[] => commit.map((keys) => ({ wseq: wseq++, keys })));
  });

describe("keys that are not in posting lists yet", () => {
  it("are the entries they were made of", () => {
    fc.assert(
      fc.property(commits, (parts) => {
        expect([...new RecentTerms(parts.map(toRecentRow)).entries()]).toEqual(parts.flat());
      }),
    );
  });

  it("are found under the same numbers as in posting lists, and a key is not part of another", () => {
    fc.assert(
      fc.property(commits, fc.constantFrom(...KEYS), (parts, key) => {
        const expected = new Map<number, number[]>();
        for (const { wseq, keys } of parts.flat()) {
          if (!keys.includes(key)) continue;
          const block = Math.floor(wseq / 256);
          expected.set(block, [...(expected.get(block) ?? []), wseq % 256]);
        }
        const rows = [...expected].map(([block, lows]) => ({ key, block, lows: Uint8Array.from(lows) }));
        expect(new RecentTerms(parts.map(toRecentRow)).find(key)).toEqual(rows);
        expect(toPostings(parts.flat()).filter((row) => row.key === key)).toEqual(rows);
      }),
    );
  });
});
