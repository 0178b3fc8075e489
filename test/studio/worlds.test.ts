// Worlds in the page: an evening of play with a stand-in that writes, a player who must not learn what its person does not
// know, lines that mean harm, and a server that goes away in the middle of a beat.
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type ModelServer, startModelServer } from "../support/model-server.ts";
import { enter, enterByLink, StudioBench, type StudioServer, WatchedPage } from "../support/studio.ts";

const bench = new StudioBench();
let server: StudioServer;
let models: ModelServer;

beforeAll(async () => {
  models = await startModelServer();
  server = await bench.serve();
});

beforeEach(() => {
  models.replies.length = 0;
});

afterAll(async () => {
  // Before the stand-in, which would wait for whoever still asks it.
  await bench.close();
  await models?.[Symbol.asyncDispose]();
});

type Answer = Record<string, unknown>;

async function ask(method: string, path: string, body?: unknown, token = server.token): Promise<Answer> {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body === undefined ? {} : { "content-type": "application/json" }),
  };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await fetch(`${server.base}/api/worlds${path}`, { method, headers, ...sent });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return text === "" ? {} : (JSON.parse(text) as Answer);
}

/** What the stand-in writes next. */
const line = (person: string, text: string) => ({
  author: { author_id: person, author_class: "PERSON" },
  channel: "PEOPLE",
  text,
});
const answers = (...entries: object[]) => JSON.stringify({ proposed_write_bundle: { entries } });

function say(world: string, request_id: string, text: string, query = ""): Promise<Answer> {
  return ask("POST", `/${world}/invocations${query}`, {
    request_id,
    invoker: { invoker_id: "SYSTEM_INVOKER", invoker_role: "INVOKER" },
    operator: { operator_id: "MIRA", input_text: text },
    mode: { kind: "BEAT" },
  });
}

async function makeWorld(id: string, title: string): Promise<void> {
  await ask("POST", "", {
    title,
    world_id: id,
    timezone: "UTC",
    start: "2026-03-01T18:30",
    operator: "MIRA",
    operator_name: "Mira",
    person: ["ANA=Ana", "BEN=Ben"],
    writer: "ollama",
    model: "mira-7b",
    base_url: models.url,
  });
  await ask("PUT", `/${id}/presence`, { present: ["MIRA", "ANA", "BEN"] });
}

async function clean(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, nodes }) => `${id} ${nodes[0]?.html ?? ""}`)).toEqual([]);
}

/** The page never scrolls sideways. */
async function fits(page: Page): Promise<void> {
  const by = await page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");
  expect([page.url(), by]).toEqual([page.url(), 0]);
}

const story = (page: Page) => page.getByTestId("story");

