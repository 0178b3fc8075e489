// The same screens for everybody: narrow and wide, other languages, other directions, fixed colours, the keyboard alone;
// and told by somebody who means harm. Answers are made, so that every case is on the screen at once.
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { en } from "../../web/src/words/en.ts";
import { enter, goByKeys, StudioBench, type StudioServer } from "../support/studio.ts";
import {
  type Answers,
  answerWith,
  Marks,
  markedComparison,
  markedDiff,
  markedHome,
  markedList,
  markedRecord,
  markedReport,
  markedSettings,
  travel,
} from "../support/studio-answers.ts";

const bench = new StudioBench();
let server: StudioServer;

beforeAll(async () => {
  server = await bench.serve();
});

afterAll(async () => {
  await server?.stop();
  await bench.close();
});

const RUN = "q1runq1";
const SCREENS: readonly (readonly [path: string, ready: string])[] = [
  ["/", "main section ul li"],
  ["/runs", "main [role=listitem]"],
  [`/runs/${RUN}/review`, "[role=grid] [data-type=line]"],
  [`/runs/${RUN}/proof`, "main details"],
  [`/runs/${RUN}/verify`, "[role=log]"],
  [`/runs/${RUN}/timeline`, "main ol li"],
  [`/runs/${RUN}/output`, "[role=log]"],
  [`/runs/${RUN}/review?do=discard`, "[role=dialog]"],
  [`/runs/${RUN}/review?do=continue`, "[data-testid=told]"],
  [`/runs/${RUN}/review?do=checks&panel=network`, "[role=dialog] section ul li"],
  [`/runs/${RUN}/review?do=checks&panel=shown`, "[role=dialog] section ul li"],
  [`/runs/${RUN}/review?do=checks&panel=hooks`, "[role=dialog] section p"],
  [`/runs/${RUN}/files`, "main li a[href*='/files/']"],
  [`/runs/${RUN}/report`, "main article h3"],
  ["/runs/new", "[data-testid=will-run]"],
  [`/runs/compare?ids=${RUN},other`, "[data-testid=compared-run]"],
  ["/settings/agents", "main dl"],
  ["/settings/appearance", "main fieldset"],
  ["/settings/notices", "main fieldset"],
  ["/settings/access", "main ul li"],
  ["/settings/doctor", "main ul li"],
  ["/settings/about", "main dl"],
  ["/runs?do=keys", "[role=dialog]"],
];

function answersOf(prefix: string): Answers {
  const m = new Marks(prefix, 1);
  return {
    "studio.home": markedHome(m, false),
    "agent.list": markedList(m),
    "agent.show": markedReport(m, RUN, false),
    "agent.diff": markedDiff(m, RUN, false),
    "agent.compare": markedComparison(m, RUN, false),
    "agent.artifacts": markedRecord(m, RUN),
    "agent.feedback": { text: m.text(), sha256: m.text(), from: "candidate" },
    ...markedSettings(m, false),
  };
}

/** How far the page is wider than the screen, and what sticks out of it. */
async function readOverflow(page: Page): Promise<{ readonly by: number; readonly what: readonly string[] }> {
  return await page.evaluate(() => {
    interface Box {
      readonly left: number;
      readonly right: number;
      readonly width: number;
    }
    interface Part {
      readonly scrollWidth: number;
      readonly clientWidth: number;
      readonly className: string;
      readonly tagName: string;
      getBoundingClientRect(): Box;
    }
    const { document } = globalThis as unknown as {
      document: { documentElement: Part; querySelectorAll(query: string): Iterable<Part> };
    };
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return { by: 0, what: [] };
    const what = [...document.querySelectorAll("body *")].filter((part) => {
      const { left, right, width } = part.getBoundingClientRect();
      return width > 0 && (right > clientWidth + 1 || left < -1);
    });
    return { by: scrollWidth - clientWidth, what: what.slice(0, 5).map((part) => `${part.tagName} ${part.className}`) };
  });
}

async function visit(page: Page, look: (path: string) => Promise<void>): Promise<void> {
  for (const [path, ready] of SCREENS) {
    await travel(page, path, ready);
    await look(path);
  }
}

