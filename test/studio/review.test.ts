// The flow that the Studio is judged by: a person reads a finished run and decides, in a real browser, over real runs.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { unzipSync } from "fflate";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { enter, goByKeys, StudioBench, type StudioServer, WatchedPage } from "../support/studio.ts";
import { travel } from "../support/studio-answers.ts";

const CLOCK = `const HOUR = 3_600_000;

export function hourOf(at) {
  return (at / HOUR) % 24;
}

export function isNight(at) {
  const hour = hourOf(at);
  return hour < 6 || hour > 21;
}

export function add(at, hours) {
  return at + hours * HOUR;
}
`;
const MENDED = CLOCK.replace("(at / HOUR) % 24", "Math.floor(at / HOUR) % 24");
const TIDE = "export const HIGH = [3, 15];\n";

/** Everything that a reader must see and a browser must not obey. */
const HOSTILE = [
  "printf 'a\\342\\200\\256b <img src=x onerror=alert(1)>\\n' > 'src/<script>.txt'",
  "printf 'x\\000y' > src/bytes.bin",
  "printf '\\033]0;owned\\007\\033[31mred\\033[0m \\033]8;;http://evil.example\\007link\\033]8;;\\007\\n'",
].join("\n");

const bench = new StudioBench();
let server: StudioServer;
const runs: Record<string, string> = {};

beforeAll(async () => {
  bench.write("src/clock.mjs", CLOCK);
  bench.write("infra/deploy.yml", "port: 80\n");
  bench.write("check.mjs", "console.log('at src/clock.mjs:13 and xsrc/clock.mjs:2'); process.exit(1);\n");
  bench.git("add", "-A");
  bench.git("commit", "-qm", "first");
  const mend = "sed -i 's|(at / HOUR) % 24|Math.floor(at / HOUR) % 24|' src/clock.mjs; echo mending";
  const tide = "echo 'export const HIGH = [3, 15];' > src/tide.mjs";
  const check = ["--verify", "grep -q floor src/clock.mjs"];
  runs["land"] = await bench.run("Make hourOf whole", `${mend}; ${tide}`, ...check);
  runs["phone"] = await bench.run("Say when the tide is high", tide, "--verify", "test -e src/tide.mjs");
  runs["failed"] = await bench.run("Make nothing whole", "echo '// x' >> src/clock.mjs", ...check);
  runs["rejected"] = await bench.run(
    "Tidy the deployment",
    "echo x >> infra/deploy.yml",
    "--no-verify",
    "--deny",
    "infra",
  );
  runs["hostile"] = await bench.run("A goal <b>with</b> markup", HOSTILE, "--no-verify");
  const indent = "sed -i 's|  return at + hours|    return at + hours|' src/clock.mjs";
  const fail = ["--verify", "node check.mjs"];
  runs["space"] = await bench.run("Indent one line", indent, ...fail);
  runs["nothing"] = await bench.run("Look around", "ls", "--no-verify");
  server = await bench.serve();
});

afterAll(async () => {
  await server?.stop();
  await bench.close();
});

const verdict = "[data-testid=verdict]";

