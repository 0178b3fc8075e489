import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";

const IMPORT = /(?:from|import)\s*\(?\s*"(\.{1,2}\/[^"]+)"/g;
/** A name that a file exports, or a code in quotes. */
const WORD = /\bexport (?:async )?(?:function|const|class) (\w+)|"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)"/g;

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

  /**
   * The test files that reach a file through imports, the nearest first: its own, then those that speak of most of what it
   * exports and refuses with (its own folder counts for something), then by steps of import.
   */
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
    const words = new Set([...this.textOf(path).matchAll(WORD)].map(([, exported, code]) => exported ?? code!));
    const own = path.replace(/\.ts$/, ".test.ts");
    const shared = (test: string) => {
      const spoken = new Set(this.textOf(test).match(/\w+/g));
      const neighbour = posix.dirname(test) === posix.dirname(path) ? 2 : 0;
      return [...words].filter((word) => spoken.has(word)).length + neighbour;
    };
    return queue
      .filter((one) => one.endsWith(".test.ts") && !one.startsWith("test/long/"))
      .map((test) => ({ test, rank: [test === own ? 0 : 1, -shared(test), steps.get(test)!] as const }))
      .sort((a, b) => compare(a.rank, b.rank) || (a.test < b.test ? -1 : 1))
      .slice(0, most)
      .map(({ test }) => test);
  }
}

function compare(a: readonly number[], b: readonly number[]): number {
  return a.map((one, i) => one - b[i]!).find((difference) => difference !== 0) ?? 0;
}
