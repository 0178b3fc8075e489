import { decodeUtf8 } from "../../core/canonical/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import type { BodyPiece, PartedBody, SyncCrypto } from "../../core/ports.ts";

/** From this many bytes on a piece is kept once for all entries that have it. */
const LONG = 64 * 1024;
/** What the body of an entry with pieces begins with. No JSON does. */
const MARK = "@";

/** The body of an entry as a database keeps it: texts and names of pieces in turn, or simply its text. */
export interface StoredBody {
  readonly text: string;
  readonly pieces: readonly BodyPiece[];
}

/** Divides a body into what is kept with its entry and the pieces that are kept once. */
export function toStoredBody({ parts }: PartedBody): StoredBody {
  const items = [""];
  const pieces: BodyPiece[] = [];
  for (const part of parts) {
    if (typeof part === "string" || part.size < LONG) items.push(`${items.pop()!}${textOf(part)}`);
    else {
      pieces.push(part);
      items.push(part.sha256, "");
    }
  }
  return { text: pieces.length === 0 ? items[0]! : MARK + JSON.stringify(items), pieces };
}

/** The text of a piece as the database keeps it. */
export function textOf(part: string | BodyPiece): string {
  return typeof part === "string" ? part : (decodeUtf8(part.bytes()) ?? "");
}

/** The text of a piece that is about to be kept for good: under another's name it would spoil later entries. */
export function requirePiece(crypto: Pick<SyncCrypto, "sha256">, piece: BodyPiece): string {
  const text = textOf(piece);
  if (crypto.sha256(`${text}\n`) === piece.sha256) return text;
  throw new VerbatimError("LEDGER_ENTRY_INVALID", {
    message: "a part of the body does not match the hash it is named by",
  });
}

/** The names of the pieces of a stored body; none for one that is simply a text. */
export function piecesOf(body: string): readonly string[] {
  return body.startsWith(MARK) ? readItems(body).filter((_, i) => i % 2 === 1) : [];
}

/** A body as it was appended. Where a piece is missing the stored form is given, which has not the hash of the body. */
export function joinBody(body: string, find: (name: string) => string | undefined): string {
  if (!body.startsWith(MARK)) return body;
  const texts = readItems(body).map((item, i) => (i % 2 === 0 ? item : find(item)));
  return texts.includes(undefined) ? body : texts.join("");
}

function readItems(body: string): readonly string[] {
  try {
    const items: unknown = JSON.parse(body.slice(MARK.length));
    return Array.isArray(items) ? items.map(String) : [];
  } catch (thrown) {
    // Someone wrote to the database: whoever verifies the entry finds that its body has another hash.
    if (thrown instanceof SyntaxError) return ["", body];
    throw thrown;
  }
}
