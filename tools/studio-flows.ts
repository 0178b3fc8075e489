// The flows that the Studio is judged by, with the keyboard and in a real browser, on a repository made for it: what each took,
// and what it may take. `--shots DIR` takes pictures of every screen, light and dark, in three widths; `--pictures` makes those
// of the documents.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Page } from "playwright-core";
import { ROOT } from "./stages.ts";
import { Harbour } from "./studio/harbour.ts";

const { values } = parseArgs({
  options: { shots: { type: "string" }, pictures: { type: "boolean", default: false } },
});

interface Flow {
  readonly name: string;
  readonly took: string;
  readonly limit: string;
  readonly ok: boolean;
}

const flows: Flow[] = [];
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

/** Keys that move are not counted; those that decide are. */
class Keys {
  readonly #page: Page;
  decided = 0;

  constructor(page: Page) {
    this.#page = page;
  }

  async move(key: string): Promise<void> {
    await this.#page.keyboard.press(key);
  }

  async decide(key: string): Promise<void> {
    this.decided++;
    await this.#page.keyboard.press(key);
  }
}

const verdict = "[data-testid=verdict]";

async function landIt(harbour: Harbour, run: string, page: Page): Promise<void> {
  const link = new URL(await harbour.serve());
  const begun = Date.now();
  await page.goto(`${link.origin}/runs/${run}${link.hash}`);
  await page.locator(verdict, { hasText: "Ready to land: 5 files" }).waitFor();
  await page.locator("[role=grid] [data-type=hunk]").first().waitFor();
  await page.getByLabel("Take this hunk").first().waitFor();
  const keys = new Keys(page);
  const chosen = (n: number) => page.locator("[data-chosen=true][data-type=hunk]").nth(n);
  await keys.move("j");
  await chosen(0).waitFor();
  await keys.decide("x");
  await page.getByRole("button", { name: /^Verify this choice \(/ }).waitFor();
  await keys.move("n");
  await page.locator("[data-chosen=true][data-type=file]").waitFor();
  await keys.decide("x");
  await keys.decide("a");
  await page.getByTestId("choice-verdict").getByText("Your choice passes.").waitFor();
  await keys.decide("a");
  await page.getByRole("dialog").getByText("change in your working tree").waitFor();
  await keys.decide("Control+Enter");
  await page.locator(verdict, { hasText: "Landed" }).waitFor();
  const took = Date.now() - begun;
  flows.push({
    name: "land it: link, hunks dropped, choice verified, applied",
    took: `${seconds(took)}, ${keys.decided} keys besides moving`,
    limit: "60 s, 8 keys",
    ok: took < 60_000 && keys.decided <= 8,
  });
}

/** When each change of phase was committed, by the ledger, and when the page showed it. */
async function watch(harbour: Harbour, page: Page): Promise<string> {
  await page.goto(`${harbour.base}/settings/agents`);
  for (const name of ["keeper", "slow"]) {
    const item = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name }) });
    await item.getByRole("button").first().click();
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Control+Enter");
    await item.getByText("allowed on this machine", { exact: true }).waitFor();
  }
  await page.goto(`${harbour.base}/runs/new?command=slow&goal=Light%20all%20the%20lamps`);
  await page.getByRole("radio", { name: /slow/ }).waitFor();
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.waitForURL(/\/live/);
  const run = /\/runs\/([^/]+)/.exec(page.url())![1]!;
  await page
    .getByTestId("terminal")
    .getByText(/lamp \d+ of 900/)
    .first()
    .waitFor();
  await page.goto(`${harbour.base}/`);
  const fleet = page.getByRole("region", { name: "At work" });
  await fleet.getByText(/lamp \d+ of 900/).waitFor();
  await fleet.getByText("1 file touched").waitFor();
  await page.evaluate(`window.seen = []; (() => {
    let last = "";
    new MutationObserver(() => {
      const words = document.querySelector("main section[aria-label='At work'] li")?.textContent.match(/^(preparing|working|capturing|judging|verifying)/)?.[1] ?? "gone";
      if (words !== last) window.seen.push([last = words, Date.now()]);
    }).observe(document.body, { childList: true, subtree: true, characterData: true });
  })()`);
  await fleet.getByRole("button", { name: /^Stop/ }).click();
  await page.getByRole("region", { name: "At work" }).waitFor({ state: "detached" });
  const seen = await page.evaluate<[string, number][]>("window.seen");
  const report = JSON.parse(harbour.verbatim("agent", "show", run, "--json")) as {
    readonly timeline: readonly { readonly state: string | null; readonly at: string }[];
  };
  const gone = report.timeline.findLast(({ state }) => state === "interrupted");
  const shown = seen.findLast(([word]) => word === "gone");
  const took = gone === undefined || shown === undefined ? Number.NaN : shown[1] - Date.parse(gone.at);
  flows.push({
    name: "watch: started in the page, stopped in the fleet; its end on the screen after it was committed",
    took: `${took} ms`,
    limit: "500 ms",
    ok: took <= 500,
  });
  return run;
}