describe("every screen", () => {
  it("fits 320, 390 and 820 columns in either direction, with fixed colours and without motion, and never scrolls sideways", async () => {
    const { window, watched, page } = await enter(bench, server, "/settings/appearance", {
      viewport: { width: 320, height: 640 },
    });
    // Words as long as a hash: nothing on a screen is broken by them.
    await answerWith(
      window,
      () => answersOf("q".repeat(60)),
      () => `${"x".repeat(500)}\n`,
    );
    await page.emulateMedia({ forcedColors: "active", reducedMotion: "reduce" });
    const found: string[] = [];
    await visit(page, async (path) => {
      for (const direction of ["ltr", "rtl"]) {
        await page.evaluate(`document.documentElement.dir = "${direction}"`);
        for (const width of [320, 390, 820]) {
          await page.setViewportSize({ width, height: 640 });
          const { by, what } = await readOverflow(page);
          if (by > 0) found.push(`${path} ${width} ${direction}: ${by} px, ${what.join(" | ")}`);
        }
      }
      const moving = await page.evaluate<number>(
        "document.getAnimations().filter((a) => a.playState === 'running' && a.effect.getTiming().duration > 100).length",
      );
      if (moving > 0) found.push(`${path}: ${moving} animations`);
    });
    expect(found).toEqual([]);
    expect(watched.problems).toEqual([]);
    await window.close();
  });

  it("is in the language of the browser: in a made-up one no English word is left", async () => {
    const { window, watched, page } = await enter(bench, server, "/settings/appearance", { locale: "en-XA" });
    await answerWith(
      window,
      () => answersOf("q"),
      () => "q8q",
    );
    const found: string[] = [];
    await visit(page, async (path) => {
      const texts = await readTexts(page);
      for (const text of texts) {
        const words = text
          .replace(/q\d+q/g, "")
          .replace(/q?1runq1|Ctrl|Enter|Esc|F6|openapi\.json|\/api|GMT|kB|MB/g, "")
          // The widgets bring this one in the languages they know.
          .replace(/^Dismiss$/, "")
          // A key is a letter.
          .match(/[A-Za-z]{2,}/g);
        if (words !== null) found.push(`${path}: ${text}`);
      }
    });
    expect([...new Set(found)]).toEqual([]);
    expect(watched.problems).toEqual([]);
    await window.close();
  });

  it("can be used with the keyboard alone: skip link, regions, headings, and back to where a dialog was opened", async () => {
    const { window, watched, page } = await enter(bench, server, "/", {
      viewport: { width: 1600, height: 860 },
    });
    await answerWith(
      window,
      () => answersOf("q"),
      () => "q8q",
    );
    const focused = () =>
      page.evaluate<string>(
        "(({ tagName, id, textContent }) => `${tagName.toLowerCase()} ${id} ${textContent.slice(0, 40)}`)(document.activeElement)",
      );
    await page.reload();
    await page.locator("main section ul li").first().waitFor();
    await page.keyboard.press("Tab");
    await expect.poll(focused).toContain(en.skip);
    await page.keyboard.press("Enter");
    await expect.poll(focused).toMatch(/^main content/);
    // Round and round: places, content, and places again.
    await page.keyboard.press("F6");
    await expect.poll(focused).toMatch(/^nav/);
    await page.keyboard.press("F6");
    await expect.poll(focused).toMatch(/^main content/);
    await page.keyboard.press("Shift+F6");
    await expect.poll(focused).toMatch(/^nav/);
    // Going somewhere puts the focus on its heading.
    await goByKeys(page, "s", "main fieldset");
    await expect.poll(focused).toMatch(/^h1 .*Settings/);
    await goByKeys(page, "r", "main [role=listitem]");
    await expect.poll(focused).toMatch(/^h1 .*Runs/);
    // A dialog gives the focus back to what opened it.
    await travel(page, `/runs/${RUN}/review`, "[role=grid] [data-type=line]");
    const opener = page.getByRole("button", { name: en.acts.discard });
    await opener.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    expect(await page.evaluate("document.querySelector('[role=dialog]').contains(document.activeElement)")).toBe(true);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await expect.poll(focused).toContain(en.acts.discard);
    // The review has a third and a fourth region.
    const regions = new Set<string>();
    for (let n = 0; n < 4; n++) {
      await page.keyboard.press("F6");
      regions.add(await page.evaluate<string>("document.activeElement.getAttribute('aria-label')"));
    }
    expect(regions).toEqual(new Set([en.regions.places, en.regions.content, en.run.tree, en.regions.side]));
    expect(watched.problems).toEqual([]);
    await window.close();
  });
});

/** Text and names of what is on the screen. */
async function readTexts(page: Page): Promise<string[]> {
  return await page.evaluate<string[]>(`(() => {
    const found = [];
    const walk = (part) => {
      if (part.nodeType === 3) found.push(part.textContent);
      if (part.nodeType !== 1 || /^(?:SCRIPT|STYLE|NOSCRIPT|TIME)$/.test(part.tagName)) return;
      for (const name of ["title", "aria-label", "placeholder", "alt"]) found.push(part.getAttribute(name) ?? "");
      for (const child of part.childNodes) walk(child);
    };
    walk(document.body);
    return found.filter((text) => text.trim() !== "");
  })()`);
}

