// What surrounds the screens: who gets in, what is said when the server is gone, keys, and that everybody can use it.
import { AxeBuilder } from "@axe-core/playwright";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { enter, goByKeys, StudioBench, type StudioServer, WatchedPage } from "../support/studio.ts";
import { travel } from "../support/studio-answers.ts";

const bench = new StudioBench();
let server: StudioServer;
let run: string;

beforeAll(async () => {
  bench.write("lamp.txt", "off\n");
  bench.git("add", "-A");
  bench.git("commit", "-qm", "first");
  run = await bench.run("Light the lamp", "echo on > lamp.txt; echo lit", "--verify", "grep -q on lamp.txt");
  server = await bench.serve();
});

afterAll(async () => {
  await server?.stop();
  await bench.close();
});

describe("getting in", () => {
  it("takes the key out of the address before anything is asked, opens one session, and shares it with a new tab", async () => {
    const window = await bench.window();
    const watched = new WatchedPage(await window.newPage(), server.base);
    const asked: string[] = [];
    watched.page.on("request", (request) => asked.push(request.url()));
    await watched.page.goto(server.link);
    await watched.page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
    expect(asked.filter((url) => url.includes("k="))).toEqual([]);
    expect(watched.page.url()).toBe(`${server.base}/`);
    await watched.page.goBack().catch(() => null);
    expect(watched.page.url()).not.toContain("k=");

    await watched.page.goto(`${server.base}/`);
    const second = new WatchedPage(await window.newPage(), server.base);
    await second.page.goto(`${server.base}/runs/${run}`);
    await second.page.locator("[data-testid=verdict]", { hasText: "Ready to land" }).waitFor();
    expect(second.problems).toEqual([]);

    // The same link in another browser: it is spent, the session it made ends, and both are told.
    const other = await bench.window();
    const page = await other.newPage();
    await page.goto(server.link);
    await page.getByText("LINK_SPENT").waitFor();
    await second.page.getByText("This session has ended.").waitFor();
    await other.close();
    await window.close();
  });

  it("opens another device by a link that is made here, and says which session is whose", async () => {
    const { window, watched, page } = await enter(bench, server, "/settings/access");
    await page.getByText("this one").waitFor();
    await page.getByRole("button", { name: "Make a link" }).click();
    const link = (await page.locator("main code").textContent()) ?? "";
    expect(link).toMatch(new RegExp(`^${server.base}/#k=[0-9a-f]{32}$`));
    await page.getByText(/Good once, until \d\d:\d\d/).waitFor();
    const phone = await bench.window();
    const other = new WatchedPage(await phone.newPage(), server.base);
    await other.page.goto(link);
    await other.page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
    await other.page.goto(`${server.base}/settings/access`);
    // Ended by the other one, it asks for the key again.
    const mine = page.locator("main li", { hasText: "this one" });
    expect(await mine.count()).toBe(1);
    await other.page.getByRole("button", { name: "End this session" }).click();
    await other.page.getByText("This session has ended.").waitFor();
    expect([...watched.problems, ...other.problems]).toEqual([]);
    await phone.close();
    await window.close();
  });

  it("opens the one world of a world's token, and no way to anything else", async () => {
    const ask = async (path: string, input?: object) => {
      const headers = { "content-type": "application/json", authorization: `Bearer ${server.token}` };
      const body = input === undefined ? {} : { body: JSON.stringify(input) };
      const answer = await fetch(`${server.base}/api/${path}`, { method: "POST", headers, ...body });
      return (await answer.json()) as Record<string, unknown>;
    };
    await ask("worlds", { title: "Harbour", world_id: "w_harbour", timezone: "UTC", person: ["ANA=Ana"] });
    const { token } = await ask("worlds/w_harbour/people/ANA/tokens");
    const window = await bench.window();
    const watched = new WatchedPage(await window.newPage(), server.base);
    const { page } = watched;
    await page.goto(`${server.base}/runs/${run}`);
    await page.getByLabel("Token").fill(String(token));
    await page.keyboard.press("Enter");
    await page.waitForURL(`${server.base}/worlds/w_harbour`);
    await page.getByText("You read this world. Nobody speaks with this token.").waitFor();
    expect(await page.getByRole("navigation", { name: "Places" }).count()).toBe(0);
    expect(await page.getByRole("textbox").count()).toBe(0);
    expect(watched.problems).toEqual([]);
    await window.close();
  });

  it("asks for the key again when the session ends, over a page that keeps what was typed", async () => {
    const { window, page } = await enter(bench, server, "/runs");
    await page.getByRole("link", { name: /Light the lamp/ }).waitFor();
    await page.getByRole("searchbox").fill("lamp");
    await page.waitForURL(/q=lamp/);
    const secret = await page.evaluate<string | null>("sessionStorage.getItem('session')");
    const ended = await fetch(`${server.base}/api/session`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${secret}` },
    });
    expect(ended.status).toBe(204);
    await page.getByText("This session has ended. What you typed is still here.").waitFor();
    await page.getByLabel("Token").fill(server.token);
    await page.getByRole("button", { name: "Open", exact: true }).click();
    await page.getByRole("link", { name: /Light the lamp/ }).click();
    await page.locator("[data-testid=verdict]").waitFor();
    await page.goBack();
    expect(await page.getByRole("searchbox").inputValue()).toBe("lamp");
    await window.close();
  });
});

describe("the connection", () => {
  it("says since when nobody answers, keeps what is shown, disables acts with the reason, and goes on by itself", async () => {
    const own = await bench.serve();
    const port = Number(new URL(own.base).port);
    const { window, watched, page } = await enter(bench, own, `/runs/${run}`);
    await page.locator("[data-testid=verdict]").waitFor();
    await page.keyboard.press("d");
    await page.getByRole("dialog").waitFor();
    await own.stop();
    await page.getByText(/does not answer\. What you see is from \d\d:\d\d:\d\d\./).waitFor();
    // Neither what is open nor what is behind it can be done.
    const dialog = page.getByRole("dialog");
    await dialog.getByText("This can be done again when it does.").waitFor();
    expect(await dialog.getByRole("button", { name: "Discard this run" }).isDisabled()).toBe(true);
    await page.keyboard.press("Control+Enter");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(await page.getByRole("button", { name: "Apply 1 file" }).isDisabled()).toBe(true);
    await page.getByText("This can be done again when it does.").waitFor();
    await page.locator("[data-testid=verdict]", { hasText: "Ready to land" }).waitFor();
    const again = await bench.serve(port);
    // A server that was started again knows no session; the token opens another one and nothing else is asked.
    await page.getByText("This session has ended.").waitFor();
    await page.getByLabel("Token").fill(again.token);
    await page.getByRole("button", { name: "Open", exact: true }).click();
    await page.getByText(/What you see is from/).waitFor({ state: "detached" });
    await expect.poll(() => page.getByRole("button", { name: "Apply 1 file" }).isEnabled()).toBe(true);
    await again.stop();
    expect(watched.problems).toEqual([]);
    await window.close();
  });

  it("shows a run that another process makes, and what happens to it, without being asked", async () => {
    const { window, watched, page } = await enter(bench, server, "/runs");
    await page.getByRole("link", { name: /Light the lamp/ }).waitFor();
    const made = await bench.run("Trim the wick", "echo trimmed > wick.txt", "--no-verify");
    // It is listed twice while it is at work: above as such, and among all.
    await page
      .getByRole("list", { name: "Runs" })
      .getByRole("link", { name: /Trim the wick/ })
      .click();
    await page.locator("[data-testid=verdict]", { hasText: "Not verified: no command checked this change." }).waitFor();
    await bench.verbatim("agent", "discard", made);
    await page.locator("[data-testid=verdict]", { hasText: "Discarded." }).waitFor();
    expect(watched.problems).toEqual([]);
    await window.close();
  });
});

describe("keys and places", () => {
  it("lists its keys, finds by typing, goes by letters, and leaves letters alone in fields", async () => {
    const { window, watched, page } = await enter(bench, server, "/");
    await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog").getByText("Copy the link of what is shown").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("Light the");
    await page.getByRole("option", { name: /Light the lamp/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(new RegExp(`/runs/${run}`));
    // A file of the change, and an id that was pasted: there is nothing to choose.
    await page.locator("[role=grid]").waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("lamp.t");
    await page.getByRole("option", { name: /lamp\.txt In this change/ }).click();
    await page.waitForURL(/file=lamp\.txt/);
    await page.goto(`${server.base}/`);
    await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
    await window.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(run)})`);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").press("Control+v");
    await page.waitForURL(new RegExp(`/runs/${run}`));
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await goByKeys(page, "r", "[type=search]");
    await page.keyboard.press("/");
    await page.keyboard.type("gh?");
    expect(await page.getByRole("searchbox").inputValue()).toBe("gh?");
    await page.getByText("No run matches.").waitFor();
    await page.getByRole("button", { name: "Clear the filter" }).click();
    await page.getByRole("link", { name: /Light the lamp/ }).waitFor();
    expect(watched.problems).toEqual([]);
    await window.close();
  });

  it("drops what it does not know in an address, and says when nothing is there", async () => {
    const { window, watched, page } = await enter(bench, server, "/runs?outcome=nonsense&since=%00&zz=1&do=nothing");
    await page.getByRole("link", { name: /Light the lamp/ }).waitFor();
    await page.goto(`${server.base}/no/such/place`);
    await page.getByRole("heading", { name: "There is nothing at this address" }).waitFor();
    await page.goto(`${server.base}/runs/20200101-000000-abcdef`);
    await page.getByRole("alert").getByText("RUN_NOT_FOUND").waitFor();
    expect(watched.problems).toEqual([]);
    await window.close();
  });
});

