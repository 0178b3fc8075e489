// A long change in a real browser: only what is seen is in the page, and whoever has the focus stays in it.
import { afterAll, beforeAll, expect, it } from "vitest";
import { enter, StudioBench, type StudioServer } from "../support/studio.ts";

const LINES = 3_000;
/** A screenful of rows and as many around it as scrolling needs; each is its own element. */
const MOST_ROWS = 200;

const bench = new StudioBench();
let server: StudioServer;
let run: string;

beforeAll(async () => {
  bench.write("lamp.txt", "off\n");
  bench.git("add", "-A");
  bench.git("commit", "-qm", "first");
  const write = `awk 'BEGIN { for (n = 1; n <= ${LINES}; n++) printf "const boat%d = %d;\\n", n, n }' > boats.ts`;
  run = await bench.run("Many boats", write, "--no-verify");
  server = await bench.serve();
});

afterAll(async () => {
  await server?.stop();
  await bench.close();
});

it("a change of 3,000 lines has a screenful of rows in the page, wherever somebody is in it", async () => {
  const { window, watched, page } = await enter(bench, server, `/runs/${run}/review`);
  const grid = page.getByRole("grid");
  const rows = grid.locator("[role=row]");
  await grid.getByRole("row", { name: /boat1 = 1;/ }).waitFor();
  // All of it can be scrolled to, and is counted.
  expect(Number(await grid.getAttribute("aria-rowcount"))).toBeGreaterThan(LINES);
  expect(await rows.count()).toBeLessThan(MOST_ROWS);

  // The hunk that j goes to has the focus, and keeps it when it is far out of sight.
  await page.keyboard.press("j");
  const chosen = grid.locator("[role=row][data-chosen=true]");
  await chosen.and(page.locator(":focus")).waitFor();
  for (const at of [1500, 2990]) {
    await page.evaluate(`scrollTo(0, document.documentElement.scrollHeight * ${at / LINES})`);
    await grid.getByRole("row", { name: new RegExp(`boat${at} = ${at};`) }).waitFor();
    expect(await rows.count()).toBeLessThan(MOST_ROWS);
    expect(await grid.getByRole("row", { name: /boat1 = 1;/ }).count()).toBe(0);
    expect(await chosen.and(page.locator(":focus")).count()).toBe(1);
  }
  expect(watched.problems).toEqual([]);
  await window.close();
});
