import { crc32, deflateSync } from "node:zlib";

/** A chunk of a PNG. */
export function chunk(type: string, data: Uint8Array): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const crc = Buffer.alloc(4);
  crc.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, crc]);
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const END = chunk("IEND", Buffer.alloc(0));

/** A grey picture of one pixel, with other chunks between its header and its data. */
export function pngPicture(...others: readonly Buffer[]): Buffer {
  const header = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0]);
  const data = chunk("IDAT", deflateSync(Buffer.from([0, 128])));
  return Buffer.concat([SIGNATURE, chunk("IHDR", header), ...others, data, END]);
}

/** A card in a picture that can be looked at. */
export function pngCard(card: object, keyword = "chara"): Buffer {
  const text = `${keyword}\0${Buffer.from(JSON.stringify(card)).toString("base64")}`;
  return pngPicture(chunk("tEXt", Buffer.from(text, "latin1")));
}

function segment(marker: number, data: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([0xff, marker, (data.length + 2) >> 8, (data.length + 2) & 255]), data]);
}

/** A JPEG with the parts that a reader looks at, a remark of its camera and a comment. */
export function jpegPicture(remark = "taken at home"): Buffer {
  const frame = segment(0xc0, Buffer.from([8, 0, 2, 0, 3, 1, 1, 0x11, 0]));
  const scan = Buffer.concat([
    segment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])),
    Buffer.from([1, 2, 0xff, 0, 3, 0xff, 0xd0, 4]),
  ]);
  const remarks = [segment(0xe1, Buffer.from(`Exif ${remark}`)), segment(0xfe, Buffer.from(remark))];
  return Buffer.concat([Buffer.from([0xff, 0xd8]), ...remarks, frame, scan, Buffer.from([0xff, 0xd9])]);
}

/** A WebP with an extended header and something said about it. */
export function webpPicture(remark = "taken at home"): Buffer {
  const part = (name: string, data: Buffer) => {
    const head = Buffer.alloc(8);
    head.write(name, "latin1");
    head.writeUInt32LE(data.length, 4);
    return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
  };
  const extended = Buffer.from([0x2c, 0, 0, 0, 2, 0, 0, 1, 0, 0]);
  const body = Buffer.concat([
    Buffer.from("WEBP"),
    part("VP8X", extended),
    part("VP8 ", Buffer.from([1, 2, 3])),
    part("EXIF", Buffer.from(remark)),
  ]);
  const head = Buffer.alloc(8);
  head.write("RIFF", "latin1");
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body]);
}