describe("everybody", () => {
  const SCREENS: readonly (readonly [string, string])[] = [
    ["/", "main h1"],
    ["/runs", "main [role=listitem]"],
    ["/runs/RUN/review", "[role=grid] [data-type=line]"],
    ["/runs/RUN/review?view=split", "[role=grid] [data-type=pair]"],
    ["/runs/RUN/review?do=apply", "[role=dialog] li"],
    ["/runs/RUN/output", "[role=log]"],
    ["/runs/RUN/proof", "main details"],
    ["/runs/RUN/verify", "[role=log]"],
    ["/runs/RUN/timeline", "main ol"],
    ["/runs/RUN/review?do=checks&panel=verify", "[role=dialog] section"],
    ["/runs/RUN/review?do=checks&panel=network", "[role=dialog] section"],
    ["/runs/RUN/files", "main li a[href*='/files/']"],
    ["/runs/RUN/files/agent/summary.json", "main article h2"],
    ["/runs/RUN/report", "main article h3"],
    ["/runs?do=keys", "[role=dialog]"],
    ["/runs?do=find", "[role=dialog] [role=option]"],
    ["/settings/appearance", "main fieldset"],
    ["/settings/notices", "main fieldset"],
    ["/settings/access", "main ul li"],
    ["/settings/doctor", "main ul li"],
    ["/settings/about", "main dl"],
  ];

  it.each([
    ["a desk, in light and dark", { width: 1280, height: 860 }, ["light", "dark"] as const],
    // The colours are the same ones; what differs is where things are.
    ["a phone", { width: 390, height: 844 }, ["light"] as const],
  ])("can use every screen on %s", async (_name, viewport, schemes) => {
    const { window, watched, page } = await enter(bench, server, "/", { viewport });
    for (const [path, ready] of SCREENS) {
      // A phone shows a change in one column, whatever the address says.
      if (viewport.width < 640 && path.includes("view=split")) continue;
      await travel(page, path.replace("RUN", run), ready);
      for (const colorScheme of schemes) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        // What depends on the theme is contrast alone; everything else was asked in the first one.
        const axe = new AxeBuilder({ page });
        const { violations } = await (colorScheme === "dark" ? axe.withRules(["color-contrast"]) : axe).analyze();
        const found = violations.map(({ id, nodes }) => `${path} ${colorScheme}: ${id} ${nodes[0]?.html ?? ""}`);
        expect(found).toEqual([]);
      }
    }
    expect(watched.problems).toEqual([]);
    await window.close();
  });
});
