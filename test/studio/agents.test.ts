// Agents from the page: one is allowed, started, told what to do better, and the best of a race is taken.
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { enter, enterByLink, StudioBench, type StudioServer } from "../support/studio.ts";

const bench = new StudioBench();
let server: StudioServer;

/** Lights the lamp; when it is told something, it writes that down beside it. Of a race each member does it its own way. */
const KEEPER = {
  argv: ["sh", "-ec", 'echo "$1"; sed -i "s/^off$/on/" lamp.txt', "keeper", "{goal}"],
  feedback: ["sh", "-ec", 'printf %s "$1" > told.txt', "keeper", "{feedback}"],
  verify: ["grep -q on lamp.txt"],
  timeout_s: 120,
};
const RACER = {
  argv: ["sh", "-ec", 'sed -i "s/^off$/on/" lamp.txt; mktemp -u oil-XXXXXXXX >> oil.txt', "racer", "{goal}"],
  verify: ["grep -q on lamp.txt"],
};

beforeAll(async () => {
  bench.write("lamp.txt", "The lamp of the harbour\noff\nby day\n");
  bench.write("verbatim.config.json", JSON.stringify({ agent: { commands: { keeper: KEEPER, racer: RACER } } }));
  bench.git("add", "-A");
  bench.git("commit", "-qm", "first");
  server = await bench.serve();
});

afterAll(async () => {
  await server?.stop();
  await bench.close();
});

async function clean(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, nodes }) => `${id} ${nodes[0]?.html ?? ""}`)).toEqual([]);
}

/** After what a page still does by itself once its lines are there: it brings the row of its address into sight. */
async function settled(page: Page): Promise<void> {
  await page.waitForTimeout(100);
  await page.evaluate(async () => {
    const { requestAnimationFrame: next } = globalThis as unknown as {
      requestAnimationFrame: (go: () => void) => void;
    };
    for (let frame = 0; frame < 2; frame++) await new Promise<void>((resolve) => next(resolve));
  });
}

it("allows what it shows, starts it, sends back what was shown byte for byte, and lands both attempts at once", async () => {
  const { window, watched, page } = await enterByLink(bench, server, "/settings/agents");
  // What is allowed is everything that is on the screen.
  const keeper = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "keeper" }) });
  await keeper.getByRole("button", { name: "Look at it and allow it" }).click();
  const allow = page.getByRole("dialog", { name: "Allow keeper on this machine?" });
  await allow.getByText("grep -q on lamp.txt").waitFor();
  await clean(page);
  await page.keyboard.press("Control+Enter");
  await keeper.getByText("allowed on this machine", { exact: true }).waitFor();
  await keeper.getByRole("link", { name: "Start it" }).click();

  // Nothing starts before the page says what would: the goal is missing, and what is typed stays.
  await page.getByRole("radio", { name: /keeper/ }).waitFor();
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByText("Say first what it should do.").waitFor();
  const goal = 'Light the lamp; "softly" $HOME';
  await page.getByLabel("Goal", { exact: true }).fill(goal);
  expect(await page.getByTestId("will-run").locator("li").allTextContents()).toEqual([
    ...KEEPER.argv.slice(0, -1),
    goal,
  ]);
  await clean(page);
  await page.getByRole("button", { name: "Start" }).click();
  await page.waitForURL(/\/runs\/[^/]+\/live/);
  await page.locator("[data-testid=verdict]", { hasText: "Ready to land: 1 file, +1 -1." }).waitFor();
  await page.getByTestId("terminal").getByText(goal).waitFor();

  // A comment on the line, by keys; it outlives a reload while it is written.
  await page.getByRole("link", { name: "Review" }).click();
  await page.locator("[role=grid] [data-type=hunk]").first().waitFor();
  await page.keyboard.press("j");
  await page.locator("[data-chosen=true][data-type=hunk]").waitFor();
  await page.keyboard.press("c");
  const field = page.getByRole("textbox", { name: "Comment on lines 1 to 3" });
  await field.fill("Say who lit it.");
  await page.reload();
  await expect.poll(() => field.inputValue()).toBe("Say who lit it.");
  // Whoever was writing goes on where they were: what the page does after it was loaded leaves the focus in the field.
  await page.locator("[data-chosen=true][data-type=hunk]").waitFor();
  await settled(page);
  expect(await page.locator("textarea:focus").count()).toBe(1);
  await page.keyboard.press("Control+Enter");
  const comment = page.getByRole("article", { name: "Comment on lines 1 to 3" });
  await comment.getByText("Say who lit it.").waitFor();
  await comment.getByText("not sent yet").waitFor();
  await clean(page);

  // What is shown is what is sent.
  await page.getByRole("button", { name: "Send 1 comment to the agent" }).click();
  const dialog = page.getByRole("dialog", { name: "What the agent is told" });
  await dialog.getByLabel("Anything else").fill("Almost.");
  const told = dialog.locator("[data-testid=told][data-current=true]", { hasText: "Almost." });
  await told.waitFor();
  await clean(page);
  const shown = (await told.textContent())!;
  expect(shown).toContain("> on");
  await dialog.getByRole("button", { name: "Send it" }).click();
  await page.waitForURL(/\/live/);
  await page.locator("[data-testid=verdict]", { hasText: "Ready to land: 2 files" }).waitFor();
  await page.getByText("Attempts").click();
  await page.getByText("What it was told").click();
  expect(await page.getByTestId("told-2").textContent()).toBe(shown);

  await page.getByRole("link", { name: "Review" }).click();
  await page.getByText("told in attempt 2").waitFor({ state: "attached" });
  await page.getByRole("button", { name: "Apply 2 files" }).click();
  await page.getByRole("dialog").getByText("2 files change in your working tree. Nothing is committed.").waitFor();
  await page.keyboard.press("Control+Enter");
  await page.locator("[data-testid=verdict]", { hasText: "Landed" }).waitFor();
  // The agent got it as one argument, and wrote it down.
  expect(bench.read("told.txt")).toBe(shown);
  expect(bench.read("lamp.txt")).toBe("The lamp of the harbour\non\nby day\n");
  expect(watched.problems).toEqual([]);
  await window.close();
  bench.git("add", "-A");
  bench.git("commit", "-qm", "second");
});