it("makes a world with a writer that was tried, plays in it by keys, lives a beat again, and keeps the other version", async () => {
  const { window, watched, page } = await enterByLink(bench, server, "/worlds");
  await page.getByText("No worlds. Make one, or drop a card").waitFor();
  await clean(page);
  await page.getByRole("link", { name: "New world" }).click();
  await page.getByRole("button", { name: "Make the world" }).click();
  await page.getByText("Say what the story is called.").waitFor();
  await page.getByLabel("Title").fill("The harbour at dusk");
  await page.getByLabel("Who you are in it").fill("Mira");
  await page.getByLabel("Name of person 1").fill("Ana");
  await page.getByRole("button", { name: "Add a person" }).click();
  await page.getByLabel("Name of person 2").fill("Ben");
  await page.getByLabel("Time zone").fill("UTC");
  await page.getByLabel("Time at which it begins").fill("2026-03-01T18:30");
  await page.getByRole("radio", { name: "Ollama" }).check();
  await page.getByRole("combobox", { name: "Model" }).fill("mira-7b");
  await page.getByLabel("Address of the server").fill(models.url);
  // Nobody has a writer that was not seen to answer.
  models.replies.push(answers(line("MIRA", "Good morning.")), '{"no_write":{"reason":"larimbel"}}');
  await page.getByRole("button", { name: "Test the writer" }).click();
  await page.getByText("The writer answers as it should.").waitFor();
  await clean(page);
  await page.getByRole("button", { name: "Make the world" }).click();

  // Nothing is said yet; the first line is typed, and what was committed stands in the story.
  await page.getByText("Nothing has been said yet. The first line is yours.").waitFor();
  const world = /\/worlds\/([^/?]+)/.exec(page.url())![1]!;
  models.replies.push(answers(line("ANA", "You are late.")));
  const field = page.getByRole("textbox", { name: "What you say" });
  await field.fill("Good evening, Ana.");
  await field.press("Enter");
  await story(page).getByText("You are late.").waitFor();
  await story(page).getByText("Good evening, Ana.").waitFor();
  expect(await field.inputValue()).toBe("");
  expect(await page.getByRole("heading", { name: "Ana", level: 3 }).count()).toBe(1);
  // Whoever listens is told the finished line once, and not their own.
  await page.getByRole("status").getByText("Ana: You are late.").waitFor({ state: "attached" });
  await clean(page);
  await page.emulateMedia({ colorScheme: "dark" });
  await clean(page);

  // What was written in the meantime by somebody else appears by itself.
  models.replies.push('{"no_write":{}}');
  await say(world, "r-elsewhere", "A gull cries.");
  await story(page).getByText("A gull cries.").waitFor();

  // By keys: to the line, its menu, its versions.
  await page.locator("[data-row]").last().focus();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("m");
  const menu = page.getByRole("menu", { name: /^Acts on / });
  await menu.waitFor();
  await clean(page);
  await menu.getByRole("menuitem", { name: "Who knows this line" }).press("Enter");
  const knows = page.getByRole("dialog", { name: "Who knows this line" });
  expect(await knows.getByRole("listitem").allTextContents()).toEqual(["Ana", "Ben", "Mira, whom you play"]);
  await clean(page);
  await page.keyboard.press("Escape");
  await knows.waitFor({ state: "detached" });
  await page.locator("[data-row]").filter({ hasText: "You are late." }).focus();
  await page.keyboard.press("m");
  await menu.getByRole("menuitem", { name: "Versions of this beat" }).click();
  const versions = page.getByRole("dialog", { name: "Versions of this beat" });
  await versions.getByTestId("version").first().waitFor();
  models.replies.push(answers(line("ANA", "You came, after all.")));
  await versions.getByRole("button", { name: "Write it once more" }).click();
  await versions.getByText("You came, after all.").waitFor();
  expect(await versions.getByTestId("version").count()).toBe(2);
  await clean(page);
  await versions.getByRole("button", { name: "Keep version 2" }).click();
  await page.waitForURL(/-v[a-z0-9]+/);
  await story(page).getByText("You came, after all.").waitFor();
  expect(await story(page).getByText("You are late.").count()).toBe(0);

  // A line that is changed is changed in a version; the old one keeps its own, and both are sound.
  await page.locator("[data-row]").filter({ hasText: "You came, after all." }).focus();
  await page.keyboard.press("m");
  await menu.getByRole("menuitem", { name: "Change it in another version" }).click();
  const edit = page.getByRole("dialog", { name: "Change this line in another version" });
  await edit.getByLabel("What it says instead").fill("You came. I had stopped looking.");
  await edit.getByRole("button", { name: "Make the version" }).click();
  await story(page).getByText("I had stopped looking.").waitFor();
  await page.getByText("This is another version of the story.").waitFor();
  await page.getByRole("link", { name: "History" }).click();
  await page.getByRole("button", { name: "Verify this world" }).click();
  await page.getByText("Sound: every line is as its record says.").waitFor();
  await clean(page);
  await page.getByRole("link", { name: "Open that one" }).click();
  await story(page).getByText("You came, after all.").waitFor();

  // Corrected: a new line beside the old one.
  await page.locator("[data-row]").filter({ hasText: "Good evening, Ana." }).focus();
  await page.keyboard.press("m");
  await menu.getByRole("menuitem", { name: "Correct it with a new line" }).click();
  const correct = page.getByRole("dialog", { name: "Correct this line" });
  await correct.getByLabel("What is right").fill("Good night, Ana.");
  await page.keyboard.press("Control+Enter");
  await story(page).getByText("Good night, Ana.").waitFor();
  await story(page).getByText("Corrects an earlier line").waitFor();

  // Found by a word, and jumped to.
  await page.getByRole("link", { name: "Search" }).click();
  await page.getByRole("searchbox", { name: "Words to look for" }).fill("evening");
  await page.keyboard.press("Enter");
  await page.getByTestId("found").getByRole("link").click();
  await page.waitForURL(/at=e_/);
  await page.locator("[data-target=true]", { hasText: "Good evening, Ana." }).waitFor();

  // Time is declared after it was seen what that does.
  await page.getByRole("link", { name: "Time" }).click();
  await page.getByLabel("Date and time").fill("2026-03-02T18:30");
  await page.getByRole("button", { name: "See what that does" }).click();
  const declared = page.getByRole("dialog", { name: "Declare a time" });
  await declared.getByText("1 day pass").waitFor();
  await clean(page);
  await declared.getByRole("button", { name: "Let it be that time" }).click();
  await page.locator("header").getByText("2026-03-02 18:30").waitFor();

  // Every beat with what the model was sent, word for word.
  await page.getByRole("link", { name: "Inspector" }).click();
  await page.getByTestId("beat").filter({ hasText: "1 model call" }).last().getByRole("link").click();
  await page.getByText("You write the next moment of an ongoing story.").first().waitFor();
  await clean(page);
  expect(watched.problems).toEqual([]);
  await window.close();
});

