import { crc32 } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isVerbatimError } from "../../../core/errors/index.ts";
import type { Cast } from "../cast.ts";
import { readImport } from "./read.ts";

const cast: Cast = {
  operator_id: "GEORGE",
  operator_name: "George",
  people: new Map([["ANA", "Ana"]]),
  present: ["GEORGE"],
  visibility_default: "presence",
  writer_lint: "report",
};
const options = { expand_names: true, lore: "world", enter: true } as const;
const read = (value: unknown) =>
  readImport(cast, typeof value === "string" ? Buffer.from(value) : Buffer.from(JSON.stringify(value)), options);

function chunk(type: string, data: Uint8Array): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const crc = Buffer.alloc(4);
  crc.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, crc]);
}

function png(...texts: readonly (readonly [keyword: string, card: object])[]): Buffer {
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const chunks = texts.map(([keyword, card]) =>
    chunk("tEXt", Buffer.from(`${keyword}\0${Buffer.from(JSON.stringify(card)).toString("base64")}`, "latin1")),
  );
  return Buffer.concat([signature, chunk("IHDR", Buffer.alloc(13)), ...chunks, chunk("IEND", Buffer.alloc(0))]);
}

describe("a card in an image", () => {
  it("is read from the newer chunk when both are there", () => {
    const image = png(["chara", { name: "Old" }], ["ccv3", { spec: "chara_card_v3", data: { name: "New" } }]);
    expect(readImport(cast, image, options)).toMatchObject({ version: "V3", people: [{ person_id: "NEW" }] });
  });

  it("is refused when a chunk is damaged", () => {
    const image = png(["chara", { name: "Mira", description: "x" }]);
    image[60] = image[60]! ^ 1;
    expect(() => readImport(cast, image, options)).toThrow(expect.objectContaining({ code: "IMPORT_FORMAT_UNKNOWN" }));
  });
});

describe("a chat", () => {
  it("becomes lines of the operator and of people, seen by everybody who speaks in it", () => {
    const lines = [
      { user_name: "George", character_name: "Ana" },
      { name: "George", is_user: true, mes: "Hello." },
      { name: "Ana", is_user: false, mes: "Hi." },
      { name: "Narrator", is_system: true, mes: "hidden" },
      { name: "Cleo", is_user: false, mes: "And me." },
    ];
    const plan = read(lines.map((line) => JSON.stringify(line)).join("\n"));
    expect(plan.people).toEqual([{ person_id: "CLEO", display_name: "Cleo" }]);
    expect(plan.lines.map(({ channel, author, text }) => [channel, author.author_id, text])).toEqual([
      ["USER", "GEORGE", "Hello."],
      ["PEOPLE", "ANA", "Hi."],
      ["PEOPLE", "CLEO", "And me."],
    ]);
    expect(plan.lines[0]!.visibility).toEqual({ scope: "PRIVATE", visible_to: ["ANA", "CLEO", "GEORGE"] });
    expect(plan.not_imported).toEqual(["line 4"]);
  });
});

describe("a lorebook", () => {
  it("of a world-info file is ordered by order, then key, without what is disabled", () => {
    const plan = read({
      entries: {
        1: { content: "second", order: 5 },
        0: { content: "first", order: 5 },
        2: { content: "zero", order: 1 },
        3: { content: "off", disable: true },
      },
    });
    expect(plan.lines.map(({ text }) => text)).toEqual(["zero", "first", "second"]);
    expect(plan.lines[0]!.visibility).toEqual({ scope: "PRIVATE", visible_to: ["WORLD"] });
    expect(plan.not_imported).toEqual(["/entries/3/content"]);
  });
});

describe("a file that is nothing of the kind", () => {
  it.each([[[]], [{ spec: "chara_card_v9", data: { name: "x" } }], [5], ["not json at all"], [{ name: " " }]])(
    "is refused: %j",
    (value) => {
      expect(() => read(value)).toThrow(expect.objectContaining({ code: "IMPORT_FORMAT_UNKNOWN" }));
    },
  );

  it("never makes the reader crash", () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc
        .uint8Array({ maxLength: 200 })
        .map((tail) => Buffer.concat([png(["chara", { name: "x" }]).subarray(0, 50), tail])),
      fc.json().map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(bytes, (file) => {
        try {
          readImport(cast, file, options);
        } catch (thrown) {
          expect(isVerbatimError(thrown)).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });
});
