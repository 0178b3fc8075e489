import fc from "fast-check";
import { expect, it } from "vitest";
import type { FoundWord } from "../ports.ts";
import { matchTerm } from "./search-match.ts";
import { countSections, eachSection, PLACES, SegmentBuilder } from "./search-segment.ts";
import { toWordTerm } from "./search-term.ts";

const word = fc.constantFrom("amber", "ambers", "birch", "delta");
const section = fc.record({ heading: fc.array(word, { maxLength: 2 }), body: fc.array(word, { maxLength: 12 }) });

it("what a segment says of words and phrases is what the texts say", () => {
  fc.assert(
    fc.property(
      fc.array(section, { minLength: 1, maxLength: 5 }),
      fc.array(word, { minLength: 1, maxLength: 3 }),
      (texts, phrase) => {
        const segment = new SegmentBuilder();
        segment.addFile({ path: "a.md", version: "1" });
        for (const [i, { heading, body }] of texts.entries()) {
          segment.beginSection();
          segment.add(heading.join(" "), PLACES.heading);
          segment.add(body.slice(0, 5).join(" "), PLACES.body);
          segment.add(body.slice(5).join(" "), PLACES.body, true);
          segment.endSection(i);
        }
        const { sections, words } = segment.finish();
        const read: number[][] = [];
        eachSection(sections, (...one) => read.push(one));
        expect(read).toEqual(texts.map(({ body }, ordinal) => [ordinal, 0, ordinal, body.length]));
        expect(countSections(sections)).toBe(texts.length);
        const rows: FoundWord[] = words.map((one) => ({ ...one, segment: 1 }));
        const find = (first: string, last: string) => rows.filter((row) => row.word >= first && row.word <= last);
        const match = matchTerm(
          toWordTerm({ text: phrase.join(" "), prefix: false, quoted: true }),
          texts.length,
          find,
        );
        for (const [i, { heading, body }] of texts.entries()) {
          const [inHeading, inBody] = [countPhrase(heading, phrase), countPhrase(body, phrase)];
          expect(match.counts[i]).toBe(inHeading + inBody);
          if (phrase.length === 1 && inHeading + inBody > 0) {
            const places = (inHeading > 0 ? PLACES.heading : 0) + (inBody > 0 ? PLACES.body : 0);
            expect(match.places[i]).toBe(places);
          }
        }
      },
    ),
    { seed: 7, numRuns: 300 },
  );
});

function countPhrase(words: readonly string[], phrase: readonly string[]): number {
  return words.filter((_, i) => phrase.every((one, k) => words[i + k] === one)).length;
}

it("another form counts only where the word itself is not", () => {
  const segment = new SegmentBuilder();
  segment.addFile({ path: "a.md", version: "1" });
  for (const body of ["amber ambers", "ambers ambers", "birch"]) {
    segment.beginSection();
    segment.add(body, PLACES.body);
    segment.endSection(0);
  }
  const rows = segment.finish().words.map((one) => ({ ...one, segment: 1 }));
  const find = (first: string, last: string) => rows.filter((row) => row.word >= first && row.word <= last);
  const match = matchTerm(toWordTerm({ text: "amber", prefix: false }), 3, find);
  expect([...match.counts]).toEqual([1, 2, 0]);
  expect([...match.loose]).toEqual([0, 1, 0]);
});
