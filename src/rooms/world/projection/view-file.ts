import { formatCanonical, type JsonObject, type JsonValue } from "../../../core/canonical/index.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import { checkProjectionOutput } from "../contracts/projection-output.ts";
import { capsuleSchema } from "../contracts/schemas.ts";
import { type FileFinding, malformed, readLine, signatureOf, splitLines } from "../history/world-file.ts";

/** Format of what one viewer may see of a world. */
export const VIEW_FORMAT = "verbatim.world-view";

/** A view as it was read: its ends, and how many lines of the stream it has. */
interface ViewFile {
  readonly header: JsonObject;
  readonly manifest: JsonObject;
  readonly entries: number;
}

/** The lines of a view with the manifest at their end; it vouches for every byte before it. */
export function closeView(crypto: SyncCrypto, lines: readonly string[]): string[] {
  return [...lines, formatCanonical(toManifest(crypto, lines))];
}

function toManifest(crypto: SyncCrypto, lines: readonly string[]): JsonObject {
  const body = lines.map((line) => `${line}\n`).join("");
  return { type: "manifest", lines: lines.length, file_sha256: crypto.sha256(body) };
}

/** Everything wrong with an exported view: its lines, their order, its manifest. */
export function verifyViewFile(crypto: SyncCrypto, text: string): { file: ViewFile | null; findings: FileFinding[] } {
  const lines = splitLines(text);
  const fix = "Export the view again.";
  let file: ViewFile;
  try {
    file = readViewFile(lines);
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    const [code, where] = ["WORLD_FILE_MALFORMED", thrown.where ?? ""];
    return { file: null, findings: [{ code, where, message: thrown.message, fix }] };
  }
  const manifest = { ...toManifest(crypto, lines.slice(0, -1)), ...signatureOf(file.manifest) };
  if (formatCanonical(manifest) === lines.at(-1)) return { file, findings: [] };
  const [code, where] = ["WORLD_FILE_HASH_MISMATCH", `line ${lines.length}`];
  return { file, findings: [{ code, where, message: "the manifest does not match the lines before it", fix }] };
}

const HEADER = ["format", "note", "title", "type", "version", "viewer", "world_id"] as const;

/** In which order the kinds of lines come. */
const KINDS = ["entry", "capsule", "pocket"] as const;
type Kind = (typeof KINDS)[number];

function readViewFile(lines: readonly string[]): ViewFile {
  const values = lines.map((line, i) => {
    const value = readLine(line, i);
    if (formatCanonical(value) !== line) throw malformed(i + 1, "a line that is not canonical JSON");
    return value;
  });
  const header = values[0]!;
  const isHeader = header["type"] === "header" && header["format"] === VIEW_FORMAT && header["version"] === 1;
  if (!isHeader || Object.keys(header).length !== HEADER.length || HEADER.some((name) => !(name in header))) {
    throw malformed(1, "the first line is not the header of an exported view");
  }
  const manifest = values.at(-1)!;
  if (manifest["type"] !== "manifest") throw malformed(lines.length, "the last line is not a manifest");
  const parts: Record<Kind, JsonValue[]> = { entry: [], capsule: [], pocket: [] };
  let last = 0;
  for (const [i, value] of values.slice(1, -1).entries()) {
    const at = (KINDS as readonly unknown[]).indexOf(value["type"]);
    if (at < last || Object.keys(value).length !== 2)
      throw malformed(i + 2, "a line of an unknown type, or out of order");
    last = at;
    parts[KINDS[at]!].push(value[KINDS[at]!] ?? null);
  }
  requireParts(parts, lines.length);
  return { header, manifest, entries: parts.entry.length };
}

/** The lines of a view are those of a projection, so they are held to the same contract. */
function requireParts({ entry, capsule, pocket }: Record<Kind, JsonValue[]>, lines: number): void {
  if (pocket.length !== 1) throw malformed(lines - 1, "a view must have exactly one pocket");
  try {
    checkProjectionOutput({
      request_id: "view",
      stream: { entries: entry, cursor_before: null, cursor_after: null },
      pocket: pocket[0]!,
      debug: { wrote: false, bundle_id: null },
    });
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    const index = /^\/stream\/entries\/(\d+)/.exec(thrown.where ?? "")?.[1];
    throw malformed(index === undefined ? lines - 1 : Number(index) + 2, `${thrown.code}: ${thrown.message}`);
  }
  for (const [i, pack] of capsule.entries()) {
    if (!capsuleSchema.safeParse(pack).success) throw malformed(entry.length + i + 2, "a capsule that is not valid");
  }
}
