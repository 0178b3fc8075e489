import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { zipSync } from "fflate";
import { writeBundle } from "../bundle-corpus.ts";
import { FRAME_RECORDER } from "../frames.ts";
import { type Bench, quantileOf } from "../harness.ts";
import { StudioCorpus } from "../studio-corpus.ts";

const LIMIT = "the time it may take";
const MOST_ELEMENTS = 1000;
const DROPS = 3;
const PLAIN = { baseline: LIMIT, goal: { kind: "time", atMost: 1 }, maxRounds: 1, onAsking: true } as const;

/** From the choice of a file to the verdict, by the browser's own clock. */
const WATCH = `
addEventListener("change", () => { window.dropped = performance.now(); window.judged = undefined; }, true);
new MutationObserver(() => {
  if (window.judged === undefined && document.querySelector("[data-testid=bundle-verdict]") !== null) window.judged = performance.now();
}).observe(document, { childList: true, subtree: true });`;

export const bundle: Bench = {
  ...PLAIN,
  name: "studio-bundle",
  what: "a bundle verified in the page, from the drop to the verdict, median of three",
  corpus: "a ZIP of a bundle with N artifacts of two to four kilobytes",
  sizes: [2_000],
  async prepare(count) {
    const corpus = new StudioCorpus();
    const { folder, paths } = await writeBundle(count, (next) => 2_000 + next(2_000));
    const files = paths.map((path) => [path.slice(folder.length + 1), readFileSync(path)] as const);
    const zip = join(corpus.root, `${basename(folder)}.zip`);
    writeFileSync(zip, zipSync(Object.fromEntries(files)));
    rmSync(folder, { recursive: true });
    await corpus.serve();
    const page = await corpus.page(WATCH + FRAME_RECORDER);
    const ours = async () => {
      const times: number[] = [];
      for (let n = 0; n < DROPS; n++) {
        await page.goto(corpus.url("/bundles"));
        await page.getByTestId("choose-files").waitFor({ state: "attached" });
        // The verifier is loaded before anything is dropped.
        await page.waitForTimeout(1_000);
        await page.evaluate("recordFrames()");
        await page.getByTestId("choose-files").setInputFiles(zip);
        await page.getByTestId("bundle-verdict").waitFor();
        times.push(await page.evaluate<number>("window.judged - window.dropped"));
        const frames = await page.evaluate<number[]>("endFrames()");
        console.error(`studio-bundle: longest frame while it was checked ${Math.max(...frames).toFixed(0)} ms`);
      }
      return { took_ms: quantileOf(times, 0.5) };
    };
    return { ours, baseline: 1_500, close: () => corpus.close() };
  },
};

/** Places count everything that was printed, each line with the two bytes that end it on a terminal. */
const RECORDED = /10[0-2]\.\d MB recorded$/;

export const output: Bench = {
  ...PLAIN,
  name: "studio-output",
  what: "how long after the end of an agent the end of what it printed is on the screen",
  corpus: "an agent that prints N bytes as fast as it can, watched from its beginning",
  sizes: [100_000_000],
  async prepare(bytes) {
    const corpus = new StudioCorpus();
    corpus.run("Light the lamp", "echo on > lamp.txt");
    await corpus.serve();
    const page = await corpus.page(FRAME_RECORDER);
    const ours = async () => {
      const print = `sleep 3; yes 'the lamp of the north quay is lit and the tide is high' | head -c ${bytes}`;
      const run = corpus.start("Say a lot", print);
      await page.goto(corpus.url(`/runs/${run}/live`));
      await page.getByTestId("terminal").waitFor();
      await page.evaluate("recordFrames()");
      await page.getByTestId("live-lines").getByText(RECORDED).waitFor();
      await page.getByText("The agent has ended.").waitFor();
      const shown = Date.now();
      const frames = await page.evaluate<number[]>("endFrames()");
      const elements = await page.evaluate<number>("document.querySelectorAll('*').length");
      const slow = frames.filter((ms) => ms > 50).length;
      console.error(
        `studio-output: ${slow} of ${frames.length} frames over 50 ms, longest ${Math.max(...frames).toFixed(0)} ms, ${elements} elements`,
      );
      if (elements > MOST_ELEMENTS)
        throw new Error(`${elements} elements are on the page, at most ${MOST_ELEMENTS} may be`);
      return { took_ms: Math.max(1, shown - corpus.endOf(run)) };
    };
    return { ours, baseline: 8_000, close: () => corpus.close() };
  },
};