const HARM = "\u202e<script>alert(1)</script>\u0000\u001b]52;c;aGk=\u0007\n@@ -1 +1 @@\ndiff --git a/x b/x";
/** Every family of escape sequence, each of which must leave nothing behind but what it surrounds. */
const ESCAPES = [
  "\u001b]0;owned\u0007",
  "\u001b]2;owned\u001b\\",
  "\u001b]52;c;b3duZWQ=\u0007",
  "\u001b]8;;http://evil.example/owned\u0007link\u001b]8;;\u0007",
  "\u001bP+q6f776e6564\u001b\\",
  "\u001b_owned\u001b\\",
  "\u001b^owned\u001b\\",
  "\u001bXowned\u001b\\",
  "\u001b[6n\u001b[?1049h\u001b[2J\u001b[31;1m\u001b[38:2::255:0:0m",
  "\u001bc\u001b(0\u001b#8\u001b=\u001bM",
];

describe("told by somebody who means harm", () => {
  it("draws names, lines and output as text, obeys nothing of it, and stays quick with lines and hunks without end", async () => {
    const { window, watched, page } = await enter(bench, server, "/settings/appearance");
    const m = new Marks("q", 1);
    const report = markedReport(m, RUN, false);
    const [file] = markedDiff(m, RUN, false).files;
    const [hunk] = file!.hunks;
    const long = "n".repeat(4_090);
    const hunks = Array.from({ length: 3000 }, (_, n) => ({
      ...hunk!,
      n: n + 1,
      id: `h_${n}`,
      old_start: n * 10 + 1,
      new_start: n * 10 + 1,
      old_lines: 1,
      new_lines: 1,
      lines: [{ kind: "added" as const, text: "diff --git a/passwd b/passwd", no_eol: false }],
    }));
    const forged = ["@@ -1,9 +1,9 @@", "--- a/forged", HARM.replaceAll("\n", "\r")];
    const answers: Answers = {
      ...answersOf("q"),
      "agent.show": {
        ...report,
        summary: { ...report.summary, goal: `${HARM}${long}`, agent: { ...report.summary.agent, argv: ["sh", HARM] } },
      },
      "agent.diff": {
        run_id: RUN,
        candidate: 1,
        next: null,
        files: [
          {
            ...file!,
            path: `src/${HARM}`,
            hunks: [{ ...hunk!, lines: forged.map((text) => ({ kind: "added" as const, text, no_eol: false })) }],
          },
          {
            ...file!,
            path: `${long}.ts`,
            hunks: [{ ...hunk!, id: "h_long", lines: [{ kind: "added", text: "z".repeat(4_000_000), no_eol: false }] }],
          },
          { ...file!, path: "many.ts", hunks },
        ],
      },
      "agent.list": { ...markedList(m), runs: markedList(m).runs.map((run) => ({ ...run, goal: `${HARM}${long}` })) },
    };
    await answerWith(
      window,
      () => answers,
      () => `${ESCAPES.map((sequence) => `a${sequence}b`).join("\n")}\n${"\u001b[1A\u001b[2K.".repeat(50_000)}\nend\n`,
    );
    await page.evaluate(
      "document.addEventListener('securitypolicyviolation', (e) => console.error(e.violatedDirective))",
    );
    await travel(page, "/runs", "main [role=listitem]");
    expect(await readOverflow(page)).toEqual({ by: 0, what: [] });
    await travel(page, `/runs/${RUN}/review`, "[role=grid] [data-type=line]");
    expect(await readOverflow(page)).toEqual({ by: 0, what: [] });
    // Two files whose names are real; what looks like a third one inside a file is a line of it.
    expect(await page.getByRole("grid").getByRole("heading").count()).toBeLessThanOrEqual(3);
    const line = page.getByRole("row", { name: /forged/ });
    expect(await line.textContent()).toBe("--- a/forged");
    expect(await page.locator("main script, main img, main iframe").count()).toBe(0);
    expect(await page.title()).not.toMatch(/[\u0000-\u001f\u202e]/);
    expect((await page.title()).length).toBeLessThan(90);
    // The end of thousands of hunks is as near as the beginning.
    for (const file of [/file=src/, /file=nnn/, /file=many\.ts/]) {
      await page.keyboard.press("n");
      await page.waitForURL(file);
    }
    await page.keyboard.press("k");
    await page.waitForURL(/hunk=h_long/);
    await page.getByRole("button", { name: en.run.cut(3_998_000) }).waitFor();
    expect(await page.evaluate<number>("document.querySelectorAll('*').length")).toBeLessThan(2_500);
    await travel(page, `/runs/${RUN}/output`, "[role=log]");
    const printed = (await page.getByRole("log").first().textContent()) ?? "";
    expect(printed).not.toMatch(/owned|evil|b3du|6f776e/);
    expect(printed.split("\n").slice(0, ESCAPES.length)).toEqual([
      "ab",
      "ab",
      "ab",
      "alinkb",
      ...Array.from({ length: 6 }, () => "ab"),
    ]);
    expect(printed.endsWith("end\n")).toBe(true);
    expect(await page.title()).not.toContain("owned");
    expect(watched.problems).toEqual([]);
    await window.close();
  });
});
