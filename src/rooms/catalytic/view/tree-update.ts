import type { SyncCrypto } from "../../../core/ports.ts";
import type { KeptTree, TreeBefore, TreeScan } from "../ports.ts";
import type { TreeTexts } from "../tree/tree-texts.ts";
import { spliceTexts } from "../tree/written-tree.ts";

/** Where git keeps objects: nothing of what it ignores depends on them. */
const OBJECTS = /^\.git\/objects(?:\/|$)/;

/**
 * Whether git ignores what it did, because no name came or went, and nothing changed that says what is ignored or known:
 * its rules, its index, repositories inside.
 */
export function isIgnoredSame({ changed }: TreeBefore): boolean {
  return [...changed].every(([path, { was, is }]) => {
    if (OBJECTS.test(path) || path === ".git") return true;
    const names = path.split("/");
    return was === is && !names.includes(".git") && names.at(-1) !== ".gitignore";
  });
}

/**
 * What is recorded of a tree, made from what was recorded before it changed. Null where git ignores something else than
 * before and that is not just new or gone: then the whole tree is read.
 */
export async function updateTree(
  crypto: SyncCrypto,
  look: TreeScan,
  before: TreeBefore,
  ignored: readonly string[],
  isInView: (path: string) => boolean,
): Promise<KeptTree | null> {
  const { kept, changed } = before;
  if (!isTold(before, ignored)) return null;
  const now = await look.readSome([...changed.keys()].filter(isInView));
  const entries = new Map([...changed.keys()].map((path) => [path, now.get(path) ?? null]));
  const texts = spliceTexts(crypto, kept, entries);
  return texts === null ? null : withIgnored(texts, ignored);
}

/** Whether everything that git ignores now and did not before, or the other way round, came or went as a whole. */
function isTold({ kept, changed }: TreeBefore, ignored: readonly string[]): boolean {
  const [was, is] = [new Set(kept.ignored), new Set(ignored)];
  const came = ignored.filter((path) => !was.has(path)).every((path) => changed.get(withoutSlash(path))?.was === null);
  const went = kept.ignored.filter((path) => !is.has(path));
  return came && went.every((path) => changed.get(withoutSlash(path))?.is === null);
}

function withoutSlash(path: string): string {
  return path.replace(/\/$/, "");
}

/** The texts of a tree with what git ignores in it; they stay where they are until somebody reads them. */
export function withIgnored(texts: TreeTexts, ignored: readonly string[]): KeptTree {
  const { state, files, bytes } = texts;
  return {
    state,
    ignored,
    ...(files === undefined ? {} : { files }),
    ...(bytes === undefined ? {} : { bytes }),
    get trees() {
      return texts.trees;
    },
    get manifests() {
      return texts.manifests;
    },
    get inputs() {
      return texts.inputs;
    },
  };
}
