import fc from "fast-check";
import { zipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { chunk, jpegPicture, pngCard, pngPicture, webpPicture } from "../../../../test/support/pictures.ts";
import { zlibInflater } from "../../../adapters/zlib/inflater.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import { findCard } from "./find-card.ts";
import { cleanPicture } from "./picture.ts";

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");

describe("a cleaned picture", () => {
  it("of a card is the picture alone, byte for byte", () => {
    const clean = cleanPicture(pngCard({ name: "Mira", description: "a secret" }));
    expect(clean.media_type).toBe("image/png");
    expect(Buffer.from(clean.bytes)).toEqual(pngPicture());
  });

  it.each([
    ["image/jpeg", jpegPicture("where the key is")],
    ["image/webp", webpPicture("where the key is")],
    [
      "image/png",
      Buffer.concat([pngPicture(chunk("eXIf", Buffer.from("where the key is"))), Buffer.from("where the key is")]),
    ],
  ])("of type %s has nothing that was said about it, and cleaning it again changes nothing", (type, picture) => {
    const clean = cleanPicture(picture);
    expect(clean.media_type).toBe(type);
    expect(text(picture)).toContain("where the key is");
    expect(text(clean.bytes)).not.toContain("key");
    expect(Buffer.from(cleanPicture(clean.bytes).bytes)).toEqual(Buffer.from(clean.bytes));
  });

  it("keeps the data of a scan, stuffed bytes and restarts included", () => {
    expect(text(cleanPicture(jpegPicture()).bytes)).toContain(String.fromCharCode(1, 2, 0xff, 0, 3, 0xff, 0xd0, 4));
  });

  it("of the web says no longer that there is more than a picture", () => {
    const clean = Buffer.from(cleanPicture(webpPicture()).bytes);
    expect(clean.readUInt32LE(4)).toBe(clean.length - 8);
    expect(clean[20]).toBe(0);
  });

  const huge = pngPicture();
  huge.writeUInt32BE(100_000, 16);
  it.each([
    ["text", Buffer.from("<svg onload=alert(1)>"), "IMPORT_FORMAT_UNKNOWN"],
    ["one that ends too early", pngPicture().subarray(0, -5), "IMPORT_FORMAT_UNKNOWN"],
    ["a JPEG without a picture", Buffer.from([0xff, 0xd8, 0xff, 0xd9]), "IMPORT_FORMAT_UNKNOWN"],
    ["one whose checksum is wrong", huge, "IMPORT_FORMAT_UNKNOWN"],
    [
      "one with more data than a picture has",
      pngPicture(chunk("IDAT", Buffer.alloc(4 * 1024 * 1024))),
      "IMPORT_TOO_LARGE",
    ],
    [
      "one with a header that is too wide",
      Buffer.concat([
        pngPicture().subarray(0, 8),
        chunk("IHDR", Buffer.from([0, 1, 0, 0, 0, 0, 0, 1, 8, 0, 0, 0, 0])),
        pngPicture().subarray(33),
      ]),
      "IMPORT_TOO_LARGE",
    ],
  ])("is never made of %s", (_, bytes, code) => {
    expect(() => cleanPicture(bytes)).toThrow(expect.objectContaining({ code }));
  });

  it("is made or refused whatever the bytes are", () => {
    const spoiled = fc.tuple(fc.constantFrom(jpegPicture(), webpPicture(), pngPicture()), fc.nat(), fc.nat(255));
    fc.assert(
      fc.property(spoiled, ([picture, at, byte]) => {
        const bytes = Buffer.from(picture);
        bytes[at % bytes.length] = byte;
        try {
          const once = cleanPicture(bytes).bytes;
          expect(Buffer.from(cleanPicture(once).bytes)).toEqual(Buffer.from(once));
        } catch (thrown) {
          expect(isVerbatimError(thrown)).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe("a card in an archive behind an image", () => {
  const card = Buffer.from(JSON.stringify({ spec: "chara_card_v3", data: { name: "Mira" } }));
  const archive = Buffer.from(zipSync({ "card.json": card }));
  const find = (...parts: readonly Buffer[]) => findCard(zlibInflater, Buffer.concat(parts), 2);

  it.each([
    ["PNG", pngPicture()],
    ["JPEG", jpegPicture()],
  ])("is found, and so is the picture: %s", (_, picture) => {
    const found = find(picture, archive);
    expect(Buffer.from(found.json)).toEqual(card);
    expect(Buffer.from(found.picture!)).toEqual(picture);
  });

  it.each([
    ["with something between them", [jpegPicture(), Buffer.from("x"), archive], "between the image and the archive"],
    ["with a card in the image too", [pngCard({ name: "Other" }), archive], "both contain a card"],
    ["that is cut", [jpegPicture(), archive.subarray(0, -1)], "contains no card"],
  ])("is refused %s", (_, parts, message) => {
    expect(() => find(...parts)).toThrow(message);
  });
});
