// The small page of `verbatim studio --no-web`, in a real browser: what is written appears, once, and nothing is run.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App } from "../../src/app/call.ts";
import { openApp } from "../../src/app/call.ts";
import { type RunningHttp, startHttp } from "../../src/surfaces/http/server/server.ts";
import { launchBrowser } from "../support/browser.ts";

const HTML = '<img src=x onerror="document.title=1"> <b>bold</b>';

let folder: string;
let app: App;
let http: RunningHttp;
let guarded: RunningHttp;
let browser: Browser;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "verbatim-world-page-"));
  app = openApp({ surface: "http", start: folder, env: {}, platform: process.platform });
  http = await startHttp({ app, version: "0.0.0", host: "127.0.0.1", port: 0, noToken: true });
  guarded = await startHttp({ app, version: "0.0.0", host: "127.0.0.1", port: 0, token: "token-of-the-owner" });
  await app.call("world.new", { title: "Harbour", world_id: "w_harbour", timezone: "UTC", person: ["ANA=Ana"] });
  await app.call("world.presence", { world: "w_harbour", present: ["GEORGE", "ANA"] });
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser?.close();
  await http?.close();
  await guarded?.close();
  await app?.close();
  rmSync(folder, { recursive: true, force: true });
});

const lines = (page: Page) => page.locator("#stream .line").allTextContents();

describe("the small page", () => {
  it("sends what is typed and shows every committed line once, as text, whoever wrote it", async () => {
    const page = await browser.newPage();
    page.setDefaultTimeout(120_000);
    const problems: string[] = [];
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error") problems.push(message.text());
    });
    await page.goto(http.url);
    await page.getByText("Connected.").waitFor();
    await page.getByLabel("Say something").fill(HTML);
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("heading", { name: "Ana" }).waitFor();
    expect(await lines(page)).toEqual([HTML, "I hear you."]);
    expect(await page.getByLabel("Say something").inputValue()).toBe("");

    await app.call("world.say", { world: "w_harbour", text: "From another window." });
    await page.getByText("From another window.").waitFor();
    await page.reload();
    await page.getByText("From another window.").waitFor();
    expect((await lines(page)).filter((line) => line === "From another window.")).toHaveLength(1);
    expect(await page.title()).toBe("Verbatim");
    expect(problems).toEqual([]);
    await page.close();
  });

  it("keeps the text when the server refuses or is gone, and sends it once under the same id", async () => {
    const page = await browser.newPage();
    page.setDefaultTimeout(120_000);
    await page.goto(http.url);
    await page.getByText("Connected.").waitFor();
    await page.route("**/invocations", (route) => route.abort());
    await page.getByLabel("Say something").fill("Kept text.");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("your text is still here").waitFor();
    const ids: string[] = [];
    await page.unroute("**/invocations");
    page.on("request", (request) => {
      if (request.url().endsWith("/invocations"))
        ids.push((request.postDataJSON() as { request_id: string }).request_id);
    });
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("Kept text.").first().waitFor();
    expect(ids).toHaveLength(1);
    expect(ids[0]).toMatch(/^page-[0-9a-f]{16}$/);
    await page.close();
  });

  it("asks for a token where one is needed", async () => {
    const page = await browser.newPage();
    page.setDefaultTimeout(120_000);
    await page.goto(guarded.url);
    await page.getByText("A token is required.").waitFor();
    await page.getByLabel("Token").fill("token-of-the-owner");
    await page.getByRole("button", { name: "Use it" }).click();
    await page.getByText("Connected.").waitFor();
    await app.call("world.say", { world: "w_harbour", text: "Seen with a token." });
    await page.getByText("Seen with a token.").first().waitFor();
    expect(page.url()).not.toContain("token-of-the-owner");
    await page.close();
  });

  it("takes the link that was printed, forgets it there, keeps its session over a reload, and hears of its end", async () => {
    const page = await browser.newPage();
    page.setDefaultTimeout(120_000);
    const link = guarded.makeLink();
    await page.goto(link);
    await page.getByText("Connected.").waitFor();
    expect(page.url()).toBe(`${guarded.url}/`);
    await page.reload();
    await page.getByText("Connected.").waitFor();
    await page.locator("summary").click();
    await page.getByText("POST /api/worlds/:id/invocations").waitFor();
    expect(await page.getByLabel("Token").isVisible()).toBe(false);
    const kept = await page.evaluate(() =>
      Object.entries((globalThis as unknown as { sessionStorage: object }).sessionStorage),
    );
    expect(kept).toEqual([["session", expect.stringMatching(/^vs_[0-9a-f]{64}$/)]]);
    const second = await browser.newPage();
    second.setDefaultTimeout(120_000);
    await second.goto(link);
    await second.getByText("the link was used before; the session it had opened was ended").waitFor();
    await page.reload();
    await page.getByText("the session was ended: its link was used a second time").waitFor();
    expect(await page.getByLabel("Token").isVisible()).toBe(true);
    await Promise.all([page.close(), second.close()]);
  });
});
