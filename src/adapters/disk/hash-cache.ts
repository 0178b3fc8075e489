import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { isHash } from "../../core/canonical/index.ts";
import type { HashCache } from "../../rooms/catalytic/ports.ts";
import { errnoCode } from "./errors.ts";

const VERSION = "verbatim-hashes-1";
/** A file this young may change again without its stat showing it. */
const RACY_NS = 2_000_000_000n;

/** Hashes of files by their packed stat, one file per workspace, read when it is first needed. */
export function createHashCache(place: string, nowNs: () => bigint): HashCache {
  let known: Map<string, string> | undefined;
  const load = () => {
    known ??= read(place);
    return known;
  };
  return {
    lookup(root, path, packed) {
      return load().get(`${root}\0${path}\0${packed}`) ?? null;
    },
    store(root, entries) {
      const limit = nowNs() - RACY_NS;
      const lines = [VERSION];
      const fresh = new Map<string, string>();
      for (const [path, { packed, sha256 }] of entries) {
        const ctime = packed.split("|")[7] ?? "";
        if (!/^[0-9]+$/.test(ctime) || BigInt(ctime) > limit) continue;
        const key = `${root}\0${path}\0${packed}`;
        fresh.set(key, sha256);
        lines.push(`${sha256} ${JSON.stringify([root, path, packed])}`);
      }
      known = fresh;
      mkdirSync(dirname(place), { recursive: true });
      writeFileSync(`${place}.tmp`, `${lines.join("\n")}\n`);
      renameSync(`${place}.tmp`, place);
    },
  };
}

function read(place: string): Map<string, string> {
  const known = new Map<string, string>();
  let text: string;
  try {
    text = readFileSync(place, "utf8");
  } catch (thrown) {
    if (errnoCode(thrown) === "ENOENT") return known;
    throw thrown;
  }
  const [version, ...lines] = text.split("\n");
  if (version !== VERSION) return known;
  for (const line of lines) {
    const hash = line.slice(0, 64);
    if (!isHash(hash)) continue;
    const parts = JSON.parse(line.slice(65)) as string[];
    known.set(parts.join("\0"), hash);
  }
  return known;
}
