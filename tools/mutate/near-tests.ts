import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";

const IMPORT = /(?:from|import)\s*\(?\s*"(\.{1,2}\/[^"]+)"/g;

/** Which files import which, over everything a test can reach. Paths are relative to the root. */
export class ImportGraph {
  readonly #importers = new Map<string, string[]>();
  readonly #texts = new Map<string, string>();

  constructor(root: string, folders: readonly string[]) {
    for (const folder of folders) this.#read(root, folder);
    for (const [path, text] of this.#texts) {
      for (const [, target] of text.matchAll(IMPORT)) {
        const place = posix.join(dirname(path), target!);
        this.#importers.set(place, [...(this.#importers.get(place) ?? []), path]);
      }
    }
  }

  #read(root: string, folder: string): void {
    for (const item of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = `${folder}/${item.name}`;
      if (item.isDirectory() && item.name !== "node_modules") this.#read(root, path);
      else if (item.isFile() && item.name.endsWith(".ts"))
        this.#texts.set(path, readFileSync(join(root, path), "utf8"));
    }
  }

  textOf(path: string): string {
    return this.#texts.get(path) ?? "";
  }

  /** The test files that reach a file through imports, the nearest first: of its own folder, then by steps of import. */
  nearTests(path: string, most: number): string[] {
    const steps = new Map([[path, 0]]);
    const queue = [path];
    for (const at of queue) {
      for (const importer of this.#importers.get(at) ?? []) {
        if (steps.has(importer)) continue;
        steps.set(importer, steps.get(at)! + 1);
        queue.push(importer);
      }
    }
    const own = posix.dirname(path);
    const rank = (test: string) => (posix.dirname(test) === own ? 0 : 1000) + steps.get(test)!;
    return queue
      .filter((one) => one.endsWith(".test.ts") && !one.startsWith("test/long/"))
      .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
      .slice(0, most);
  }
}
