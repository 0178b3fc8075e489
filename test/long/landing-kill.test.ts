// kill -9 of a real process before every single step of landing and of taking it back.
import { afterAll, beforeAll, expect, it } from "vitest";
import { KilledLanding } from "../support/landing-kill.ts";

const landing = new KilledLanding();
beforeAll(() => landing.prepare(), 120_000);
afterAll(() => landing.remove());

it.each(["land", "undo"] as const)(
  "%s: leaves the tree as before or as after, whatever step it was killed at",
  async (what) => {
    let step = 0;
    while (await landing.killProcess(what, step)) {
      landing.check(what);
      step++;
    }
    expect(step).toBeGreaterThan(15);
  },
  600_000,
);
