import { compareCodePoints } from "../../../core/canonical/index.ts";
import type { Entry, Tree, Trees } from "./tree.ts";

// One member of PRE_TREE.json as it is written, comma included, with a name that needs no escapes.
const MEMBER =
  /"([\x20\x21\x23-\x5b\x5d-\x7e]+)":\{"mode":"([0-7]{4})",(?:"sha256":"([0-9a-f]{64})","size":(0|[1-9][0-9]{0,14}),"type":"file"|"type":"dir")\}(,)?/y;
const DOMAIN = /"([\x20\x21\x23-\x5b\x5d-\x7e]+)":\{(\})?/y;

/**
 * Reads a file of trees that is canonical and plain: files and folders under ASCII names, in order. Null for anything
 * else, which a parser has to look at. What it gives back, written out again, is the text; cost: one pass.
 */
export function readPlainTrees(text: string): Trees | null {
  const trees = new Map<string, Tree>();
  if (!text.startsWith("{")) return null;
  let before = "";
  for (let at = 1; ; at++) {
    DOMAIN.lastIndex = at;
    const found = DOMAIN.exec(text);
    if (found === null || compareCodePoints(before, found[1]!) >= 0) return null;
    before = found[1]!;
    const tree = new Map<string, Entry>();
    at = found[2] === undefined ? readMembers(text, DOMAIN.lastIndex, tree) : DOMAIN.lastIndex;
    if (at === -1) return null;
    trees.set(before, tree);
    if (text[at] !== ",") return text.slice(at) === "}\n" ? trees : null;
  }
}

/** Reads members up to the brace that closes them; the place after it, or -1. */
function readMembers(text: string, from: number, tree: Map<string, Entry>): number {
  let before = "";
  for (let at = from; ; ) {
    MEMBER.lastIndex = at;
    const found = MEMBER.exec(text);
    if (found === null) return -1;
    const [, path = "", mode = "", sha256, size, comma] = found;
    if (compareCodePoints(before, path) >= 0) return -1;
    before = path;
    tree.set(path, sha256 === undefined ? { type: "dir", mode } : { type: "file", mode, size: Number(size), sha256 });
    at = MEMBER.lastIndex;
    if (comma === undefined) return text[at] === "}" ? at + 1 : -1;
  }
}
