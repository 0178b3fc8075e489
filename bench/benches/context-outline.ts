import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { createOutliner } from "../../src/adapters/outline/outliner.ts";
import { buildIndex } from "../../src/rooms/context/index/index-build.ts";
import { CODE_GRAMMARS } from "../../src/rooms/context/ports.ts";
import { openRoom } from "../../test/support/context-room.ts";
import { makeModules, openModules } from "../code-corpus.ts";
import type { Bench } from "../harness.ts";
import { ROOT } from "../places.ts";

const CORPUS = "seeded TypeScript files of 4.1 kB in a git repository, 4.1 MB at 1,000 files";
const FROM = pathToFileURL(join(ROOT, "package.json")).href;

/** The parser's own API, as far as the baseline asks for it. */
interface ParserModule {
  readonly Parser: {
    init(): Promise<void>;
    new (): { setLanguage(language: unknown): void; parse(text: string): { delete(): void } | null };
  };
  readonly Language: { load(bytes: Uint8Array): Promise<unknown> };
}

function missing(): string | null {
  const why = createOutliner({ from: FROM }).missing();
  return why === null ? null : `${CODE_GRAMMARS.package} is ${why}`;
}

/** Definitions of code, through the second thread. */
export const contextOutline: Bench = {
  name: "context-outline",
  onAsking: true,
  what: "definitions of N files of code, in the second thread; 1,000 files are 4.1 MB",
  baseline: "the same texts parsed in this thread, the trees thrown away",
  corpus: CORPUS,
  sizes: [250, 1_000],
  goal: { kind: "time", atMost: 2 },
  unavailable: missing,
  async prepare(size) {
    const texts = Array.from(makeModules(size), ({ text }) => text);
    const outliner = createOutliner({ from: FROM });
    const require = createRequire(FROM);
    const folder = join(dirname(require.resolve(`${CODE_GRAMMARS.package}/package.json`)), "wasm");
    const { Parser, Language } = require(CODE_GRAMMARS.package) as ParserModule;
    await Parser.init();
    const parser = new Parser();
    parser.setLanguage(await Language.load(readFileSync(join(folder, "tree-sitter-typescript.wasm"))));
    return {
      async ours() {
        for (const text of texts) {
          const found = await outliner.outline("typescript", text);
          if (typeof found === "string" || found.length < 10) throw new Error(`the outline is ${String(found)}`);
        }
      },
      baseline() {
        for (const text of texts) parser.parse(text)?.delete();
      },
    };
  },
};

/** What sections of code cost a build in which nothing changed. */
export const contextCodeUnchanged: Bench = {
  name: "context-code-unchanged",
  onAsking: true,
  what: "index of N files of code again with sections of code, nothing changed",
  baseline: "the same with sections of Markdown only",
  corpus: CORPUS,
  sizes: [1_000, 4_000],
  goal: { kind: "time", atMost: 1.2 },
  unavailable: missing,
  async prepare(size) {
    const root = await openModules(size);
    const folder = mkdtempSync(join(tmpdir(), "verbatim-bench-"));
    const open = async (outline: "markdown" | "markdown+code") => {
      const config = { sources: ["src/**/*"], outline };
      const room = await openRoom({ root, state: join(folder, outline), config, later: 3_600_000 });
      const made = { ...room, outliner: createOutliner({ from: FROM }) };
      await buildIndex(made, { full: false });
      return made;
    };
    const ours = await open("markdown+code");
    const plain = await open("markdown");
    return {
      ours: () => buildIndex(ours, { full: false }),
      baseline: () => buildIndex(plain, { full: false }),
      async close() {
        for (const room of [ours, plain]) await room.close();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
};
