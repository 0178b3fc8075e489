import { sha256 } from "./table.ts";

// What differs between two machines or two builds although nothing changed: folders, the version of Node, the platform,
// our own version and build, how long a command took. Each becomes a word. Everything that is hashed over such a word differs too, so hashes are
// followed: the hash of a file with such a word in it, of a record with one in its body, and of all that names those.

/** Names of members whose value is a hash over the object they stand in, or over what came before it. */
const OWN_HASHES = ["hash", "body_hash", "proof_hash", "validator_build_id", "bundle_id"];
const HASH = /\b[0-9a-f]{64}\b/g;

/** A word for every text that is different elsewhere; patterns have the flag `g`. */
export type Words = readonly (readonly [text: string | RegExp, word: string])[];

/** The files of a run with stable words in place of what is inherently different. */
export function toSteady(files: ReadonlyMap<string, Uint8Array>, words: Words): Map<string, string> {
  const texts = new Map([...files].map(([path, bytes]) => [path, Buffer.from(bytes).toString("utf8")]));
  const moved = findMovedHashes(files, texts, words);
  const named = new Map<string, string>();
  const nameHash = (hash: string) => {
    if (!moved.has(hash)) return hash;
    if (!named.has(hash)) named.set(hash, `<hash ${named.size + 1}>`);
    return named.get(hash)!;
  };
  return new Map([...texts].map(([path, text]) => [path, replaceWords(text, words).replace(HASH, nameHash)]));
}

function replaceWords(text: string, words: Words): string {
  return words.reduce((all, [from, word]) => all.replaceAll(from, word), text);
}

/** Hashes over something that is different elsewhere, followed until no more are found. */
function findMovedHashes(
  files: ReadonlyMap<string, Uint8Array>,
  texts: ReadonlyMap<string, string>,
  words: Words,
): ReadonlySet<string> {
  const moved = new Set<string>();
  const isMoved = (text: string) =>
    replaceWords(text, words) !== text || (text.match(HASH) ?? []).some((hash) => moved.has(hash));
  for (let before = -1; before !== moved.size; ) {
    before = moved.size;
    for (const [path, text] of texts) {
      if (!isMoved(text)) continue;
      moved.add(sha256(files.get(path)!));
      for (const line of text.split("\n")) {
        if (isMoved(line)) for (const hash of ownHashes(line, isMoved)) moved.add(hash);
      }
    }
  }
  return moved;
}

/** The hashes that a record has over itself: not that of its body where only something around the body is different. */
function ownHashes(line: string, isMoved: (text: string) => boolean): string[] {
  const body = /"body":(.*),"body_hash"/.exec(line)?.[1];
  const keys = OWN_HASHES.filter((key) => key !== "body_hash" || body === undefined || isMoved(body));
  return keys.flatMap((key) =>
    [...line.matchAll(new RegExp(`"${key}": ?"(?:sha256:)?([0-9a-f]{64})"`, "g"))].map((match) => match[1]!),
  );
}
