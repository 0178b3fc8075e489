import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openApp } from "../../src/app/call.ts";
import { DatabaseSync } from "../../test/support/raw-sqlite.ts";
import type { Bench, Took } from "../harness.ts";
import { makePages, openCorpus } from "../markdown-corpus.ts";

const QUERY = "harbour inlet";
const HOLD_MS = 20;
const CORPUS = "N seeded Markdown files of 4.1 kB with nine sections each; the words of the query are in most of them";

type App = ReturnType<typeof openApp>;

/** A workspace over the pages, built and ready. */
async function openPages(files: number): Promise<{ readonly app: App; readonly root: string; close(): Promise<void> }> {
  const root = await openCorpus(files);
  const close = () => rmSync(join(root, ".verbatim"), { recursive: true, force: true });
  close();
  writeFileSync(join(root, "verbatim.config.json"), '{"context":{"sources":["docs/**/*.md","added.md"]}}');
  const app = openApp({ surface: "library", start: root, env: {}, platform: process.platform });
  await app.call("context.index-build", {});
  return {
    app,
    root,
    async close() {
      await app.close();
      rmSync(join(root, "added.md"), { force: true });
      close();
    },
  };
}

const search = (app: App) => app.call("context.search", { query: QUERY });

/** The first search after a build, which finds everything ready, against later ones. */
export const contextSearchFirst: Bench = {
  name: "context-search-first",
  onAsking: true,
  what: "the first search after a build that changed a file",
  baseline: "a later search",
  corpus: CORPUS,
  sizes: [500, 5_000],
  goal: { kind: "time", atMost: 2 },
  async prepare(size) {
    const { app, root, close } = await openPages(size);
    return {
      async before() {
        appendFileSync(join(root, "added.md"), "one more line\n");
        await app.call("context.index-build", {});
      },
      ours: () => search(app),
      baseline: () => search(app),
      close,
    };
  },
};

/** How long a search keeps the event loop from anything else. */
export const contextSearchHold: Bench = {
  name: "context-search-hold",
  onAsking: true,
  what: "the longest time between two turns of the event loop during a search",
  baseline: `${HOLD_MS} ms`,
  corpus: CORPUS,
  sizes: [500, 5_000],
  goal: { kind: "time", atMost: 1 },
  async prepare(size) {
    const { app, close } = await openPages(size);
    return { ours: () => holdOf(() => search(app)), baseline: HOLD_MS, close };
  },
};

async function holdOf(work: () => Promise<unknown>): Promise<Took> {
  let longest = 0;
  let last = performance.now();
  let isOver = false;
  const look = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await work();
  isOver = true;
  look();
  return { took_ms: longest };
}

/** A query of words as they stand, against the statements of SQLite's FTS5 that answered it before. */
export const contextSearchWords: Bench = {
  name: "context-search-words",
  onAsking: true,
  what: "a search for words as they stand, 20 results of most sections, with slices and previews",
  baseline: "count and the best 20 by bm25 in FTS5, without slices and previews",
  corpus: CORPUS,
  sizes: [500, 5_000],
  goal: { kind: "time", atMost: 1 },
  async prepare(size) {
    const { app, root, close } = await openPages(size);
    const database = new DatabaseSync(":memory:");
    database.exec(
      `create virtual table page using fts5(body, content = '', tokenize = "unicode61 remove_diacritics 2")`,
    );
    const insert = database.prepare("insert into page (body) values (?)");
    database.exec("begin");
    for (const { path } of makePages(size)) {
      for (const body of readFileSync(join(root, path), "utf8").split(/^(?=#)/m)) insert.run(body);
    }
    database.exec("commit");
    const words = '"harbour" AND "inlet"';
    const count = database.prepare("select count(*) as count from page where page match ?");
    const best = database.prepare(
      "select rowid, bm25(page) from page where page match ? order by bm25(page), rowid limit 20",
    );
    return {
      ours: () => search(app),
      baseline() {
        count.get(words);
        best.all(words);
      },
      async close() {
        database.close();
        await close();
      },
    };
  },
};
