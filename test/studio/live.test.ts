// A run while it works: what it prints, as a terminal shows it, and the end of it when somebody asks.
import { AxeBuilder } from "@axe-core/playwright";
import { afterAll, beforeAll, expect, it } from "vitest";
import { enter, StudioBench, type StudioServer } from "../support/studio.ts";

const bench = new StudioBench();
let server: StudioServer;

beforeAll(async () => {
  bench.write("lamp.txt", "off\n");
  bench.git("add", "-A");
  bench.git("commit", "-qm", "first");
  server = await bench.serve();
});

afterAll(async () => {
  await server?.stop();
  await bench.close();
});

/** Prints colours, draws a line over, tries a title, a clipboard and a link, and much; then waits to be ended. */
const AGENT = [
  "printf '\\033[32mgreen\\033[0m \\033]0;title\\007\\033]52;c;aGk=\\007\\033]8;;https://example.org\\033\\\\link\\033]8;;\\033\\\\\\n'",
  "printf 'first 10%%\\rfirst 99%%\\n'",
  "i=0; while [ $i -lt 6000 ]; do i=$((i+1)); echo row $i; done",
  "echo the last line",
  "sleep 600",
].join("; ");

it("is followed from the fleet, with colours and no other effect, keeps 5,000 rows, and ends when it is stopped", async () => {
  const running = bench.verbatim("agent", "--goal", "Watch the lamp", "--no-verify", "--", "sh", "-c", AGENT);
  const { window, watched, page } = await enter(bench, server, "/runs");
  const fleet = page.getByRole("region", { name: "At work" });
  await fleet.getByRole("link", { name: /Watch the lamp/ }).click();
  await page.waitForURL(/\/live$/);
  const terminal = page.getByTestId("terminal");
  await terminal.getByText("the last line").waitFor();
  await page
    .getByTestId("live-lines")
    .getByText(/^Showing the last 5,0\d\d lines of 6,0\d\d/)
    .waitFor();
  expect(await terminal.locator("div div").count()).toBeLessThanOrEqual(62);
  // Scrolled away, the end is no longer followed; the first rows that are kept are there.
  await page.evaluate("document.querySelector('[data-testid=terminal]').scrollTo(0, 0)");
  await page.getByRole("button", { name: "Jump to latest" }).waitFor();
  await terminal
    .getByText(/^row 9\d\d$/)
    .first()
    .waitFor();
  await page.getByRole("button", { name: "Jump to latest" }).click();
  await terminal.getByText("the last line").waitFor();
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, nodes }) => `${id} ${nodes[0]?.html ?? ""}`)).toEqual([]);
  expect(await page.title()).toContain("Watch the lamp");
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await running;
  await page.getByText("The agent has ended.").waitFor();
  expect(watched.problems).toEqual([]);
  await window.close();
});

it("shows colours as names of the page, and what was drawn over in its last form", async () => {
  const printed = AGENT.split("; ").slice(0, 2).join("; ");
  const run = await bench.run("Paint the lamp", `${printed}; echo on > lamp.txt`, "--no-verify");
  const { window, watched, page } = await enter(bench, server, `/runs/${run}/live`);
  const terminal = page.getByTestId("terminal");
  await terminal.getByText("first 99%").waitFor();
  const colour = await page.evaluate<string>(
    "getComputedStyle([...document.querySelectorAll('[data-testid=terminal] span')].find((part) => part.textContent.trim() === 'green')).color",
  );
  expect(colour).toBe("rgb(26, 107, 60)");
  expect(await terminal.textContent()).not.toContain("first 10%");
  expect(await terminal.locator("a").count()).toBe(0);
  expect(watched.problems).toEqual([]);
  await window.close();
});
