// The theorem of long lines: a beat whose text passes the size check never ends in REHYDRATION_FAILED, however long and odd
// the lines of its world are. Random worlds, settings and texts, from a seed that a failure prints.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { intlGraphemes } from "../../src/adapters/intl/graphemes.ts";
import { isVerbatimError } from "../../src/core/errors/index.ts";
import { parseCall } from "../../src/rooms/world/beat/calls.ts";
import { verifyWorld } from "../../src/rooms/world/history/verify.ts";
import { lineCapOf } from "../../src/rooms/world/knowledge/bounds.ts";
import { quoteLine } from "../../src/rooms/world/knowledge/line-quote.ts";
import { addPerson, setPresence } from "../../src/rooms/world/people/people.ts";
import { addCalendarItem } from "../../src/rooms/world/people/pocket-writing.ts";
import { BYTES_BY_THREE } from "../../src/rooms/world/people/tokens.ts";
import { envelope, ListedModel, makeHarbour, OLLAMA, openWorlds, says } from "../support/world.ts";

const PIECES = [
  "The tide is out. ",
  '"Quotes, \\ and more." ',
  "\u0001\u0002\t",
  "潮は引いた。",
  "👨‍👩‍👧‍👦",
  "a\u0301\u0323",
  "x",
  "\r\n",
];

/** A text of about so many bytes of one kind, with something to read in it. */
function textOf(piece: string, bytes: number): string {
  const unit = new TextEncoder().encode(piece).length;
  return `.${piece.repeat(Math.max(1, Math.floor((bytes - 2) / unit)))}`;
}

describe("a legal long line", () => {
  it("never keeps a world from its next beat", async () => {
    await using worlds = await openWorlds({ models: new ListedModel() });
    const world = fc.record({
      window_tokens: fc.constantFrom(6144, 8192, 16_384, 32_768, 65_536),
      threshold_percent: fc.constantFrom(60, 80, 95),
      pack_percent: fc.constantFrom(5, 40, 60),
      cast: fc.constantFrom("room", "each"),
      people: fc.constantFrom(2, 2, 5),
      beats: fc.array(
        fc.record({
          said: fc.tuple(fc.constantFrom(...PIECES), fc.constantFrom(5, 300, 9000, 44_000, 65_000)),
          answered: fc.tuple(fc.constantFrom(...PIECES), fc.constantFrom(5, 2000, 56_000, 65_000)),
          due: fc.boolean(),
        }),
        { minLength: 4, maxLength: 5 },
      ),
    });
    let count = 0;
    let kept = 0;
    const run = async ({ beats, people, cast, ...context }: typeof world extends fc.Arbitrary<infer W> ? W : never) => {
      const model = new ListedModel();
      const settings = { ...OLLAMA, cast, context, tools: { max_calls: 0 } };
      const id = await makeHarbour(worlds, settings, `w_random-${++count}`);
      const present = ["ANA", "GEORGE"];
      for (let i = 0; i < people - 2; i++) {
        const person = { person_id: `GUEST_${i}`, display_name: `${"Long Name ".repeat(7)}${i}` };
        await addPerson(worlds.ports, id, person);
        present.push(person.person_id);
      }
      await setPresence(worlds.ports, id, present);
      worlds.ports.models.chat = (request) => model.chat(request);
      for (const [i, { said, answered, due }] of beats.entries()) {
        const item = { title: "x".repeat(200), time: "2026-01-01T07:30", location: null, notes: textOf(said[0], 1900) };
        if (due) await addCalendarItem(worlds.ports, id, { ...item, visible_to: ["GEORGE", "ANA"] });
        const line = says("ANA", textOf(...answered));
        model.answers.length = 0;
        model.answers.push(...(cast === "room" ? [line] : [line, "", ""]));
        try {
          await worlds.beats.invoke(id, envelope(`r${i}`, textOf(...said)));
          kept++;
        } catch (thrown) {
          if (!isVerbatimError(thrown)) throw thrown;
          expect(thrown.code).toBe("INPUT_EXCEEDS_CONTEXT");
          const { max_bytes, bytes } = thrown.details as { readonly max_bytes: number; readonly bytes: number };
          expect(max_bytes).toBeLessThan(bytes);
        }
      }
      // Whatever was said before, a short line is a beat.
      model.answers.length = 0;
      model.answers.push(...(cast === "room" ? [says("ANA", "Aye.")] : [says("ANA", "Aye."), "", ""]));
      await worlds.beats.invoke(id, envelope("last", "Still here."));
    };
    await fc.assert(fc.asyncProperty(world, run), { numRuns: 8, endOnFailure: true });
    expect(kept).toBeGreaterThan(0);
    expect((await verifyWorld(worlds.ports, "w_random-1")).findings).toEqual([]);
  }, 300_000);

  it("of 56,000 bytes is followed by twenty beats, quoted by its beginning and its end", async () => {
    const long = `BEGIN ${"The tide is out. ".repeat(3290)}END`;
    const model = new ListedModel(says("ANA", long));
    await using worlds = await openWorlds({ models: model });
    const id = await makeHarbour(worlds, OLLAMA);
    await setPresence(worlds.ports, id, ["GEORGE", "ANA"]);
    for (let i = 0; i < 21; i++) {
      const { headers } = await worlds.beats.invoke(id, envelope(`r${i}`, `${i}. And then?`));
      expect(headers["Verbatim-Beat-Result"]).toBe(i === 0 ? "WROTE" : "SILENCE");
    }
    const { recent } = JSON.parse(model.prompts[1]!.user) as { readonly recent: { readonly text: string }[] };
    const [head, tail] = recent.at(-1)!.text.split("\n");
    expect([head!.slice(0, 6), tail!.slice(-3), long.includes(head!), long.includes(tail!)]).toEqual([
      "BEGIN ",
      "END",
      true,
      true,
    ]);
    const calls = await worlds.ports.store.read((tx) => tx.world.calls(1, "r1", 1));
    const part = parseCall(calls[0]!).parts.find(({ part: name }) => name === "recent")!;
    expect(part.quoted).toBe(true);
    const [[from, to], [start, end]] = part.quotes![0]!.ranges as [[number, number], [number, number]];
    expect([long.slice(from, to), long.slice(start, end)]).toEqual([head, tail]);
  });
});

