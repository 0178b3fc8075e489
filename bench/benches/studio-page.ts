import type { Page } from "playwright-core";
import { FRAME_RECORDER, measureFrames } from "../frames.ts";
import { type Bench, quantileOf } from "../harness.ts";
import { StudioCorpus } from "../studio-corpus.ts";

const LIMIT = "the time it may take";
const FRAME_MS = 50;
const LOADS = 5;
/** When something was first there, by a look at every change of the page. */
const WATCH = `
window.seen = {};
window.whenSeen = (name, selector) => {
  const look = () => {
    if (window.seen[name] === undefined && document.querySelector(selector) !== null) window.seen[name] = performance.now();
  };
  new MutationObserver(look).observe(document, { childList: true, subtree: true, attributes: true });
};
whenSeen("home", "main a[href^='/runs/']");
whenSeen("runs", "main [role=listitem]");
whenSeen("lines", "[role=grid] [data-type=line]");`;
const WORKER = `
window.answers = 0;
window.Worker = class extends Worker {
  constructor(...given) {
    super(...given);
    this.addEventListener("message", () => { window.answers++; window.seen.colours = performance.now(); });
  }
};`;

/** Four new files of this size together, each a program with names, numbers, strings and comments. */
function writeFiles(lines: number): string {
  const line = 'const boat%d = { name: \\"Ana %d\\", tide: [%d, 15] }; // moored at %d';
  const one = (file: number) => {
    const awk = `awk 'BEGIN { for (n = 0; n < ${Math.ceil(lines / 4)}; n++) printf "${line}\\n", n, n, n, n }'`;
    return `${awk} > src/boats-${file}.ts`;
  };
  return `mkdir -p src; ${[1, 2, 3, 4].map(one).join("; ")}`;
}

async function median(work: () => Promise<number>): Promise<{ readonly took_ms: number }> {
  const times: number[] = [];
  for (let n = 0; n < LOADS; n++) times.push(await work());
  return { took_ms: quantileOf(times, 0.5) };
}

/** Asks again and again; the policy of the page lets nobody leave a condition there as text. */
async function until(page: Page, condition: string): Promise<void> {
  while (!(await page.evaluate<boolean>(condition))) await page.waitForTimeout(20);
}

const seen = async (page: Page, name: string): Promise<number> => {
  await until(page, `window.seen[${JSON.stringify(name)}] !== undefined`);
  return await page.evaluate<number>(`window.seen[${JSON.stringify(name)}]`);
};

/** When the last byte of the first answer of an operation arrived, by the browser's own clock. */
const answered = (page: Page, operation: string): Promise<number> =>
  page.evaluate<number>(
    `performance.getEntriesByType("resource").find(({ name }) => name.includes(${JSON.stringify(operation)})).responseEnd`,
  );

async function openCorpus(prepare: (corpus: StudioCorpus) => unknown): Promise<StudioCorpus> {
  const corpus = new StudioCorpus();
  await prepare(corpus);
  await corpus.serve();
  return corpus;
}

const PLAIN = {
  baseline: LIMIT,
  goal: { kind: "time", atMost: 1 },
  maxRounds: 1,
} as const;
const COLD = "a repository with one run, loopback, a browser window with nothing in its cache, median of 5";

function firstLoad(name: string, what: string, limit: number, read: (page: Page) => Promise<number>): Bench {
  return {
    ...PLAIN,
    name,
    what,
    corpus: COLD,
    sizes: [1],
    shares: "studio-load",
    onAsking: name !== "studio-usable",
    async prepare() {
      const corpus = await openCorpus((made) => made.run("Light the lamp", "echo on > lamp.txt"));
      const ours = () =>
        median(async () => {
          const page = await corpus.page(WATCH);
          await page.goto(corpus.url("/"));
          const took = await read(page);
          await page.context().close();
          return took;
        });
      return { ours, baseline: limit, close: () => corpus.close() };
    },
  };
}

export const paint = firstLoad("studio-paint", "the first paint of Home", 400, async (page) => {
  await seen(page, "home");
  // What was drawn may be told of a moment after it is in the document.
  await until(page, "performance.getEntriesByName('first-contentful-paint').length > 0");
  return await page.evaluate<number>("performance.getEntriesByName('first-contentful-paint')[0].startTime");
});

export const usable = firstLoad("studio-usable", "Home with its runs, ready to be pressed", 700, (page) =>
  seen(page, "home"),
);

const DIFF = "a change of four new files with N lines together, in TypeScript";

