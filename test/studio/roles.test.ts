// A team's server in a browser: the page offers what the role of a token allows, says what it does not, and asks the server for
// nothing that it would refuse.
import { AxeBuilder } from "@axe-core/playwright";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { runServe } from "../../src/surfaces/http/server/serve.ts";
import { launchBrowser } from "../support/browser.ts";
import { BIN } from "../support/cli.ts";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { WatchedPage } from "../support/studio.ts";
import { createTeam, type Team } from "../support/team.ts";

const postgres = await usePostgres();

describe("somebody of a team in the page", needs(postgres.reason), () => {
  let team: Team;
  let browser: Browser;
  let base = "";
  const stop = new AbortController();
  let ended: Promise<number>;
  const tokens: Record<string, string> = {};

  beforeAll(async () => {
    team = await createTeam(postgres);
    for (const role of ["reader", "reviewer"])
      tokens[role] = (await team.must("token", "add", role, "--role", role)).trim();
    browser = await launchBrowser([]);
    let said = "";
    ended = runServe({
      argv: ["--port", "0"],
      cwd: team.checkout,
      env: { ...team.env, VERBATIM_WORKSPACE: "main" },
      platform: process.platform,
      version: "0.0.0",
      stdout: { write: (text: string) => void (said += text) },
      stderr: { write: () => undefined },
      signal: stop.signal,
      pages: BIN.replace(/bin\/verbatim\.js$/, "dist/studio"),
    });
    await vi.waitFor(() => expect(said).toMatch(/^http:\/\/\S+/m), { timeout: 200_000 });
    base = new URL(/^http:\/\/\S+/m.exec(said)![0]).origin;
  });

  afterAll(async () => {
    await browser?.close();
    stop.abort();
    await ended;
    await team?.destroy();
  });

  const OPEN: readonly (readonly [path: string, ready: string])[] = [
    ["/", "main section ul, main section p"],
    ["/context", "main section ul a"],
    ["/context/symbols", "main table, main ul"],
    ["/jobs", "main p"],
    ["/bundles", "[data-testid=drop-zone]"],
    ["/ledger", "main canvas"],
    ["/ledger/checkpoints", "main p"],
    ["/settings/appearance", "main fieldset"],
    ["/settings/doctor", "main ul li"],
    ["/settings/about", "main dl"],
  ];

  it.each(["reader", "reviewer"])("has as a %s what the role allows, and is told what it does not", async (role) => {
    const window = await browser.newContext({ locale: "en-US", serviceWorkers: "block" });
    const watched = new WatchedPage(await window.newPage(), base);
    const { page } = watched;
    const refused: string[] = [];
    page.on("response", (answer) => {
      if (answer.status() >= 400 && answer.status() !== 404) refused.push(`${answer.status()} ${answer.url()}`);
    });
    await page.goto(base);
    await page.getByLabel("Token").fill(tokens[role]!);
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByRole("heading", { name: `You are a ${role} of this workspace`, level: 1 }).waitFor();
    await page.getByText("Nobody has asked the workers for a run.").waitFor();
    expect(await page.getByRole("navigation", { name: "Places" }).getByRole("link").allTextContents()).toEqual([
      "Home",
      "Context",
      "Jobs",
      "Bundles",
      "Ledger",
      "Settings",
    ]);
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => `${id} ${nodes[0]?.html ?? ""}`)).toEqual([]);
    for (const [path, ready] of OPEN) {
      await page.goto(base + path);
      await page.locator(ready).first().waitFor();
      expect([path, await page.getByRole("alert").filter({ hasText: /\S/ }).allTextContents()]).toEqual([path, []]);
    }
    // What takes more than the role is not there.
    await page.goto(`${base}/jobs`);
    await page.locator("main p").first().waitFor();
    const mayPost = role === "reviewer";
    expect((await page.locator("main textarea").count()) > 0).toBe(mayPost);
    await page.goto(`${base}/context`);
    await page.locator("main section ul a").first().waitFor();
    expect((await page.getByRole("searchbox").count()) > 0).toBe(mayPost);
    await page.goto(`${base}/ledger`);
    await page.locator("main canvas").waitFor();
    expect(await page.getByRole("button", { name: "Verify all" }).count()).toBe(0);
    for (const path of ["/runs", "/runs/new", "/runs/20200101-000000-abcdef/review"]) {
      await page.goto(base + path);
      await page.getByRole("heading", { name: "This needs the owner's key.", level: 1 }).waitFor();
      await page.getByText(`You are a ${role} of this workspace.`).waitFor();
    }
    await page.goto(`${base}/settings/access`);
    await page.getByRole("heading", { name: "There is nothing at this address" }).waitFor();
    expect(refused).toEqual([]);
    expect(watched.problems).toEqual([]);
    await window.close();
  });
});
