// kill -9 while a change lands or is taken back: afterwards the tree is as before or as after, never between.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KilledLanding } from "../support/landing-kill.ts";

const landing = new KilledLanding();
beforeAll(() => landing.prepare(), 120_000);
afterAll(() => landing.remove());

describe("a landing that ends at any step", () => {
  it.each([
    ["land", [null, "restored", "completed"], 15],
    ["undo", ["completed", "undone"], 15],
  ] as const)(
    "%s: is taken back or complete",
    async (what, states, most) => {
      const seen = new Set<string | null>();
      let step = 0;
      while (await landing.killHere(what, step)) {
        seen.add(landing.check(what));
        step++;
      }
      expect(landing.repo.manifest()).toEqual(landing.manifests[what === "land" ? "after" : "before"]);
      seen.add(landing.recover().state);
      expect(step).toBeGreaterThan(most);
      expect([...seen]).toEqual(expect.arrayContaining([...states]));
    },
    120_000,
  );

  it.each([
    ["land", 1],
    ["land", 8],
    ["land", 12],
    ["land", 16],
    ["undo", 2],
    ["undo", 9],
  ] as const)("%s: survives a real kill before step %i", async (what, step) => {
    expect(await landing.killProcess(what, step)).toBe(true);
    landing.check(what);
  });

  it("keeps what somebody wrote into it before the next one came", async () => {
    let step = 0;
    // Until the first file has its new name.
    do expect(await landing.killHere("land", step++)).toBe(true);
    while (landing.repo.read("changed") !== "y\n");
    landing.repo.write({ changed: "written since\n" });
    expect(landing.recover()).toEqual({ state: "restored", kept: ["changed"] });
    const { changed: _, ...rest } = landing.repo.manifest();
    const { changed: __, ...before } = landing.manifests.before;
    expect(rest).toEqual(before);
    expect(landing.repo.read("changed")).toBe("written since\n");
  }, 300_000);
});
