import { describe, expect, it, vi } from "vitest";
import { noteAnswer, noteSilence, readConnection } from "../../web/src/api/connection.ts";

type Format = (at: string, now: number) => string;

// The words of the page ask a browser for its language.
vi.stubGlobal("navigator", { language: "en", languages: ["en"] });
const place: string = "../../web/src/words/formats.ts";
const { formatAge, formatClock } = (await import(place)) as Record<"formatAge" | "formatClock", Format>;

// Guards: a clock that jumps, as after a sleep or when it is set right, makes no sentence of the page untrue.

describe("a clock that jumps", () => {
  const at = "2026-11-16T13:00:00.000Z";
  const later = (minutes: number) => Date.parse(at) + minutes * 60_000;

  it("backwards leaves no age that is not one: what is in the future has its own time", () => {
    expect([0, 1, 59, 60, 60 * 49].map((minutes) => formatAge(at, later(minutes)))).toEqual([
      "just now",
      "1 min ago",
      "59 min ago",
      "1 h ago",
      "2 days ago",
    ]);
    // Two machines never agree to the second.
    expect(formatAge(at, later(-0.5))).toBe("just now");
    for (const back of [-10, -60 * 24 * 3]) expect(formatAge(at, later(back))).toBe(formatClock(at, later(back)));
  });

  it("in either direction is noted with the next answer, so that what was last heard is not hours off", () => {
    const clock = vi.spyOn(Date, "now");
    try {
      for (const now of [later(0), later(-90), later(600)]) {
        clock.mockReturnValue(now);
        noteAnswer();
        expect(readConnection()).toEqual({ state: "live", heard: now });
        clock.mockReturnValue(now + 500);
        noteAnswer();
        expect(readConnection().heard).toBe(now);
      }
      noteSilence();
      expect(readConnection()).toEqual({ state: "lost", heard: later(600) });
    } finally {
      clock.mockRestore();
    }
  });
});