it("shows a player its person's story and nothing else: no byte of what is hidden ever reaches the page", async () => {
  await makeWorld("w_quay", "The quay");
  await ask("PUT", "/w_quay/presence", { present: ["MIRA", "ANA"] });
  models.replies.push(answers(line("ANA", "The canary sleeps under the zirkonfeld.")));
  await say("w_quay", "r-1", "Where is it?");
  await ask("PUT", "/w_quay/presence", { present: ["MIRA", "ANA", "BEN"] });
  models.replies.push(answers(line("ANA", "Hello, Ben.")));
  await say("w_quay", "r-2", "Ben comes in.");
  await ask("POST", "/w_quay/pocket/messages", { from: "ANA", text: "Keep zirkonfeld quiet.", visible_to: ["MIRA"] });
  const { token } = await ask("POST", "/w_quay/tokens", { person_id: "BEN", role: "player", label: "for Ben" });

  const window = await bench.window({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const watched = new WatchedPage(await window.newPage(), server.base);
  const { page } = watched;
  const heard: Promise<string>[] = [];
  const refused: string[] = [];
  page.on("response", (response) => {
    if (!response.url().includes("/api/")) return;
    if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`);
    // A stream has no end to wait for; what it brings is read below, from the server itself.
    if (!response.url().includes("/stream")) heard.push(response.text().catch(() => ""));
  });
  await page.goto(`${server.base}/`);
  await page.getByLabel("Token").fill(String(token));
  await page.getByRole("button", { name: "Open" }).click();
  await page.waitForURL(/\/worlds\/w_quay/);
  await story(page).getByText("Hello, Ben.").waitFor();
  // One world and no way to anything else, whatever address is typed.
  expect(await page.getByRole("navigation", { name: "Places" }).count()).toBe(0);
  expect(
    await page.getByRole("navigation", { name: "Parts of this world" }).getByRole("link").allTextContents(),
  ).toEqual(["Story", "Search", "People"]);
  await page.getByText("You speak as Ben").waitFor();
  await clean(page);
  await fits(page);

  await page.getByRole("textbox", { name: "What you say" }).fill("I heard somebody say canary.");
  await page.getByRole("button", { name: "Send" }).click();
  await story(page).getByText("I heard somebody say canary.").waitFor();
  expect(await page.getByRole("heading", { name: "Ben", level: 3 }).count()).toBe(1);
  // Behind its back something is said that Ben may not know, and something that Ben may.
  await ask("PUT", "/w_quay/presence", { present: ["MIRA", "ANA"] });
  models.replies.push(answers(line("ANA", "Zirkonfeld, I said.")));
  await say("w_quay", "r-3", "Once more?");
  await ask("PUT", "/w_quay/presence", { present: ["MIRA", "ANA", "BEN"] });
  models.replies.push(answers(line("ANA", "Back so soon?")));
  await say("w_quay", "r-4", "There he is.");
  await story(page).getByText("Back so soon?").waitFor();
  await page.getByRole("button", { name: "People and pocket" }).click();
  await page.getByRole("dialog").getByText("No messages.").waitFor();
  await clean(page);
  await page.keyboard.press("Escape");
  for (const path of ["/search?q=zirkonfeld", "/people/ANA", "/people"]) {
    await page.goto(`${server.base}/worlds/w_quay${path}`);
    await page.locator("main h2").first().waitFor();
    await fits(page);
  }
  await page.goto(`${server.base}/worlds/w_quay/search?q=zirkonfeld`);
  await page.getByText("No line has these words.").waitFor();
  // What is not for it says so, and shows nothing.
  for (const path of ["/time", "/inspector", "/history", "/settings"]) {
    await page.goto(`${server.base}/worlds/w_quay${path}`);
    await page.locator("main h1").first().waitFor();
    await page
      .locator("main")
      .getByText(/owner's key|The clock|Where it comes from|no right|may not/i)
      .first()
      .waitFor();
  }
  await page.goto(`${server.base}/runs`);
  await page.waitForURL(/\/worlds\/w_quay$/);
  await story(page).getByText("Back so soon?").waitFor();
  const all = (await Promise.all(heard)).join("\n");
  expect(all).toContain("Back so soon?");
  expect(all.toLowerCase()).not.toContain("zirkonfeld");
  expect((await page.content()).toLowerCase()).not.toContain("zirkonfeld");
  expect(refused.filter((one) => /\/(?:tokens|settings|calls|export)/.test(one))).toEqual([]);

  // What is kept of it ends with the session, and the token that was taken back opens nothing more.
  const { tokens } = (await ask("GET", "/w_quay/tokens")) as { tokens: { token_id: string; role: string }[] };
  await ask("DELETE", `/w_quay/tokens/${tokens.find(({ role }) => role === "player")!.token_id}`);
  await page.getByText("This session has ended. What you typed is still here.").waitFor();
  expect(watched.problems).toEqual([]);
  await window.close();
});

it("draws lines that mean harm as text: markup, hidden characters, a family of emoji, and the longest line there is", async () => {
  await makeWorld("w_harm", "Harm <b>is</b> \u202etext");
  const nasty =
    '<img src=x onerror="document.title=1"><script>alert(1)</script> \u202eevil\u202c\u200b &amp; javascript:alert(1)';
  const family = "👨‍👩‍👧 می‌خواهم";
  models.replies.push(
    answers(line("ANA", nasty)),
    answers(line("ANA", family)),
    answers(line("BEN", "w".repeat(60_000))),
  );
  await say("w_harm", "r-1", nasty);
  await say("w_harm", "r-2", "one");
  await say("w_harm", "r-3", "two");
  models.replies.push(answers(line("ANA", "The last one.")));
  await say("w_harm", "r-4", "a \u202e turn");
  const { window, watched, page } = await enter(bench, server, "/worlds");
  await page.getByRole("link", { name: /Harm/ }).waitFor();
  await fits(page);
  await page.getByRole("link", { name: /Harm/ }).click();
  await story(page).getByText("The last one.").waitFor();
  expect(await page.locator("main b, main img, main script").count()).toBe(0);
  // A turn of direction is drawn as what it is.
  await story(page).locator("[data-char='8238']").first().waitFor();
  for (const width of [320, 390, 820, 1280]) {
    await page.setViewportSize({ width, height: 700 });
    await fits(page);
  }
  await page.locator("[data-row]").last().focus();
  await page.keyboard.press("Home");
  await story(page).getByText('<img src=x onerror="document.title=1">').first().waitFor();
  expect(await story(page).locator("[data-char='8203']").count()).toBeGreaterThan(0);
  for (let step = 0; step < 3; step++) await page.keyboard.press("ArrowDown");
  const joined = page.locator("[data-row]").filter({ hasText: "خواهم" });
  await joined.waitFor();
  expect(await joined.locator("p bdi").textContent()).toBe(family);
  expect(await joined.locator("[data-char]").count()).toBe(0);
  await clean(page);
  expect(watched.problems).toEqual([]);
  await window.close();
});

it("counts a beat once when the server goes away in the middle of it, keeps what is typed, and says what is refused", async () => {
  await makeWorld("w_storm", "The storm");
  const { window, watched, page } = await enter(bench, server, "/worlds/w_storm");
  const field = page.getByRole("textbox", { name: "What you say" });
  await field.waitFor();
  models.replies.push({ hang: true });
  await field.fill("The wind rises.");
  await field.press("Enter");
  await page.getByTestId("status").getByText("The writer is at work").waitFor();
  await field.fill("A draft that nobody sent.");
  const { port } = new URL(server.base);
  await server.stop("SIGKILL");
  await page.getByTestId("unsent").getByText("The server has not answered.").waitFor();
  await page.getByText("does not answer. What you see is from").first().waitFor();
  models.replies.push(answers(line("BEN", "Hold the rope.")));
  server = await bench.serve(Number(port));
  // Another server knows no session; with the key the same words are sent on.
  await page.getByLabel("Token").fill(server.token);
  await page.getByRole("button", { name: "Open" }).click();
  await story(page).getByText("Hold the rope.").waitFor();
  await page.getByTestId("unsent").waitFor({ state: "detached" });
  expect(await field.inputValue()).toBe("A draft that nobody sent.");
  const { entries } = (await ask("GET", "/w_storm/projection?limit=50")) as { entries: { text: string }[] };
  expect(entries.map(({ text }) => text)).toEqual(["The wind rises.", "Hold the rope."]);
  await page.reload();
  await story(page).getByText("Hold the rope.").waitFor();
  expect(await field.inputValue()).toBe("A draft that nobody sent.");

  // What the server refuses comes back to whoever wrote it.
  await field.fill("x".repeat(66_000));
  await page.getByText("A line holds at most 65,536 bytes.").waitFor();
  await field.fill("Nobody hears this.");
  await ask("PATCH", "/w_storm/settings", { operator_name: "Somebody" });
  models.replies.push({ status: 401 });
  await field.press("Enter");
  await page.getByTestId("status").getByText("Your line was kept. The provider does not accept the key.").waitFor();
  // A world that is not there, in words.
  await page.goto(`${server.base}/worlds/w_nowhere`);
  await page.getByRole("alert").getByText("There is no such world.").waitFor();
  await clean(page);
  expect(watched.problems).toEqual([]);
  await window.close();
});

it("shows exactly what a file would write before it becomes a world", async () => {
  const { window, watched, page } = await enter(bench, server, "/worlds");
  const card = {
    name: "Kai",
    description: "A pilot of the <north> quay.",
    first_mes: "Mind the rope, {{user}}.",
    personality: "",
    scenario: "",
    mes_example: "",
  };
  await page.getByTestId("world-file").setInputFiles({
    name: "kai.json",
    mimeType: "application/json",
    buffer: Buffer.from(JSON.stringify(card)),
  });
  const dialog = page.getByRole("dialog", { name: "What kai.json would write" });
  await dialog.getByText("A pilot of the <north> quay.").waitFor();
  await clean(page);
  await dialog.getByRole("button", { name: "Make a world of it" }).click();
  await page.waitForURL(/\/worlds\/w_/);
  await story(page).getByText("Mind the rope, ").waitFor();
  await page.goto(`${server.base}/worlds`);
  await page.getByTestId("world-file").setInputFiles({
    name: "notes.txt",
    mimeType: "text/plain",
    buffer: Buffer.from("nothing of the kind"),
  });
  await page.getByRole("alert").getByText("IMPORT_FORMAT_UNKNOWN").waitFor();
  await clean(page);
  expect(watched.problems).toEqual([]);
  await window.close();
});
