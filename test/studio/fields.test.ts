// Bad input at every field gets a sentence that says what to change, and nothing that was typed is lost.
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { en } from "../../web/src/words/en.ts";
import { enter, StudioBench, type StudioServer, WatchedPage } from "../support/studio.ts";

const bench = new StudioBench();
let server: StudioServer;

beforeAll(async () => {
  bench.write("log.txt", "calm\n");
  bench.git("add", "-A");
  bench.git("commit", "-qm", "first");
  await bench.run("Write the wind down", "echo wind >> log.txt", "--verify", "grep -q wind log.txt");
  server = await bench.serve();
});

afterAll(async () => {
  await server?.stop();
  await bench.close();
});

const LONG = "harbour ".repeat(40);

async function openKeyScreen(
  to = server,
): Promise<{ readonly page: Page; readonly watched: WatchedPage; close(): Promise<void> }> {
  const window = await bench.window();
  const watched = new WatchedPage(await window.newPage(), to.base);
  await watched.page.goto(`${to.base}/runs`);
  await watched.page.getByRole("heading", { name: en.key.title }).waitFor();
  return { page: watched.page, watched, close: () => window.close() };
}

describe("the key", () => {
  it("that cannot be one is not sent, one that is wrong is named, and what was typed stays", async () => {
    // A server of its own: whoever tries too many wrong ones locks out right ones for a minute.
    const own = await bench.serve();
    const { page, watched, close } = await openKeyScreen(own);
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    const field = page.getByLabel(en.key.token);
    const open = page.getByRole("button", { name: en.key.open, exact: true });
    for (const [typed, says] of [
      ["", en.key.mistakes.empty],
      ["   ", en.key.mistakes.empty],
      ["short", en.key.mistakes.shape],
      ["two words that are long enough", en.key.mistakes.shape],
      ["x".repeat(600), en.key.mistakes.shape],
      ["schlüssel-des-hafenmeisters", en.key.mistakes.shape],
    ] as const) {
      await field.fill(typed);
      await open.click();
      await page.getByRole("alert").filter({ hasText: says }).waitFor();
      expect(await field.inputValue()).toBe(typed);
      expect(await field.getAttribute("aria-invalid")).toBe("true");
    }
    expect(asked).not.toContain("/api/session");
    await field.fill("token-of-somebody-else");
    await open.click();
    const alert = page.getByRole("alert").filter({ hasText: "this server does not know the token" });
    await alert.getByText("Check that all of it was typed").waitFor();
    expect(await field.inputValue()).toBe("token-of-somebody-else");
    // Five of them, and then it says how long to wait.
    for (let n = 0; n < 5; n++) {
      const answered = page.waitForResponse("**/api/session");
      await open.click();
      await answered;
    }
    await page.getByText(/^Wait \d+ s, or open a link from the terminal/).waitFor();
    expect(await field.inputValue()).toBe("token-of-somebody-else");
    expect(watched.problems).toEqual([]);
    await close();
    await own.stop();
  });

  it("may be a whole link; a link that was used says so", async () => {
    const { page, watched, close } = await openKeyScreen();
    await page.getByLabel(en.key.token).fill(`  ${server.link}  `);
    await page.getByRole("button", { name: en.key.open, exact: true }).click();
    await page.getByRole("link", { name: /Write the wind down/ }).waitFor();
    const other = await openKeyScreen();
    await other.page.getByLabel(en.key.token).fill(server.link);
    await other.page.getByRole("button", { name: en.key.open, exact: true }).click();
    await other.page.getByText("the link was used before; the session it had opened was ended").waitFor();
    // And the other side is told too.
    await page.getByText(en.key.ended).waitFor();
    expect([...watched.problems, ...other.watched.problems]).toEqual([]);
    await other.close();
    await close();
  });
});