describe("a finished run", () => {
  it("lands by the keyboard alone from the link of the terminal, and is undone byte for byte", async () => {
    const window = await bench.window();
    const watched = new WatchedPage(await window.newPage(), server.base);
    const { page } = watched;
    await page.goto(server.link);
    await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
    expect(page.url()).toBe(`${server.base}/`);
    await goByKeys(page, "r", "[type=search]");
    await page.getByRole("link", { name: /Make hourOf whole/ }).waitFor();
    await page.getByRole("link", { name: /Make hourOf whole/ }).press("Enter");
    const says = page.locator(verdict);
    await says.waitFor();
    expect(await says.textContent()).toBe(
      "Ready to land: 2 files, +2 -1. Your check passes. Your files are untouched.",
    );
    // The first hunk, then the next file: both are in the address, so that a link leads there.
    await page.getByRole("row", { name: /added, line 4: +return Math.floor/ }).waitFor();
    await page.keyboard.press("j");
    await page.waitForURL(/hunk=h_[0-9a-f]{12}/);
    await page.keyboard.press("n");
    await page.waitForURL(/file=src%2Ftide.mjs/);
    await page.keyboard.press("a");
    await page.getByRole("dialog").getByText("2 files change in your working tree. Nothing is committed.").waitFor();
    expect(await page.getByRole("dialog").getByText("as verified").count()).toBe(2);
    expect(page.url()).toContain("do=apply");
    await page.keyboard.press("Control+Enter");
    await page.locator(verdict, { hasText: /^Landed at \d\d:\d\d: 2 files/ }).waitFor();
    expect(bench.read("src/clock.mjs")).toBe(MENDED);
    expect(bench.read("src/tide.mjs")).toBe(TIDE);
    // The question leaves the address as soon as the answer is there.
    await page.waitForURL((url) => !url.searchParams.has("do"));

    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("dialog").getByText("2 files go back to what they were").waitFor();
    await page.keyboard.press("Control+Enter");
    await page.locator(verdict, { hasText: "Undone. Your files are as they were" }).waitFor();
    expect(bench.read("src/clock.mjs")).toBe(CLOCK);
    expect(bench.git("status", "--porcelain")).not.toContain("src/tide.mjs");
    expect(watched.problems).toEqual([]);
    await window.close();
  });

  it("lands on a phone by touch, with the change in one column", async () => {
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    const { window, watched, page } = await enter(bench, server, `/runs/${runs["phone"]}`, phone);
    await page.locator(verdict, { hasText: "Ready to land: 1 file, +1 -0." }).waitFor();
    await page.getByRole("row", { name: /added, line 1: export const HIGH/ }).waitFor();
    expect(await page.getByRole("radio", { name: "Split" }).count()).toBe(0);
    await page.getByRole("button", { name: "Apply 1 file" }).tap();
    await page.getByRole("dialog").getByRole("button", { name: "Apply 1 file" }).tap();
    await page.locator(verdict, { hasText: "Landed" }).waitFor();
    expect(bench.read("src/tide.mjs")).toBe(TIDE);
    // Nothing is wider than the screen.
    expect(
      await page.locator("html").evaluate((html) => (html as unknown as { scrollWidth: number }).scrollWidth),
    ).toBe(390);
    expect(watched.problems).toEqual([]);
    await window.close();
  });

  it.each([
    [
      "failed",
      /^Does not pass: .*grep -q floor src\/clock\.mjs/,
      ["Apply 1 file", "Let the agent go on", "Verify again", "Discard this run"],
      "It can be applied once its checks pass.",
    ],
    [
      "rejected",
      /^Cannot land: it changes infra\/deploy\.yml, which this run may not touch\.$/,
      ["Apply 1 file", "Let the agent go on", "Verify again", "Discard this run"],
      "It cannot be applied as long as the gates refuse it.",
    ],
    ["nothing", /^The agent changed nothing\.$/, ["Let the agent go on"], null],
  ])("that is %s says so first, offers only what can be done, and why it cannot be applied", async (...row) => {
    const [name, sentence, acts, whyNot] = row;
    const { window, watched, page } = await enter(bench, server, `/runs/${runs[name]}`);
    const says = page.locator(verdict);
    await says.waitFor();
    expect(await says.textContent()).toMatch(sentence);
    const bar = page.locator("section", { has: says });
    expect(await bar.getByRole("button").allTextContents()).toEqual(acts);
    if (whyNot !== null) {
      expect(await bar.getByRole("button", { name: "Apply 1 file" }).isDisabled()).toBe(true);
      await bar.getByText(whyNot).waitFor();
      await page.keyboard.press("a");
      expect(await page.getByRole("dialog").count()).toBe(0);
    }
    expect(watched.problems).toEqual([]);
    await window.close();
  });

  it("asks before it discards, says what that means, and stays on Escape", async () => {
    const { window, watched, page } = await enter(bench, server, `/runs/${runs["rejected"]}`);
    await page.getByRole("button", { name: "Discard this run" }).click();
    await page.getByRole("dialog").getByText("Its change can never be applied.").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.locator(verdict, { hasText: "Cannot land" }).waitFor();
    // Back closes a dialog as well, because it is part of the address.
    await page.keyboard.press("d");
    await page.getByRole("dialog").waitFor();
    await page.goBack();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("d");
    await page.getByRole("dialog").getByRole("button", { name: "Discard this run" }).click();
    await page.locator(verdict, { hasText: "Discarded. Nothing of it can land" }).waitFor();
    expect(watched.problems).toEqual([]);
    await window.close();
  });

  it("shows its proof down to bytes whose hash is computed in the page", async () => {
    const { window, watched, page } = await enter(bench, server, `/runs/${runs["failed"]}/proof`);
    const change = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "The change" }) });
    const patch = change.getByRole("listitem").filter({ hasText: "The change as a patch" });
    await patch.getByRole("button", { name: "Show the bytes" }).click();
    await patch.getByText("Same hash, computed in this page").waitFor();
    expect(await patch.locator("pre").textContent()).toContain("+// x\n");
    await page.getByRole("button", { name: "Verify now" }).click();
    await page
      .getByRole("status")
      .filter({ hasText: "Accepted: the record was computed again" })
      .getByText("Nobody signed it.")
      .waitFor();
    // The whole record as one file, with the bytes that are shown.
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download the record" }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe(`${runs["failed"]}.zip`);
    const files = unzipSync(readFileSync(await download.path()));
    const inside = Object.keys(files).map((path) => path.replace(`${runs["failed"]}/`, ""));
    for (const path of ["RUN.json", "agent/attempts/01/attempt.json", "proof/1/PROOF.json"])
      expect(inside).toContain(path);
    expect(inside.filter((path) => /supervisor|layers|home\//.test(path))).toEqual([]);
    const [name] = inside.filter((path) => path.endsWith("diff.patch"));
    const bytes = Buffer.from(files[`${runs["failed"]}/${name}`]!).toString();
    expect(bytes).toBe(await patch.locator("pre").textContent());
    await page.getByRole("link", { name: "Timeline" }).click();
    await page
      .getByText(/ledger entry \d+/)
      .first()
      .waitFor();
    await page.getByRole("link", { name: "Verify" }).click();
    await page.getByText("ended with 1").waitFor();
    expect(watched.problems).toEqual([]);
    await window.close();
  });

  it("has its checks beside the change and its record as documents, each with an address", async () => {
    const { window, watched, page } = await enter(bench, server, `/runs/${runs["rejected"]}`);
    await page.getByRole("row", { name: /added/ }).first().waitFor();
    // Where there is no room for a third column it is a sheet, which Back closes.
    await page.getByRole("button", { name: "Checks", exact: true }).click();
    const sheet = page.getByRole("dialog", { name: "Checks of this run" });
    await sheet.getByRole("link", { name: "Gates" }).click();
    await sheet.getByText("it changes infra/deploy.yml, which this run may not touch").waitFor();
    await sheet.getByRole("link", { name: "Network and secrets" }).click();
    await sheet.getByText("It could use the network; what it sent is not recorded.").waitFor();
    await sheet.getByText("The gates found no secret in what was added.").waitFor();
    await sheet.getByRole("link", { name: "Hooks" }).click();
    await sheet.getByText("It reported no action.").waitFor();
    expect(page.url()).toContain("panel=hooks");
    await page.goBack();
    await sheet.waitFor({ state: "detached" });
    await page.keyboard.press("o");
    await sheet.getByRole("heading", { name: "Your tree" }).waitFor();
    await page.keyboard.press("Escape");
    await page.setViewportSize({ width: 1600, height: 860 });
    const beside = page.getByRole("complementary", { name: "What this rests on" });
    await beside.getByRole("link", { name: "Gates" }).click();
    await beside.getByRole("link", { name: "infra/deploy.yml" }).click();
    await page.waitForURL(/file=infra%2Fdeploy\.yml/);
    // The record: a list, a document with its hash and a part of it by address, and no other file.
    await page.getByRole("link", { name: "Record", exact: true }).click();
    await page.getByRole("link", { name: "agent/candidates/01/diff.patch" }).click();
    const kept = page.getByRole("article");
    const bytes = (await kept.locator("pre").textContent())!;
    expect(bytes).toContain("+x\n");
    await kept.getByText(createHash("sha256").update(bytes).digest("hex")).waitFor();
    await page.goto(`${server.base}/runs/${runs["rejected"]}/files/agent/candidates/01/diff.patch?at=11`);
    await kept.getByText(`Bytes 11 to ${bytes.length} of ${bytes.length}`).waitFor();
    expect(await kept.locator("pre").textContent()).toBe(bytes.slice(11));
    await travel(page, `/runs/${runs["rejected"]}/files/agent/run.lock`, "main article p");
    await page.getByText("The record of this run has no such file.").waitFor();
    // A link to a line of a file of the change leads into the change.
    await page.goto(`${server.base}/runs/${runs["rejected"]}/files/infra/deploy.yml?line=2`);
    await page.locator("[data-chosen=true][data-type=line]").waitFor();
    expect(page.url()).toMatch(/review\?file=infra%2Fdeploy\.yml&line=2$/);
    expect(watched.problems).toEqual([]);
    await window.close();
  });

  it("is a report on paper: the verdict, sentences with hashes, findings and lines with their signs, and nothing to press", async () => {
    const { window, watched, page } = await enter(bench, server, `/runs/${runs["space"]}/report`);
    await page.getByRole("heading", { name: "src/clock.mjs" }).waitFor();
    await page.emulateMedia({ media: "print" });
    const printed = await page.locator("body").innerText();
    for (const words of [
      "Does not pass:",
      "The gates found nothing to refuse.",
      "-  return at + hours",
      "+    return at + hours",
    ])
      expect(printed).toContain(words);
    expect(printed).toMatch(/[0-9a-f]{64}/);
    expect(await page.getByRole("button").filter({ visible: true }).count()).toBe(0);
    expect(await page.getByRole("navigation").filter({ visible: true }).count()).toBe(0);
    const colours = await page.evaluate<string[]>(
      "[...new Set([...document.querySelectorAll('main pre, main pre span')].map((part) => getComputedStyle(part).color))]",
    );
    expect(colours).toHaveLength(1);
    expect((await page.pdf({ format: "A4" })).subarray(0, 5).toString()).toBe("%PDF-");
    expect(watched.problems).toEqual([]);
    await window.close();
  });

  it("leads from what the gates and the checks said to the line, and gives each line an address of its own", async () => {
    const { window, watched, page } = await enter(bench, server, `/runs/${runs["rejected"]}/verify`);
    await page.getByRole("link", { name: "infra/deploy.yml" }).click();
    await page.waitForURL(/review\?file=infra%2Fdeploy\.yml$/);
    await travel(page, `/runs/${runs["space"]}/verify`, "[role=log]");
    // Only a whole name is one.
    const printed = page.getByRole("log", { name: "What the checks printed", exact: true });
    await printed.getByRole("link").first().waitFor();
    expect(await printed.getByRole("link").allTextContents()).toEqual(["src/clock.mjs:13"]);
    await printed.getByRole("link").click();
    await page.waitForURL(/file=src%2Fclock\.mjs&line=13/);
    const line = page.getByRole("row", { name: /added, line 13: +return at \+ hours/ });
    await line.and(page.locator("[data-chosen=true]")).waitFor();
    // Another line by a press on its number, and what was only whitespace is folded away and back.
    await page.locator("[data-type=line] [data-n='12']").last().click();
    await page.waitForURL(/line=12/);
    await page.getByLabel("Fold whitespace").check();
    await page.waitForURL(/ws=hide/);
    await page.getByText("Only whitespace changes").waitFor();
    expect(await line.count()).toBe(0);
    await page.keyboard.press("Escape");
    await page.keyboard.press("w");
    await line.waitFor();
    expect(page.url()).not.toContain("ws=");
    expect(watched.problems).toEqual([]);
    await window.close();
  });

  it("copies lines as they are in the file, and reads out the end of what was printed", async () => {
    const { window, watched, page } = await enter(bench, server, `/runs/${runs["hostile"]}`);
    await window.grantPermissions(["clipboard-read", "clipboard-write"]);
    const row = page.getByRole("row", { name: /added, line 1/ });
    await row.waitFor();
    await row.locator("bdi").selectText();
    await page.keyboard.press("Control+c");
    const copied = () => page.evaluate<string>("navigator.clipboard.readText()");
    await expect.poll(copied).toBe("a\u202eb <img src=x onerror=alert(1)>");
    await travel(page, `/runs/${runs["hostile"]}/output`, "[role=log]");
    await page.getByRole("button", { name: "Read the last 20 lines" }).first().click();
    await page.getByRole("status").filter({ hasText: "red link" }).waitFor({ state: "attached" });
    expect(watched.problems).toEqual([]);
    await window.close();
  });

  it("draws what files and agents say as text, with a box for what could not be seen", async () => {
    const { window, watched, page } = await enter(bench, server, `/runs/${runs["hostile"]}`);
    await page.getByRole("heading", { name: "A goal <b>with</b> markup", level: 1 }).waitFor();
    const path = page.getByRole("gridcell").getByRole("heading", { name: "src/<script>.txt" });
    await path.waitFor();
    const line = page.getByRole("row", { name: /added, line 1/ });
    expect(await line.textContent()).toBe("aU+202Eb <img src=x onerror=alert(1)>");
    expect(await page.locator("main img").count()).toBe(0);
    await page.getByText(/Binary, 3 bytes\./).waitFor();
    await page.getByRole("link", { name: "Output" }).click();
    const printed = page.getByRole("log", { name: "What the agent printed", exact: true });
    await printed.waitFor();
    expect(await printed.textContent()).toBe("red link\n");
    expect(await page.title()).toBe("A goal <b>with</b> markup - Verbatim");
    expect(watched.problems).toEqual([]);
    await window.close();
  });
});
