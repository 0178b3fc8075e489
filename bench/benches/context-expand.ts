import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openApp } from "../../src/app/call.ts";
import type { Bench } from "../harness.ts";
import { openCorpus } from "../markdown-corpus.ts";

const RATE_PER_MS = 20;
const FILES = 100;
const REFS = 5_000;
const BEFORE = 40_000;
const BUDGETS = { max_symbols: 1e6, max_sections: 1e6, max_bytes: 1e9, max_expands: 1e6 };

/** Expansions in process through the public operation: resolve, slice, hash, record. Payloads are stored already. */
export const contextExpand: Bench = {
  name: "context-expand",
  onAsking: true,
  what: `N expansions of symbols and sections, ${REFS} a call, each recorded in the ledger`,
  baseline: "20,000 a second",
  corpus: `${FILES} seeded Markdown files of 4.1 kB with ten sections each; ${BEFORE} entries in the ledger before`,
  sizes: [5_000, 20_000],
  maxGrowth: 1.1,
  goal: { kind: "time", atMost: 1 },
  async prepare(size) {
    const root = await openCorpus(FILES);
    writeFileSync(join(root, "verbatim.config.json"), '{"context":{"sources":["docs/**/*.md"]}}');
    const app = openApp({ surface: "library", start: root, env: {}, platform: process.platform });
    await app.call("context.index-build", {});
    const sections = (await app.call("context.section-list", {})) as { section_id: string; file_path: string }[];
    const files = [...new Set(sections.map(({ file_path }) => file_path))];
    for (const [i, file] of files.entries()) {
      await app.call("context.symbol-add", { symbol_id: `@BENCH/P${i}`, file, slice: "head(5)" });
    }
    const refs = Array.from({ length: REFS }, (_, i) =>
      i % 2 === 0 ? `@BENCH/P${i % files.length}` : sections[i % sections.length]!.section_id,
    );
    const expand = async (count: number) => {
      for (let done = 0; done < count; done += REFS) {
        await app.call("context.expand", { refs, slice: "head(1)", ...BUDGETS });
      }
    };
    // The ledger gets slower as it grows; both sizes begin where that hardly shows any more.
    await expand(BEFORE);
    return {
      ours: () => expand(size),
      baseline: size / RATE_PER_MS,
      async close() {
        await app.close();
        rmSync(join(root, ".verbatim"), { recursive: true, force: true });
      },
    };
  },
};
