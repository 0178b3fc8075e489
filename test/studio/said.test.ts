// Nothing that was not said: every screen is told answers that are nothing but marks, and everything on it must be a mark,
// a form of one that is listed here, or a word of words/en.ts.
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { en } from "../../web/src/words/en.ts";
import { enter, StudioBench, type StudioServer } from "../support/studio.ts";
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

/** Later than every mark. */
const NOW = Date.UTC(2033, 4, 1, 12);

/** The screens, and where each is when it is there. Each has marks of its own. */
const SCREENS: readonly (readonly [name: string, path: string, ready: string])[] = [
  ["home", "/", "main section"],
  ["runs", "/runs", "main [role=listitem]"],
  ["review", "/runs/RUN/review", "[role=grid] [data-type=line]"],
  ["proof", "/runs/RUN/proof", "main details"],
  ["verify", "/runs/RUN/verify", "[role=log]"],
  ["timeline", "/runs/RUN/timeline", "main ol li"],
  ["gates", "/runs/RUN/review?do=checks&panel=gates", "[role=dialog] section"],
  ["network", "/runs/RUN/review?do=checks&panel=network", "[role=dialog] section"],
  ["shown", "/runs/RUN/review?do=checks&panel=shown", "[role=dialog] section"],
  ["hooks", "/runs/RUN/review?do=checks&panel=hooks", "[role=dialog] section"],
  ["record", "/runs/RUN/files", "main li a[href*='/files/']"],
  ["report", "/runs/RUN/report", "main article h3"],
  ["start", "/runs/new", "[data-testid=will-run]"],
  ["compare", "/runs/compare?ids=RUN,other", "[data-testid=compared-run]"],
  ["agents", "/settings/agents", "main dl"],
  ["access", "/settings/access", "main ul li"],
  ["doctor", "/settings/doctor", "main ul li"],
];

interface Told {
  readonly answers: Answers;
  /** The marks by the answer that has them. */
  readonly marks: Readonly<Record<string, Marks>>;
  readonly printed: string;
}

function tell(prefix: string, first: number, run: string, bare: boolean): Told {
  const marks = Object.fromEntries(
    ["home", "list", "report", "diff", "settings", "printed", "compared", "record"].map((name, n) => [
      name,
      new Marks(prefix, first + n * 200),
    ]),
  ) as Record<"home" | "list" | "report" | "diff" | "settings" | "printed" | "compared" | "record", Marks>;
  return {
    marks,
    printed: marks.printed.text(),
    answers: {
      "studio.home": markedHome(marks.home, bare),
      "agent.list": markedList(marks.list),
      "agent.show": markedReport(marks.report, run, bare),
      "agent.diff": markedDiff(marks.diff, run, bare),
      "agent.compare": markedComparison(marks.compared, run, bare),
      "agent.artifacts": markedRecord(marks.record, run),
      ...markedSettings(marks.settings, bare),
    },
  };
}

/** Everything that a person or a screen reader is told by the page, a text at a time. */
async function readAll(page: Page): Promise<string[]> {
  return await page.evaluate(() => {
    interface Part {
      readonly nodeType: number;
      readonly textContent: string;
      readonly childNodes: readonly Part[];
      readonly tagName: string;
      getAttribute(name: string): string | null;
    }
    const found: string[] = [];
    const walk = (part: Part): void => {
      if (part.nodeType === 3) found.push(part.textContent);
      if (part.nodeType !== 1 || /^(?:SCRIPT|STYLE|NOSCRIPT)$/.test(part.tagName)) return;
      for (const name of ["title", "aria-label", "placeholder", "alt", "data-says"])
        found.push(part.getAttribute(name) ?? "");
      for (const child of part.childNodes) walk(child);
    };
    const { document } = globalThis as unknown as { document: { body: Part; title: string } };
    walk(document.body);
    return [...found, document.title].filter((text) => text.trim() !== "");
  });
}

/** What is written in the page itself: names of keys, the sign, and what the widgets say to close a dialog. */
const LITERALS = ["Ctrl K", "Ctrl Enter", "v", "api/openapi.json", "Dismiss"];

/** The words of the page: every sentence without what was put into it. */
function listWords(part: unknown): string[] {
  if (typeof part === "string") return [part];
  if (typeof part === "object" && part !== null) return Object.values(part).flatMap(listWords);
  if (typeof part !== "function") return [];
  const given = ["§", 1, 0, null];
  const facts = { files: "§", added: "§", deleted: "§", checks: "§", reason: "§", untouched: true, landed: "§" };
  const asked: unknown[][] = [
    ...given.flatMap((one) => given.map((other) => [one, other])),
    [facts],
    [{ ...facts, untouched: false }],
    [{ ...facts, files: 1, checks: 1, reason: null, untouched: false, landed: null }],
  ];
  return asked.flatMap((input) => {
    try {
      return String((part as (...all: unknown[]) => unknown)(...input)).split(/§|\b\d[\d,]*\b/);
    } catch (thrown) {
      // A function of a verdict takes facts only.
      return thrown instanceof TypeError ? [] : [String(thrown)];
    }
  });
}