async function trust(harbour: Harbour, run: string, page: Page): Promise<void> {
  await page.goto(`${harbour.base}/runs/${run}/review`);
  await page.locator(verdict).waitFor();
  let clicks = 0;
  const press = async (name: RegExp | string) => {
    clicks++;
    await page.getByRole("link", { name }).or(page.getByRole("button", { name })).first().click();
  };
  const begun = Date.now();
  await press("Proof");
  await page.locator("main details").first().waitFor();
  await press("Show the bytes");
  await page.getByText("Same hash, computed in this page").first().waitFor();
  const sentences = await page.locator("main ul > li[id^=part-]").count();
  flows.push({
    name: "why may I trust this: from a sentence to its bytes, hashed in the page",
    took: `${clicks} clicks, ${seconds(Date.now() - begun)}, ${sentences} sentences`,
    limit: "3 clicks",
    ok: clicks <= 3,
  });
}

/** An evening in a world: made in the page, played by keys, lived again, and read by somebody else on a phone. */
async function play(harbour: Harbour, page: Page): Promise<string> {
  await page.goto(`${harbour.base}/worlds/new`);
  const begun = Date.now();
  await page.getByLabel("Title").fill("The harbour at dusk");
  await page.getByLabel("Who you are in it").fill("Mira");
  await page.getByLabel("Name of person 1").fill("Ana");
  await page.getByLabel("Time zone").fill("UTC");
  await page.getByLabel("Time at which it begins").fill("2026-03-01T18:30");
  await page.getByRole("button", { name: "Make the world" }).click();
  const field = page.getByRole("textbox", { name: "What you say" });
  await field.waitFor();
  const world = /\/worlds\/([^/?]+)/.exec(page.url())![1]!;
  const story = page.getByTestId("story");
  for (const line of ["The lamp is lit early tonight.", "Is there still a boat?", "Then I will wait for the lamp."]) {
    await field.fill(line);
    await field.press("Enter");
    await story.getByText(line, { exact: true }).waitFor();
    await page.getByTestId("status").getByText("Scripted writer").waitFor();
  }
  // Somebody who reads along has a token of their own.
  await page.getByRole("link", { name: "Settings" }).last().click();
  await page.getByRole("button", { name: "Make a token" }).click();
  const token = (await page.getByTestId("token").textContent()) ?? "";
  const phone = await harbour.window({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const other = await harbour.page(phone);
  await other.goto(`${harbour.base}/`);
  await other.getByLabel("Token").fill(token);
  await other.getByRole("button", { name: "Open" }).click();
  await other.getByTestId("story").getByText("Is there still a boat?").first().waitFor();
  await page.getByRole("link", { name: "Story", exact: true }).click();
  await field.fill("Good night, Ana.");
  const sent = Date.now();
  await field.press("Enter");
  await other.getByTestId("story").getByText("Good night, Ana.", { exact: true }).waitFor();
  const there = Date.now() - sent;
  await phone.close();
  await page.getByRole("link", { name: "Search", exact: true }).click();
  await page.getByRole("searchbox", { name: "Words to look for" }).fill("boat");
  await page.keyboard.press("Enter");
  await page.getByTestId("found").first().getByRole("link").click();
  await page.locator("[data-target=true]").waitFor();
  const took = Date.now() - begun;
  // Opened anew: where somebody left off, and ready to write.
  const opened = Date.now();
  await page.goto(`${harbour.base}/worlds/${world}`);
  await field.waitFor();
  await page.keyboard.press("i");
  await page.locator("textarea:focus").waitFor();
  const ready = Date.now() - opened;
  flows.push({
    name: "an evening of play: a world made, four lines, a reader on a phone, a word found, the composer focused",
    took: `${seconds(took)}; a line on the phone after ${there} ms; composer after ${ready} ms`,
    limit: "60 s, 1000 ms, 1000 ms",
    ok: took < 60_000 && there < 1000 && ready < 1000,
  });
  return world;
}

/** Every screen with something on it, by its name. */
function screensOf(
  runs: Readonly<Record<"landed" | "ready" | "refused" | "again" | "other" | "slow" | "world", string>>,
) {
  return [
    ["home", "/", "main section ul li"],
    ["runs", "/runs", "main [role=listitem]"],
    ["start", "/runs/new?command=keeper&goal=Light%20the%20lamp%20at%20dusk", "[data-testid=will-run]"],
    ["review", `/runs/${runs.ready}/review`, "[role=grid] [data-type=line]"],
    ["refused", `/runs/${runs.refused}/review`, "[role=grid] [data-type=line]"],
    ["comment", `/runs/${runs.again}/review`, "[role=grid] article"],
    ["send", `/runs/${runs.again}/review?do=continue`, "[data-testid=told]"],
    ["apply", `/runs/${runs.ready}/review?do=apply`, "[role=dialog] ul li"],
    ["live", `/runs/${runs.slow}/live`, "[data-testid=terminal] bdi"],
    ["proof", `/runs/${runs.ready}/proof`, "main details"],
    ["verify", `/runs/${runs.ready}/verify`, "main section"],
    ["report", `/runs/${runs.ready}/report`, "main article pre"],
    ["timeline", `/runs/${runs.ready}/timeline`, "main ol li"],
    ["compare", `/runs/compare?ids=${runs.ready},${runs.other}&file=src/lamp.ts`, "table td[data-kind]"],
    ["ledger", "/ledger", "main li"],
    ["context", "/context", "main section"],
    ["jobs", "/jobs", "main h1"],
    ["bundles", "/bundles", "main h1"],
    ["worlds", "/worlds", "main ul li"],
    ["new-world", "/worlds/new", "main form"],
    ["story", `/worlds/${runs.world}`, "[data-row]"],
    ["world-search", `/worlds/${runs.world}/search?q=lamp`, "[data-testid=found]"],
    ["world-people", `/worlds/${runs.world}/people`, "main section li"],
    ["world-time", `/worlds/${runs.world}/time`, "main form"],
    ["world-inspector", `/worlds/${runs.world}/inspector`, "[data-testid=beat]"],
    ["world-history", `/worlds/${runs.world}/history`, "main section"],
    ["world-settings", `/worlds/${runs.world}/settings`, "main form"],
    ["agents", "/settings/agents", "main dl"],
    ["appearance", "/settings/appearance", "main fieldset"],
    ["access", "/settings/access", "main ul li"],
    ["doctor", "/settings/doctor", "main ul li"],
    ["find", "/?do=find", "[role=dialog]"],
    ["keys", "/?do=keys", "[role=dialog]"],
  ] as const;
}

const WIDTHS = { desktop: [1280, 860], tablet: [820, 1100], phone: [390, 844] } as const;
const PICTURES: readonly (readonly [name: string, screen: string, width: keyof typeof WIDTHS, "light" | "dark"])[] = [
  ["studio-home-dark", "home", "desktop", "dark"],
  ["studio-run", "comment", "desktop", "light"],
  ["studio-proof", "proof", "desktop", "light"],
  ["studio-send", "send", "desktop", "light"],
  ["studio-compare", "compare", "desktop", "dark"],
  ["studio-phone-dark", "review", "phone", "dark"],
];

async function takePictures(harbour: Harbour, page: Page, runs: Parameters<typeof screensOf>[0]): Promise<void> {
  const session = await page.evaluate<string>('sessionStorage.getItem("session")');
  const screens = screensOf(runs);
  const wanted =
    values.shots === undefined
      ? PICTURES
      : screens.flatMap(([screen]) =>
          (Object.keys(WIDTHS) as (keyof typeof WIDTHS)[]).flatMap((width) =>
            (["light", "dark"] as const).map((theme) => [`${screen}-${width}-${theme}`, screen, width, theme] as const),
          ),
        );
  const folder = values.shots ?? join(ROOT, "docs/images");
  mkdirSync(folder, { recursive: true });
  for (const width of Object.keys(WIDTHS) as (keyof typeof WIDTHS)[]) {
    for (const theme of ["light", "dark"] as const) {
      const those = wanted.filter(([, , of, how]) => of === width && how === theme);
      if (those.length === 0) continue;
      const [columns, rows] = WIDTHS[width];
      const window = await harbour.window({
        viewport: { width: columns, height: rows },
        colorScheme: theme,
        hasTouch: width === "phone",
        isMobile: width === "phone",
      });
      await window.addInitScript(`sessionStorage.setItem("session", ${JSON.stringify(session)})`);
      const shot = await harbour.page(window);
      for (const [name, screen] of those) {
        const [, path, ready] = screens.find(([one]) => one === screen)!;
        await shot.goto(harbour.base + path);
        await shot.locator(ready).first().waitFor();
        // Colours of the diff come a moment later, from a worker; a picture may wait for them.
        await shot.waitForTimeout(900);
        await shot.screenshot({ path: join(folder, `${name}.png`) });
      }
      await window.close();
    }
  }
}

const harbour = new Harbour();
try {
  const landed = harbour.honest("Light the lamp, and say when the tide is high");
  const window = await harbour.window();
  const page = await harbour.page(window);
  await landIt(harbour, landed, page);
  await trust(harbour, landed, page);
  harbour.git("add", "-A");
  harbour.git("commit", "-qm", "the lamp");
  harbour.git("revert", "--no-edit", "HEAD");
  await watch(harbour, page);
  const world = await play(harbour, page);
  if (values.pictures || values.shots !== undefined) {
    const ready = harbour.honest("Light the lamp at dusk, and say when the tide is high");
    const other = harbour.run(
      "Light the lamp at dusk, and say when the tide is high",
      "sed -i 's/lit: false/lit: true/' src/lamp.ts; sed -i 's/name: string/name: string; readonly at: number/' src/lamp.ts",
    );
    const refused = harbour.run("Tidy the deployment", "echo 'exit 1' >> infra/deploy.sh", "--deny", "infra");
    harbour.run("Trim the wick", "sed -i 's/height > 2/height > 3/' src/tide.ts");
    const again = harbour.honest("Light every lamp of the harbour");
    await page.goto(`${harbour.base}/runs/${again}/review`);
    await page.locator("[role=grid] [data-type=hunk]").first().waitFor();
    // A comment below the new function, and the index for the context.
    await page.goto(`${harbour.base}/runs/${again}/review?file=src/keeper.ts&line=5`);
    await page.locator("[data-chosen=true][data-type=line]").waitFor();
    await page.keyboard.press("c");
    await page.getByRole("textbox", { name: "Comment on line 5" }).fill("Leave out the lamps that are lit already.");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("article").first().waitFor();
    harbour.verbatim("index", "build");
    await page.goto(`${harbour.base}/runs/new?command=slow&goal=Light%20all%20the%20lamps%20of%20the%20north%20quay`);
    await page.getByRole("radio", { name: /slow/ }).waitFor();
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.waitForURL(/\/live/);
    const slow = /\/runs\/([^/]+)/.exec(page.url())![1]!;
    await takePictures(harbour, page, { landed, ready, refused, again, other, slow, world });
    harbour.verbatim("agent", "stop", slow, "--kill");
    harbour.verbatim("agent", "wait", slow);
  }
} catch (thrown) {
  // What was on the screen when it went wrong says more than the name of what was waited for.
  if (values.shots !== undefined) await harbour.lastLook(join(values.shots, "went-wrong.png"));
  throw thrown;
} finally {
  await harbour.close();
}
const wide = Math.max(...flows.map(({ name }) => name.length));
for (const { name, took, limit, ok } of flows)
  console.log(`${ok ? "ok  " : "MISS"} ${name.padEnd(wide)}  ${took}  (limit ${limit})`);
if (flows.some(({ ok }) => !ok)) process.exitCode = 1;
