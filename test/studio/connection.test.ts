// More than one window at a time, and a server that is slow, refuses or forgets: what was typed and decided stays true.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { enter, StudioBench, type StudioServer, WatchedPage } from "../support/studio.ts";

const bench = new StudioBench();
let server: StudioServer;
const runs: Record<string, string> = {};

beforeAll(async () => {
  bench.write("log.txt", "calm\n");
  bench.git("add", "-A");
  bench.git("commit", "-qm", "first");
  const write = (line: string) => `echo ${line} >> log.txt`;
  runs["both"] = await bench.run("Write the wind down", write("wind"), "--verify", "grep -q wind log.txt");
  runs["kept"] = await bench.run("Write the rain down", "echo rain > rain.txt", "--verify", "test -e rain.txt");
  runs["late"] = await bench.run("Write the snow down", "echo snow > snow.txt", "--verify", "test -e snow.txt");
  server = await bench.serve();
});

afterAll(async () => {
  await server?.stop();
  await bench.close();
});

const verdict = "[data-testid=verdict]";

describe("two tabs", () => {
  it("share one connection for events; what one applies the other sees, and applying in both lands once", async () => {
    const { window, watched, page: one } = await enter(bench, server, `/runs/${runs["both"]}`);
    await one.locator(verdict, { hasText: "Ready to land" }).waitFor();
    const second = new WatchedPage(await window.newPage(), server.base);
    const { page: other } = second;
    const followed: string[] = [];
    other.on("request", (request) => followed.push(new URL(request.url()).pathname));
    await other.goto(`${server.base}/runs/${runs["both"]}`);
    await other.locator(verdict, { hasText: "Ready to land" }).waitFor();
    for (const page of [one, other]) {
      await page.keyboard.press("a");
      await page.getByRole("dialog").getByText("as verified").waitFor();
    }
    await Promise.all([one, other].map((page) => page.keyboard.press("Control+Enter")));
    for (const page of [one, other]) await page.locator(verdict, { hasText: "Landed" }).waitFor();
    expect(bench.read("log.txt")).toBe("calm\nwind\n");
    // Undone in the first, and the second says so without being asked.
    await one.bringToFront();
    await dismiss(one);
    await dismiss(other);
    await one.getByRole("button", { name: "Undo" }).click();
    await one.getByRole("dialog").getByRole("button", { name: "Undo" }).click();
    await other.locator(verdict, { hasText: "Undone." }).waitFor();
    expect(bench.read("log.txt")).toBe("calm\n");
    expect(followed).not.toContain("/api/events");
    // The one that held the connection goes; the other takes it over and still hears.
    await one.close();
    await expect.poll(() => followed).toContain("/api/events");
    expect([...watched.problems, ...second.problems]).toEqual([]);
    await window.close();
  });
});

/** A dialog that says what was refused stays until it is closed. */
async function dismiss(page: Page): Promise<void> {
  if ((await page.getByRole("dialog").count()) > 0) await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
}

