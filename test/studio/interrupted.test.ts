// What comes between a person and the server: it is killed while it applies, and somebody looks elsewhere.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { en } from "../../web/src/words/en.ts";
import { enter, StudioBench, type StudioServer } from "../support/studio.ts";

const bench = new StudioBench();
let server: StudioServer;
const runs: Record<string, string> = {};

beforeAll(async () => {
  bench.write("log.txt", "calm\n");
  bench.write("other.txt", "quiet\n");
  bench.git("add", "-A");
  bench.git("commit", "-qm", "first");
  // As long as the other file is loud, the check is at work for longer than anybody waits here.
  const check = "sh -c 'if grep -q loud other.txt; then sleep 60; fi; grep -q wind log.txt'";
  runs["killed"] = await bench.run("Write the wind down", "echo wind >> log.txt", "--verify", check);
  runs["quiet"] = await bench.run("Write the rain down", "echo rain > rain.txt", "--no-verify");
  server = await bench.serve();
});

afterAll(async () => {
  await server?.stop();
  await bench.close();
});

const verdict = "[data-testid=verdict]";

describe("a server that is killed while it applies", () => {
  it("has applied nothing; the question stays and says so, and the same press lands it once the server is back", async () => {
    const own = await bench.serve();
    const { window, watched, page } = await enter(bench, own, `/runs/${runs["killed"]}`);
    await page.locator(verdict, { hasText: "Ready to land" }).waitFor();
    // The tree moves on, so that the checks run again before anything lands, and they do not end.
    bench.write("other.txt", "loud\n");
    bench.git("commit", "-qam", "second");
    await page.keyboard.press("a");
    const dialog = page.getByRole("dialog");
    // Killed before it has answered, the server was asked for nothing as far as the page knows, and that is another story.
    const begun = page.waitForResponse((response) => response.url().endsWith("/api/tasks"));
    await dialog.getByRole("button", { name: en.apply.verifyAgain }).click();
    expect((await begun).status()).toBe(202);
    await (await begun).finished();
    await dialog.getByRole("button", { name: en.acts.stop }).waitFor();
    await own.stop("SIGKILL");
    expect(bench.read("log.txt")).toBe("calm\n");
    bench.write("other.txt", "quiet again\n");
    bench.git("commit", "-qam", "third");
    const again = await bench.serve(Number(new URL(own.base).port));
    await page.getByText(en.key.ended).waitFor();
    await page.getByLabel(en.key.token).fill(again.token);
    await page.getByRole("button", { name: en.key.open, exact: true }).click();
    // The new server knows nothing of the task. The question is still there, with what became of it.
    await dialog.getByText("TASK_NOT_FOUND").waitFor();
    expect(bench.read("log.txt")).toBe("calm\n");
    await dialog.getByRole("button", { name: en.apply.verifyAgain }).click();
    await page.locator(verdict, { hasText: "Landed" }).waitFor();
    expect(bench.read("log.txt")).toBe("calm\nwind\n");
    await dialog.waitFor({ state: "detached" });
    await again.stop();
    expect(watched.problems).toEqual([]);
    await window.close();
  });
});

/** A browser whose notices are written down, in a tab that nobody looks at. */
const NOTICES = `
  globalThis.given = [];
  const kept = globalThis.sessionStorage;
  globalThis.Notification = class {
    static get permission() { return kept.getItem("allowed") ?? "default"; }
    static async requestPermission() { kept.setItem("allowed", globalThis.answer ?? "granted"); return this.permission; }
    constructor(title, options) { Object.assign(this, { title, ...options }); globalThis.given.push(this); }
  };
  Object.defineProperty(document, "hidden", { get: () => globalThis.isHidden ?? true });
`;

describe("a notice", () => {
  it("is given for a run that needs somebody who looks elsewhere, as plain text, and leads to it; otherwise none is", async () => {
    const { window, watched, page } = await enter(bench, server, "/settings/appearance");
    await page.addInitScript(NOTICES);
    await page.goto(`${server.base}/settings/notices`);
    const given = () => page.evaluate<string[]>("given.map(({ title, body, tag }) => [title, body, tag].join('|'))");
    const on = page.getByRole("radio", { name: en.settings.noticesWords.on });
    await page.evaluate("globalThis.answer = 'denied'");
    await on.click();
    await page.getByRole("status").filter({ hasText: en.settings.noticesDenied }).waitFor();
    expect(await on.isChecked()).toBe(false);
    await page.evaluate("globalThis.answer = 'granted'");
    await on.click();
    await expect.poll(() => on.isChecked()).toBe(true);
    await page.locator("[data-state=live]").waitFor();
    // Nobody is told of what they look at.
    await page.getByRole("link", { name: en.places.runs }).click();
    await page.getByRole("link", { name: /Write the rain down/ }).waitFor();
    await page.evaluate("globalThis.isHidden = false");
    const seen = await bench.run("Look at the quay", "echo seen > seen.txt", "--no-verify");
    const row = page.getByRole("list", { name: en.runs.title }).getByRole("link", { name: /Look at the quay/ });
    await row.filter({ hasText: en.outcomes.unverified }).waitFor();
    await bench.verbatim("agent", "discard", seen);
    await row.filter({ hasText: en.outcomes.discarded }).waitFor();
    expect(await given()).toEqual([]);
    await page.evaluate("globalThis.isHidden = true");
    const goal = `Mend \u202e the <b>lamp</b>\u0007 ${"and the rope ".repeat(9)}`;
    const made = await bench.run(goal, "echo on > lamp.txt", "--no-verify");
    await expect.poll(given).toHaveLength(1);
    const [title, body, tag] = (await given())[0]!.split("|");
    expect([title!.length <= 61, body, tag]).toEqual([true, en.outcomes.unverified, made]);
    expect(title).toMatch(/^Mend .*the <b>lamp<\/b>/);
    expect(title).not.toMatch(/[\u0000-\u001f\u202e]/);
    await page.evaluate("given[0].onclick()");
    await page.waitForURL(new RegExp(`/runs/${made}`));
    expect(watched.problems).toEqual([]);
    await window.close();
  });
});
