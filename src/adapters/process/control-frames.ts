/** What travels over a control socket: a byte for the type, four for the length, then the payload. */
export const FRAME = { hello: 0, bytes: 1, state: 2, size: 3, signal: 4, event: 5, end: 9 } as const;

export type FrameType = (typeof FRAME)[keyof typeof FRAME];

export interface Frame {
  readonly type: number;
  readonly payload: Buffer;
}

/** The largest payload that is taken from anybody. */
const MOST_PAYLOAD = 64 * 1024;
const HEAD = 5;

export function encodeFrame(type: FrameType, payload: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(HEAD + payload.length);
  frame.writeUInt8(type, 0);
  frame.writeUInt32BE(payload.length, 1);
  frame.set(payload, HEAD);
  return frame;
}

/** Bytes of any length as frames that everybody takes. */
export function encodeBytes(bytes: Uint8Array): Buffer {
  const frames: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += MOST_PAYLOAD) {
    frames.push(encodeFrame(FRAME.bytes, bytes.subarray(at, at + MOST_PAYLOAD)));
  }
  return Buffer.concat(frames);
}

export function encodeJson(type: FrameType, value: object): Buffer {
  return encodeFrame(type, Buffer.from(JSON.stringify(value)));
}

/** Puts frames together again out of whatever pieces arrive. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  /** Null: a length that nobody who means well would send. */
  add(bytes: Buffer): Frame[] | null {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const frames: Frame[] = [];
    while (this.#rest.length >= HEAD) {
      const length = this.#rest.readUInt32BE(1);
      if (length > MOST_PAYLOAD) return null;
      if (this.#rest.length < HEAD + length) break;
      frames.push({ type: this.#rest.readUInt8(0), payload: this.#rest.subarray(HEAD, HEAD + length) });
      this.#rest = this.#rest.subarray(HEAD + length);
    }
    return frames;
  }
}

/** An object of a payload, or null for anything else. */
export function readObject({ payload }: Frame): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(payload.toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return null;
    throw thrown;
  }
}