/** The change on a page of its own, once; `read` says what took how long. */
function diff(name: string, what: string, limit: number, read: (page: Page) => Promise<number>): Bench {
  return {
    ...PLAIN,
    name,
    what,
    corpus: DIFF,
    sizes: [10_000],
    shares: "studio-diff",
    onAsking: true,
    async prepare(size) {
      let run = "";
      const corpus = await openCorpus((made) => {
        run = made.run("Many boats", writeFiles(size));
      });
      const ours = () =>
        median(async () => {
          const page = await corpus.page(WATCH + WORKER);
          await page.goto(corpus.url(`/runs/${run}/review`));
          const took = await read(page);
          await page.context().close();
          return took;
        });
      return { ours, baseline: limit, close: () => corpus.close() };
    },
  };
}

export const lines = diff(
  "studio-diff-rows",
  "lines on the screen after the first page of them arrived",
  500,
  async (page) => {
    return (await seen(page, "lines")) - (await answered(page, "agent.diff"));
  },
);

export const colours = diff(
  "studio-diff-colours",
  "every line has its colours after the first page arrived",
  2_000,
  async (page) => {
    await seen(page, "lines");
    await until(page, "window.answers >= 4 && performance.now() - window.seen.colours > 1500");
    return (await seen(page, "colours")) - (await answered(page, "agent.diff"));
  },
);

/** Frames while somebody scrolls a page that is loaded once. */
function frames(
  name: string,
  size: number,
  corpusOf: string,
  open: (size: number) => Promise<[StudioCorpus, string, string]>,
): Bench {
  return {
    ...PLAIN,
    name,
    what: "the longest frame in the best of three, or the 99th percentile of all where that is more",
    corpus: corpusOf,
    sizes: [size],
    onAsking: true,
    async prepare(count) {
      const [corpus, path, ready] = await open(count);
      const page = await corpus.page(WATCH + FRAME_RECORDER);
      await page.goto(corpus.url(path));
      await page.locator(ready).first().waitFor();
      // Everything that is fetched and coloured by itself has come.
      await page.waitForTimeout(5_000);
      return { ours: () => measureFrames(page, name), baseline: FRAME_MS, close: () => corpus.close() };
    },
  };
}

export const diffFrames = frames("studio-diff-scroll", 10_000, DIFF, async (size) => {
  let run = "";
  const corpus = await openCorpus((made) => {
    run = made.run("Many boats", writeFiles(size));
  });
  return [corpus, `/runs/${run}/review`, "[role=grid] [data-type=line]"];
});

const RUNS = "N runs in the table that the ledger feeds";

export const runsFrames = frames("studio-runs-scroll", 10_000, RUNS, async (size) => [
  await openCorpus((made) => made.seedRuns(size)),
  "/runs",
  "main [role=listitem]",
]);

export const runsRows = {
  ...PLAIN,
  name: "studio-runs-rows",
  what: "the first rows of the list of runs, from the press on Runs",
  corpus: RUNS,
  sizes: [10_000],
  onAsking: true,
  async prepare(size: number) {
    const corpus = await openCorpus((made) => made.seedRuns(size));
    const ours = () =>
      median(async () => {
        const page = await corpus.page(WATCH);
        await page.goto(corpus.url("/"));
        await seen(page, "home");
        await page.evaluate(
          "window.pressed = performance.now(); document.querySelector('nav a[href=\"/runs\"]').click()",
        );
        const took = (await seen(page, "runs")) - (await page.evaluate<number>("window.pressed"));
        await page.context().close();
        return took;
      });
    return { ours, baseline: 500, close: () => corpus.close() };
  },
} satisfies Bench;

export const events: Bench = {
  ...PLAIN,
  name: "studio-events",
  what: "a run that another process makes, on the screen after its first entry was committed",
  corpus: "the list of runs, open in a browser",
  sizes: [1],
  onAsking: true,
  async prepare() {
    const corpus = await openCorpus((made) => made.run("Light the lamp", "echo on > lamp.txt"));
    const page = await corpus.page(WATCH);
    await page.goto(corpus.url("/runs"));
    await seen(page, "runs");
    let n = 0;
    const ours = () =>
      median(async () => {
        const goal = `Trim wick ${n++}`;
        await page.evaluate(`window.grown = null;
          new MutationObserver(() => {
            if (window.grown === null && document.body.textContent.includes(${JSON.stringify(goal)})) window.grown = Date.now();
          }).observe(document, { childList: true, subtree: true, characterData: true });`);
        const run = corpus.run(goal, "echo on > wick.txt");
        await until(page, "window.grown !== null");
        return (await page.evaluate<number>("window.grown")) - corpus.firstEntryOf(run);
      });
    return { ours, baseline: 500, close: () => corpus.close() };
  },
};