describe("a server that", () => {
  it("answers late closes its own question, not the one asked since, and Back leads to the page", async () => {
    const { window, watched, page } = await enter(bench, server, `/runs/${runs["late"]}`);
    await page.locator(verdict, { hasText: "Ready to land" }).waitFor();
    await page.keyboard.press("a");
    const apply = page.getByRole("dialog").getByRole("button", { name: "Apply 1 file" });
    await apply.waitFor();
    // The act ends when everything on the page was read anew: one of the answers is held back.
    let answer: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const asked: string[] = [];
    await window.route("**/api/operations/agent.diff", async (route) => {
      asked.push(route.request().method());
      await held;
      await route.continue();
    });
    await apply.click();
    await page.locator(verdict, { hasText: "Landed" }).waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await expect.poll(() => asked).not.toEqual([]);
    await page.getByRole("button", { name: "Undo" }).click();
    const undo = page.getByRole("dialog").getByRole("button", { name: "Undo" });
    await undo.waitFor();
    const answered = page.waitForResponse("**/api/operations/agent.diff");
    answer();
    await (await answered).finished();
    await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 100)))");
    await undo.click();
    await page.locator(verdict, { hasText: "Undone." }).waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await expect.poll(() => new URL(page.url()).search).toBe("");
    expect(existsSync(join(bench.root, "snow.txt"))).toBe(false);
    expect(watched.problems).toEqual([]);
    await window.close();
  });

  it("is slow leaves the screen quiet, then shows its shape, then says that it still waits, and loses nothing", async () => {
    const { window, watched, page } = await enter(bench, server, "/settings/appearance");
    let answer: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await window.route("**/api/operations/agent.list", async (route) => {
      await held;
      await route.continue();
    });
    // From here on no time passes but by runFor: a slow machine would see more than the shape of nothing.
    await page.clock.install();
    await page.clock.pauseAt(new Date(Date.now() + 1000));
    await page.getByRole("link", { name: "Runs" }).click();
    const waiting = page.getByRole("status", { name: "Loading" });
    await waiting.waitFor({ state: "attached" });
    expect(await waiting.locator("span").count()).toBe(0);
    await page.clock.runFor(200);
    await expect.poll(() => waiting.locator("span").count()).toBeGreaterThan(2);
    expect(await page.getByText("Still waiting for the server").count()).toBe(0);
    await page.clock.runFor(4000);
    await page.getByText("Still waiting for the server").waitFor();
    await page.clock.resume();
    answer();
    await page.getByRole("link", { name: /Write the rain down/ }).waitFor();
    expect(await page.getByText("Still waiting for the server").count()).toBe(0);
    expect(watched.problems).toEqual([]);
    await window.close();
  });

  it("refuses is quoted: what, where, what to do, the code; and is asked again when somebody says so", async () => {
    const { window, watched, page } = await enter(bench, server, "/settings/appearance");
    const error = {
      code: "STORE_BUSY",
      message: "The store is <b>busy</b>.",
      where: "state/verbatim.db",
      fix: "Wait until the other program has ended.",
    };
    let refuses = true;
    await window.route("**/api/operations/agent.list", (route) =>
      refuses ? route.fulfill({ status: 503, json: { error } }) : route.continue(),
    );
    await page.getByRole("link", { name: "Runs" }).click();
    const alert = page.getByRole("alert").filter({ hasText: error.message });
    await alert.waitFor();
    const said = (await alert.innerText()).split(/\n+/).map((line) => line.trim());
    expect(said.filter((line) => line !== "")).toEqual([
      error.message,
      error.where,
      error.fix,
      "Try again",
      error.code,
    ]);
    refuses = false;
    await alert.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("link", { name: /Write the rain down/ }).waitFor();
    expect(await page.getByText(error.message).count()).toBe(0);
    expect(watched.problems).toEqual([]);
    await window.close();
  });

  it("forgets the session in the middle of an apply is given the key again, over the question that was open", async () => {
    const { window, watched, page } = await enter(bench, server, `/runs/${runs["kept"]}`);
    await page.locator(verdict, { hasText: "Ready to land" }).waitFor();
    await page.keyboard.press("a");
    const dialog = page.getByRole("dialog").filter({ hasText: "1 file changes in your working tree" });
    await dialog.waitFor();
    const secret = await page.evaluate<string>("sessionStorage.getItem('session')");
    const headers = { authorization: `Bearer ${secret}` };
    expect((await fetch(`${server.base}/api/session`, { method: "DELETE", headers })).status).toBe(204);
    await page.getByText("This session has ended. What you typed is still here.").waitFor();
    await page.getByLabel("Token").fill(server.token);
    await page.getByRole("button", { name: "Open", exact: true }).click();
    await page.getByText("This session has ended.").waitFor({ state: "detached" });
    await dialog.waitFor();
    expect(page.url()).toContain("do=apply");
    await dialog.getByRole("button", { name: "Apply 1 file" }).click();
    await page.locator(verdict, { hasText: "Landed" }).waitFor();
    expect(bench.read("rain.txt")).toBe("rain\n");
    expect(watched.problems).toEqual([]);
    await window.close();
  });
});
