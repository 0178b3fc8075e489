import { createHash, type Hash } from "node:crypto";
import { type TreeTable, WIDTH } from "./tree-table.ts";

const encoder = new TextEncoder();

/**
 * For each of some paths, with or without a slash at the end, a hash over the stats of everything at or below it. Made
 * from the table alone: nothing is looked at again. Linear in the folders of the table and the entries below the paths.
 */
export function fingerprintPaths(table: TreeTable, paths: readonly string[]): ReadonlyMap<string, string> {
  const hashes = new Map<string, Hash>();
  const wanted = new Map<string, Set<string>>();
  for (const path of paths) {
    const plain = path.replace(/\/$/, "");
    const slash = plain.lastIndexOf("/");
    const folder = slash === -1 ? "" : plain.slice(0, slash);
    (wanted.get(folder) ?? wanted.set(folder, new Set()).get(folder)!).add(plain.slice(slash + 1));
  }
  // Every folder comes after the one around it.
  const owners = new Map<string, string>();
  for (const [i, folder] of table.folders.entries()) {
    const slash = folder.lastIndexOf("/");
    const owner = owners.get(folder) ?? owners.get(slash === -1 ? "" : folder.slice(0, slash));
    const [from, to] = [table.first[i]!, table.first[i + 1]!];
    if (owner !== undefined) {
      owners.set(folder, owner);
      const hash = hashes.get(owner)!;
      hash.update(encoder.encode(`${folder}\0${table.names[i]!}\0`));
      hash.update(toBytes(table, from, to));
    }
    const names = wanted.get(folder);
    if (names === undefined) continue;
    const prefix = folder === "" ? "" : `${folder}/`;
    for (const [k, name] of table.names[i]!.split("\0").entries()) {
      if (!names.has(name)) continue;
      const path = prefix + name;
      hashes.set(path, createHash("sha256").update(toBytes(table, from + k, from + k + 1)));
      owners.set(path, path);
    }
  }
  return new Map([...hashes].map(([path, hash]) => [path, hash.digest("hex")]));
}

function toBytes({ stats }: TreeTable, from: number, to: number): Uint8Array {
  const rows = stats.subarray(from * WIDTH, to * WIDTH);
  // A copy: what another thread may see is not hashed in place.
  return new Uint8Array(rows.slice().buffer);
}
