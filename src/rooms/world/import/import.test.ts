import { crc32, deflateSync } from "node:zlib";
import fc from "fast-check";
import { type Zippable, zipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { zlibInflater } from "../../../adapters/zlib/inflater.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import type { Cast } from "../people/cast.ts";
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
const importOf = (bytes: Uint8Array) => readImport(cast, bytes, options, zlibInflater);
const read = (value: unknown) =>
  importOf(typeof value === "string" ? Buffer.from(value) : Buffer.from(JSON.stringify(value)));

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
    expect(importOf(image)).toMatchObject({ version: "V3", people: [{ person_id: "NEW" }] });
  });

  it("is refused when a chunk is damaged", () => {
    const image = png(["chara", { name: "Mira", description: "x" }]);
    image[60] = image[60]! ^ 1;
    expect(() => importOf(image)).toThrow(expect.objectContaining({ code: "IMPORT_FORMAT_UNKNOWN" }));
  });

  const international = (keyword: string, text: string, method = 0) =>
    Buffer.concat([
      png().subarray(0, -12),
      chunk("iTXt", Buffer.concat([Buffer.from(`${keyword}\0\u0001`), Buffer.from([method, 0, 0]), deflateSync(text)])),
      chunk("IEND", Buffer.alloc(0)),
    ]);

  it("is read from a compressed chunk too", () => {
    const text = Buffer.from(JSON.stringify({ name: "Mira", description: "Packed." })).toString("base64");
    expect(importOf(international("chara", text)).lines.map((line) => line.text)).toEqual(["Packed."]);
  });

  it("is refused when it is packed like a bomb, or in a way nobody knows", () => {
    for (const image of [international("chara", "A".repeat(40_000_000)), international("chara", "QUJD", 7)]) {
      expect(() => importOf(image)).toThrow(expect.objectContaining({ code: "IMPORT_FORMAT_UNKNOWN" }));
    }
  });

  it("leaves compressed text of others alone", () => {
    expect(() => importOf(international("comment", "A".repeat(40_000_000)))).toThrow("contains no card");
  });
});

describe("a card in an archive", () => {
  const card = Buffer.from(JSON.stringify({ spec: "chara_card_v3", data: { name: "Mira", description: "In a box." } }));
  const zip = (files: Zippable) => Buffer.from(zipSync(files));

  it.each([
    ["packed", zip({ "card.json": card, "assets/icon.png": new Uint8Array(50) })],
    ["stored", zip({ "card.json": [card, { level: 0 }] })],
  ])("is read when it is %s; nothing else of the archive is", (_, archive) => {
    const plan = importOf(archive);
    expect(plan).toMatchObject({ version: "V3", people: [{ person_id: "MIRA" }] });
    expect(plan.lines.map(({ text }) => text)).toEqual(["In a box."]);
  });

  const FORMAT = "IMPORT_FORMAT_UNKNOWN";
  const broken = zip({ "card.json": card });
  broken[45] = broken[45]! ^ 0xff;
  it.each([
    ["without a card", zip({ "other.json": card }), FORMAT],
    ["with a name that climbs out", zip({ "card.json": card, "../evil.json": card }), FORMAT],
    ["with an absolute name", zip({ "card.json": card, "/etc/x": card }), FORMAT],
    ["with a name of another system", zip({ "card.json": card, "C:\\x": card }), FORMAT],
    ["whose card unpacks to something else than it says", broken, FORMAT],
    ["that ends too early", zip({ "card.json": card }).subarray(0, -3), FORMAT],
    ["that is a bomb", zip({ "card.json": new Uint8Array(7_000_000) }), "IMPORT_TOO_LARGE"],
    ["whose other files are a bomb", zip({ "card.json": card, x: new Uint8Array(9_000_000) }), "IMPORT_TOO_LARGE"],
  ])("is refused in an archive %s", (_, archive, code) => {
    expect(() => importOf(archive)).toThrow(expect.objectContaining({ code }));
  });

  it("is refused when it is there twice: two readers could see two cards", () => {
    const twice = zip({ "card.json": card, "card.jsoN": card });
    const text = twice.toString("latin1").replaceAll("card.jsoN", "card.json");
    expect(() => importOf(Buffer.from(text, "latin1"))).toThrow(expect.objectContaining({ code: FORMAT }));
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

  it("of one line is read whatever numbers stand beside its text", () => {
    const plan = read('{"name":"Ana","mes":"Hi.","extra":{"seed":123456789012345678901234567890,"score":2.0}}');
    expect(plan.version).toBe("CHAT");
    expect(plan.lines.map(({ text, from }) => [text, from])).toEqual([["Hi.", "line 1"]]);
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
      fc.tuple(fc.nat(), fc.nat(255)).map(([at, byte]) => {
        const archive = Buffer.from(zipSync({ "card.json": Buffer.from('{"name":"x"}') }));
        archive[at % archive.length] = byte;
        return archive;
      }),
    );
    fc.assert(
      fc.property(bytes, (file) => {
        try {
          importOf(file);
        } catch (thrown) {
          expect(isVerbatimError(thrown)).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });
});