describe("a search", () => {
  it("that is too long says how long it may be, keeps what was typed, and goes on from there", async () => {
    const { window, watched, page } = await enter(bench, server, "/runs");
    const field = page.getByRole("searchbox", { name: en.runs.search });
    await field.fill(LONG);
    await page
      .getByRole("alert")
      .filter({ hasText: en.runs.long(200) })
      .waitFor();
    expect([await field.inputValue(), await field.getAttribute("aria-invalid")]).toEqual([LONG, "true"]);
    // What is on the screen is still everything.
    await page.getByRole("link", { name: /Write the wind down/ }).waitFor();
    await field.fill("no such goal");
    await page.getByText(en.runs.noMatch).waitFor();
    expect(await page.getByText(en.runs.long(200)).count()).toBe(0);
    await page.getByRole("button", { name: en.runs.clear }).click();
    await page.getByRole("link", { name: /Write the wind down/ }).waitFor();
    await expect.poll(() => field.inputValue()).toBe("");
    // An address that nobody meant shows everything, and the fields say so.
    await page.goto(`${server.base}/runs?outcome=nothing&since=ever&q=%20&do=dance&junk=1`);
    await page.getByRole("link", { name: /Write the wind down/ }).waitFor();
    expect(await page.getByRole("combobox", { name: en.runs.outcome }).inputValue()).toBe("");
    expect(await page.getByRole("combobox", { name: en.runs.since }).inputValue()).toBe("");
    expect(watched.problems).toEqual([]);
    await window.close();
  });
});

describe("the palette", () => {
  it("says what is too long, what is not found and what could not be asked, and keeps the text", async () => {
    const { window, watched, page } = await enter(bench, server, "/runs");
    await page.getByRole("link", { name: /Write the wind down/ }).waitFor();
    await page.keyboard.press("Control+k");
    const field = page.getByRole("combobox", { name: en.palette.label });
    await field.fill(LONG);
    await page.getByText(en.palette.long(200)).waitFor();
    await field.fill("no such thing at all");
    await page.getByText(en.palette.none).waitFor();
    const error = { code: "STORE_BUSY", message: "The store is busy.", where: null, fix: "Wait a moment." };
    await window.route("**/api/operations/studio.find", (route) => route.fulfill({ status: 503, json: { error } }));
    await field.fill("the rain");
    await page.getByRole("dialog").getByText("The store is busy.").waitFor();
    expect(await page.getByText(en.palette.none).count()).toBe(0);
    expect(await field.inputValue()).toBe("the rain");
    await window.unroute("**/api/operations/studio.find");
    await field.fill("the wind");
    await page.getByRole("option", { name: /Write the wind down/ }).click();
    await page.waitForURL(/\/runs\/.+\/review/);
    // Back leads to where the palette was opened, and it is not open there.
    await page.goBack();
    await page.waitForURL(/\/runs$/);
    await page.getByRole("link", { name: /Write the wind down/ }).waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(watched.problems).toEqual([]);
    await window.close();
  });
});

describe("the settings", () => {
  it("that somebody spoiled in this browser are those of the beginning, and can be chosen again", async () => {
    const { window, watched, page } = await enter(bench, server, "/settings/appearance");
    for (const spoiled of ["{", "[]", '{"theme":"<b>","size":1e9,"density":7,"motion":null,"letters":"yes"}']) {
      await page.evaluate(`localStorage.setItem("verbatim-appearance", ${JSON.stringify(spoiled)})`);
      await page.reload();
      await page.getByRole("group", { name: en.settings.theme }).waitFor();
      expect(await page.getByRole("radio", { name: en.settings.themes.system }).first().isChecked()).toBe(true);
      expect(await page.getByRole("radio", { name: "100 %" }).isChecked()).toBe(true);
      await page.getByRole("radio", { name: en.settings.themes.dark }).check();
      await page.reload();
      await page.getByRole("group", { name: en.settings.theme }).waitFor();
      expect(await page.getByRole("radio", { name: en.settings.themes.dark }).isChecked()).toBe(true);
    }
    expect(watched.problems).toEqual([]);
    await window.close();
  });
});