it("a quote is within its cap, made of exact parts at the ends, and has something to read", () => {
  const cast = {
    operator_id: "GEORGE",
    operator_name: "George",
    people: new Map(),
    present: [],
    visibility_default: "presence",
    writer_lint: "off",
  } as const;
  const ports = { graphemes: intlGraphemes, tokenizer: BYTES_BY_THREE };
  const entry = (text: string) =>
    ({ author: { author_id: "GEORGE", author_class: "OPERATOR" }, channel: "USER", text }) as never;
  fc.assert(
    fc.property(
      fc.constantFrom(...PIECES),
      fc.integer({ min: 1, max: 4000 }),
      fc.integer({ min: 0, max: 300 }),
      (piece, bytes, cap) => {
        const text = textOf(piece, bytes);
        const { quote } = quoteLine(ports, cast, entry(text), cap) as {
          readonly quote?: {
            readonly rendered: string;
            readonly text: string;
            readonly ranges: readonly (readonly [number, number])[];
          };
        };
        if (quote === undefined) {
          expect(BYTES_BY_THREE.count(`George: ${text}`)).toBeLessThanOrEqual(cap);
          return;
        }
        if (cap >= 24) expect(BYTES_BY_THREE.count(quote.rendered)).toBeLessThanOrEqual(cap + 1);
        expect(quote.ranges.map(([from, to]) => text.slice(from, to)).join("\n")).toBe(quote.text);
        expect(quote.rendered.trim()).not.toBe("");
      },
    ),
    { numRuns: 150 },
  );
  expect(lineCapOf(22_528)).toBe(2252);
});
