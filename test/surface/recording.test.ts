// The picture at the top of README.md: the session is typed again in a real terminal, and every row of the picture must be on
// its screen. Ids, times and counts differ from run to run.
import { readFileSync, statSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { drawTerminal, readDrawing } from "../../tools/recording/drawing.ts";
import { Screen } from "../../tools/recording/screen.ts";
import { recordSession, whyNoRecording } from "../../tools/recording/session.ts";
import { toSame } from "../support/guide-here.ts";
import { needs } from "../support/needs.ts";

const place = (theme: string) => new URL(`../../docs/images/terminal-${theme}.svg`, import.meta.url);

describe("the picture of a session", () => {
  it("shows what a real session shows, in both colours", needs(whyNoRecording()), async () => {
    const shown = (await recordSession()).map((row) => row.map(({ text }) => text).join(""));
    // On a machine with much else to do the key comes before the question listens, and is echoed twice.
    const rows = shown.map((row) => row.replace(/> aa$/, "> a"));
    expect(rows.join("\n")).toContain("verified. Nothing is applied yet.");
    for (const theme of ["light", "dark"]) {
      expect(toSame(readDrawing(readFileSync(place(theme), "utf8")).join("\n"))).toBe(toSame(rows.join("\n")));
    }
  });

  it("is small, and asks for nothing", () => {
    for (const theme of ["light", "dark"]) {
      expect(statSync(place(theme)).size).toBeLessThan(12_000);
      const named = readFileSync(place(theme), "utf8").replace("http://www.w3.org/2000/svg", "");
      expect(named).not.toMatch(/https?:|url\(|<script|<image|@import/);
    }
  });

  it("shows nobody's text as markup, and gives back the words that were drawn", () => {
    const rows = [
      [
        { text: "$ echo ", look: "good" as const },
        { text: '<b> & "c"', look: "" as const },
      ],
    ];
    const svg = drawTerminal(rows, "dark", "a <title>");
    expect(svg).not.toContain("<b>");
    expect(readDrawing(svg)).toEqual(['$ echo <b> & "c"']);
  });
});

describe("the screen", () => {
  it("is what a terminal would show: rows written over, erased and coloured", () => {
    const screen = new Screen();
    screen.write(
      "looking 10\rlooking 20\r\u001b[2Kdone\r\n\u001b[1;32m✓\u001b[0m policy  \r\nlost\u001b[1A\r\u001b[31m✗\u001b[0m\n\r\u001b[K",
    );
    expect(screen.rows()).toEqual([
      [{ text: "done", look: "" }],
      [
        { text: "✗", look: "bad" },
        { text: " policy", look: "" },
      ],
    ]);
  });
});
