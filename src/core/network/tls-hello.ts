/** What the first bytes of a connection say about the server they are meant for. */
export type TlsHello =
  | { readonly kind: "more" }
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "no_name" }
  | { readonly kind: "not_tls" };

const MORE: TlsHello = { kind: "more" };
const NO_NAME: TlsHello = { kind: "no_name" };
const NOT_TLS: TlsHello = { kind: "not_tls" };

const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const LONGEST_RECORD = 16_384;
const SERVER_NAME = 0;
const HOST_NAME = 0;

/** The longest greeting that is waited for, in bytes of the connection. */
export const LONGEST_HELLO = 16_384;

/**
 * The server name of a TLS greeting, put together over records, however the bytes were cut. It answers whatever it is
 * given and never throws; a greeting that says two things is not one.
 */
export function readTlsHello(bytes: Uint8Array): TlsHello {
  const message: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (bytes[at] !== HANDSHAKE || (bytes[at + 1] ?? 3) !== 3) return NOT_TLS;
    if (at + 5 > bytes.length) return MORE;
    const length = (bytes[at + 3]! << 8) | bytes[at + 4]!;
    if (length === 0 || length > LONGEST_RECORD) return NOT_TLS;
    for (const byte of bytes.subarray(at + 5, at + 5 + length)) message.push(byte);
    if (message[0] !== undefined && message[0] !== CLIENT_HELLO) return NOT_TLS;
    if (message.length >= 4) {
      const size = (message[1]! << 16) | (message[2]! << 8) | message[3]!;
      if (size > LONGEST_HELLO) return NOT_TLS;
      if (message.length >= 4 + size) return readBody(new Reader(message.slice(4, 4 + size)));
    }
    at += 5 + length;
  }
  return MORE;
}

/** Takes numbers and pieces one after another; once something is missing, everything that follows is too. */
class Reader {
  readonly #bytes: readonly number[];
  #at = 0;
  failed = false;

  constructor(bytes: readonly number[]) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  take(count: number): readonly number[] {
    const piece = this.#bytes.slice(this.#at, this.#at + count);
    if (piece.length < count) this.failed = true;
    this.#at += piece.length;
    return piece;
  }

  number(size: 1 | 2): number {
    return this.take(size).reduce((sum, byte) => sum * 256 + byte, 0);
  }

  /** A piece that begins with its own length. */
  piece(size: 1 | 2): readonly number[] {
    return this.take(this.number(size));
  }
}

function readBody(body: Reader): TlsHello {
  body.take(2 + 32);
  const session = body.piece(1);
  const ciphers = body.piece(2);
  const compressions = body.piece(1);
  const isPlain = session.length <= 32 && ciphers.length >= 2 && ciphers.length % 2 === 0 && compressions.length >= 1;
  if (body.failed || !isPlain) return NOT_TLS;
  if (body.isAtEnd) return NO_NAME;
  const extensions = new Reader(body.piece(2));
  if (body.failed || !body.isAtEnd) return NOT_TLS;
  let found: TlsHello | null = null;
  while (!extensions.isAtEnd) {
    const type = extensions.number(2);
    const content = extensions.piece(2);
    if (extensions.failed) return NOT_TLS;
    if (type !== SERVER_NAME) continue;
    if (found !== null) return NOT_TLS;
    found = readServerName(new Reader(content));
  }
  return found ?? NO_NAME;
}

function readServerName(extension: Reader): TlsHello {
  const list = new Reader(extension.piece(2));
  const type = list.number(1);
  const name = list.piece(2);
  const isOne = !extension.failed && extension.isAtEnd && !list.failed && list.isAtEnd;
  if (!isOne || type !== HOST_NAME || name.length === 0) return NOT_TLS;
  if (name.some((byte) => byte < 0x21 || byte > 0x7e)) return NOT_TLS;
  return { kind: "name", name: String.fromCharCode(...name).toLowerCase() };
}
