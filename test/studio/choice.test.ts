// A part of a change: chosen hunk by hunk, verified as what it is, and applied as exactly that.
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import { afterAll, beforeAll, expect, it } from "vitest";
import { enter, StudioBench, type StudioServer } from "../support/studio.ts";

const bench = new StudioBench();
let server: StudioServer;
const LINES = Array.from({ length: 40 }, (_, n) => `line ${n + 1}`);

beforeAll(async () => {
  bench.write("lines.txt", `${LINES.join("\n")}\n`);
  bench.write("lamp.txt", "off\n");
  bench.git("add", "-A");
  bench.git("commit", "-qm", "first");
  server = await bench.serve();
});

afterAll(async () => {
  await server?.stop();
  await bench.close();
});

const CHANGE = "sed -i -e 's/^line 2$/line two/' -e 's/^line 39$/line thirty-nine/' lines.txt; echo on > lamp.txt";

it("lands a part by keys alone: a hunk is dropped, the choice verified, applied, and undone", async () => {
  const run = await bench.run("Light the lamp", CHANGE, "--verify", "grep -q on lamp.txt");
  const { window, watched, page } = await enter(bench, server, `/runs/${run}`);
  await page.locator("[role=grid] [data-type=hunk]").first().waitFor();
  await page.getByLabel("Take this hunk").first().waitFor();
  // To the third hunk, which is the last of lines.txt.
  for (const n of [1, 2, 3]) {
    await page.keyboard.press("j");
    await page.locator(`[data-chosen=true] >> text=/Hunk ${n === 1 ? "1 of 1" : `${n - 1} of 2`}/`).waitFor();
  }
  await page.keyboard.press("x");
  await page.getByRole("button", { name: "Verify this choice (2 of 3 parts)" }).waitFor();
  expect(await page.getByRole("button", { name: /^Apply/ }).count()).toBe(0);
  // What was not verified cannot be asked about either, whatever the address says.
  await page.evaluate(
    `history.pushState({}, "", location.pathname + "?do=apply"); dispatchEvent(new PopStateEvent("popstate", { state: {} }))`,
  );
  expect(await page.getByRole("dialog").count()).toBe(0);
  await page.goBack();
  await page.keyboard.press("a");
  await page.getByTestId("choice-verdict").getByText("Your choice passes. 2 files, +2 -2.").waitFor();
  const shots = process.env["STUDIO_SHOTS"];
  if (shots !== undefined) await page.screenshot({ path: join(shots, "choice-1280-light.png") });
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, nodes }) => `${id} ${nodes[0]?.html ?? ""}`)).toEqual([]);
  await page.keyboard.press("a");
  await page.getByRole("dialog").getByText("2 files change in your working tree. Nothing is committed.").waitFor();
  await page.keyboard.press("Control+Enter");
  await page.locator("[data-testid=verdict]", { hasText: "Landed" }).waitFor();
  expect(bench.read("lamp.txt")).toBe("on\n");
  expect(bench.read("lines.txt")).toContain("line two");
  expect(bench.read("lines.txt")).toContain("line 39\n");
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Control+Enter");
  await page.locator("[data-testid=verdict]", { hasText: "Undone." }).waitFor();
  expect(bench.read("lines.txt")).toBe(`${LINES.join("\n")}\n`);
  expect(watched.problems).toEqual([]);
  await window.close();
});

it("says that a choice fails alone, offers nothing of it, and forgets the verdict when somebody chooses otherwise", async () => {
  const run = await bench.run("Light it again", CHANGE, "--verify", "grep -q on lamp.txt");
  const { window, watched, page } = await enter(bench, server, `/runs/${run}`);
  await page.getByLabel("Take lamp.txt").uncheck();
  await page.getByRole("button", { name: "Verify this choice (2 of 3 parts)" }).click();
  await page
    .getByTestId("choice-verdict")
    .getByText(/^Your choice does not pass/)
    .waitFor();
  expect(await page.getByRole("button", { name: /^Apply/ }).count()).toBe(0);
  // The choice outlives a reload; its verdict is asked for again.
  await page.reload();
  await page.getByRole("button", { name: "Verify this choice (2 of 3 parts)" }).waitFor();
  expect(await page.getByTestId("choice-verdict").count()).toBe(0);
  await page.getByLabel("Take lines.txt").uncheck();
  await page.getByText("Nothing is chosen.").waitFor();
  await page.getByRole("button", { name: "Take everything" }).click();
  await page.getByRole("button", { name: "Apply 2 files" }).waitFor();
  expect(bench.read("lamp.txt")).toBe("off\n");
  expect(watched.problems).toEqual([]);
  await window.close();
});