const group = (n: number) => String(n).replace(/\B(?=(?:\d{3})+$)/g, ",");
const two = (n: number) => String(n).padStart(2, "0");

/** How long something took: words/formats.ts in other words. */
function durationOf(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const s = Math.round(ms / 1000);
  return s % 60 === 0 ? `${group(Math.floor(s / 60))} min` : `${group(Math.floor(s / 60))} min ${s % 60} s`;
}

/** Every form in which the page may show a mark. */
function formsOf({ texts, numbers, times }: Marks): string[] {
  const between = times.flatMap((a) => times.map((b) => Date.parse(b) - Date.parse(a))).filter((ms) => ms > 0);
  return [
    ...texts,
    // The end of an id, as people name a run.
    ...texts.map((text) => text.slice(-6)),
    // The last line of a hunk.
    ...numbers.slice(1).map((n, at) => group(numbers[at]! + n - 1)),
    ...numbers.flatMap((n) => [String(n), group(n), durationOf(n)]),
    // A line after the first of a hunk, and lines between hunks.
    ...numbers.flatMap((n) => [n - 1, n + 1, n + 2].map(group)),
    ...numbers.map((n) => `${(n / 1000).toFixed(1)} kB`),
    ...between.map(durationOf),
    ...times.flatMap((at) => {
      const then = new Date(at);
      const clock = `${two(then.getUTCHours())}:${two(then.getUTCMinutes())}`;
      const days = Math.floor((NOW - then.getTime()) / 86_400_000);
      const seconds = Math.floor((NOW - then.getTime()) / 1000);
      return [
        at,
        `${clock}:${two(then.getUTCSeconds())}`,
        `${at.slice(0, 10)} ${clock}`,
        `${group(days)} days ago`,
        // A clock that runs, in three texts.
        String(Math.floor(seconds / 60)),
      ];
    }),
  ];
}

/** What is left of a text when everything that may be there is taken away; numbers up to nine count things of the answer. */
function unsaid(text: string, allowed: readonly string[]): string {
  let left = text;
  for (const one of allowed) {
    if (!left.includes(one)) continue;
    const escaped = one.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    left = left.replace(new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, "gu"), "\u0000");
  }
  return left
    .replace(/(?<!\d)\d{1,2}(?!\d)/g, "")
    .replace(/[\s\p{P}\p{S}\u0000]+/gu, " ")
    .trim();
}

const WORDS = [...new Set([...listWords(en), ...LITERALS].map((word) => word.replace(/^[\s\p{P}]+|[\s\p{P}]+$/gu, "")))]
  .filter((word) => word !== "")
  .sort((a, b) => b.length - a.length);

async function readScreens(told: Told, run: string) {
  const { window, watched, page } = await enter(bench, server, "/settings/appearance", { timezoneId: "UTC" });
  await page.clock.setFixedTime(NOW);
  await answerWith(
    window,
    () => told.answers,
    () => told.printed,
  );
  const texts: Record<string, readonly string[]> = {};
  for (const [name, path, ready] of SCREENS) {
    await travel(page, path.replace("RUN", run), ready);
    await page.getByRole("status", { name: en.waiting.label }).waitFor({ state: "detached" });
    texts[name] = await readAll(page);
  }
  expect(watched.problems).toEqual([]);
  await window.close();
  return texts;
}

describe("nothing that was not said", () => {
  const first = tell("qx", 100, "qxrunqx", false);
  const second = tell("zj", 1_700, "zjrunzj", true);

  it.each([
    ["a whole answer", first, second, "qxrunqx"],
    ["an answer with nothing that may be absent", second, first, "zjrunzj"],
  ])("is on a screen that got %s", async (_name, told, other, run) => {
    const texts = await readScreens(told, run);
    const forms = Object.values(told.marks).flatMap(formsOf);
    const allowed = [...[...new Set([...forms, run, run.slice(-6)])].sort((a, b) => b.length - a.length), ...WORDS];
    for (const [screen, found] of Object.entries(texts)) {
      const strange = found.map((text) => [text, unsaid(text, allowed)]).filter(([, left]) => left !== "");
      expect(strange, screen).toEqual([]);
      // What the other answer had is nowhere, and nothing stands in for what is absent.
      const joined = found.join("\n");
      const others = Object.values(other.marks).flatMap(({ texts: all }) => all);
      expect(
        others.filter((mark) => joined.includes(mark)),
        screen,
      ).toEqual([]);
      expect(joined, screen).not.toMatch(/undefined|null|NaN|\[object/);
    }
    const all = Object.values(texts).flat().join("\n");
    const missing = Object.values(told.marks).flatMap(({ shown }) =>
      [...shown].filter((mark) => !all.includes(String(mark)) && !all.includes(group(Number(mark)))),
    );
    expect(missing).toEqual([]);
  });
});