it("offers only what was allowed to whoever came with the token, and takes one of a race", async () => {
  bench.write("lamp.txt", "The lamp of the harbour\noff\nby day\n");
  bench.git("commit", "-qam", "off again", "--allow-empty");
  const { window, watched, page } = await enter(bench, server, "/runs/new?goal=Fill%20the%20lamp");
  await page.getByText("Allow it in a terminal on that machine: verbatim agent commands --allow racer").waitFor();
  expect(await page.getByRole("radio").count()).toBe(2);
  expect(await page.getByRole("radio", { name: /racer/ }).isDisabled()).toBe(true);
  expect((await bench.verbatim("agent", "commands", "--allow", "racer")).exit).toBe(0);
  // The address names one of two that are allowed, and that one it is.
  await page.goto(`${server.base}/runs/new?goal=Fill%20the%20lamp&command=racer`);
  await page.getByTestId("will-run").getByText("racer", { exact: true }).waitFor();
  expect(await page.getByRole("radio", { name: /racer/ }).isChecked()).toBe(true);
  await page.locator("summary", { hasText: /^More$/ }).click();
  await page.getByLabel("How many").selectOption("2");
  await page.getByRole("button", { name: "Start 2 agents" }).click();
  await page.waitForURL(/\/runs\/compare\?ids=/);
  await expect.poll(() => page.getByTestId("compared-run").getByText("verified").count(), { timeout: 200_000 }).toBe(2);
  await page.getByRole("link", { name: "lamp.txt" }).click();
  const aligned = page.getByRole("region", { name: "lamp.txt", exact: true });
  await aligned.getByText("same in 2").first().waitFor();
  expect(await aligned.locator("td[data-kind=added]").allTextContents()).toEqual(["on", "on"]);
  await clean(page);
  // On a phone one run at a time, the next by a swipe or by its name.
  await page.setViewportSize({ width: 390, height: 860 });
  const one = page.getByRole("combobox", { name: "Run that is shown" });
  const [first, second] = await one.locator("option").allTextContents();
  const swipe = (from: number, to: number) =>
    aligned.evaluate(
      (part, [start, end]) => {
        const send = (type: string, x: number) => {
          const Make = globalThis as unknown as {
            Touch: new (given: object) => object;
            TouchEvent: new (name: string, given: object) => object;
          };
          const target = part as unknown as { dispatchEvent(event: object): boolean };
          const touch = new Make.Touch({ identifier: 1, target, clientX: x, clientY: 400 });
          const touches = type === "touchend" ? [] : [touch];
          target.dispatchEvent(new Make.TouchEvent(type, { bubbles: true, touches, changedTouches: [touch] }));
        };
        send("touchstart", start!);
        send("touchend", end!);
      },
      [from, to],
    );
  const shown = () => one.locator("option:checked").textContent();
  await swipe(300, 100);
  await expect.poll(shown).toBe(second);
  await swipe(300, 100);
  await swipe(100, 300);
  await expect.poll(shown).toBe(first);
  await page.setViewportSize({ width: 1280, height: 860 });
  await page.getByRole("button", { name: "Take this one" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel(/Discard the other 1 run afterwards/).check();
  await clean(page);
  await dialog.getByRole("button", { name: "Apply 2 files" }).click();
  await page.getByTestId("compared-run").getByText("applied").first().waitFor();
  await page.getByTestId("compared-run").getByText("discarded").first().waitFor();
  expect(bench.read("lamp.txt")).toContain("\non\n");
  // The list knows the race, and what was chosen there is compared as well.
  await page.getByRole("link", { name: "Runs", exact: true }).click();
  await page
    .getByText(/^race [0-9a-f]{8}$/)
    .first()
    .waitFor();
  await page.getByRole("button", { name: "Compare", exact: true }).click();
  for (const n of [0, 1])
    await page
      .getByRole("checkbox", { name: /^Choose / })
      .nth(n)
      .check();
  await page.getByRole("button", { name: "Compare 2 runs" }).click();
  await page.getByTestId("compared-run").first().waitFor();
  expect(watched.problems).toEqual([]);
  await window.close();
});
