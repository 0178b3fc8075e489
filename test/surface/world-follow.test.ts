// Following a stream: the page first, then what is committed, for one viewer.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { openApp } from "../../src/app/call.ts";

interface Event {
  readonly event: string;
  readonly data: { readonly text?: string };
}

describe("a stream that is followed", () => {
  it.each([
    { viewer: "ANA", first: ["Before."], later: "After." },
    { viewer: "BEN", first: [], later: "Now for Ben." },
  ])(
    "shows $viewer the page and then what $viewer may see, from the first line on",
    async ({ viewer, first, later }) => {
      const folder = mkdtempSync(join(tmpdir(), "verbatim-follow-"));
      await using app = openApp({ surface: "library", start: folder, env: {}, platform: process.platform });
      const world = "w_harbour";
      await app.call("world.new", {
        title: "Harbour",
        world_id: world,
        timezone: "UTC",
        person: ["ANA=Ana", "BEN=Ben"],
      });
      await app.call("world.presence", { world, present: ["GEORGE", "ANA"], scene: "Before." });
      const lines = app.lines("world.projection", { world, viewer, follow: true });
      const page = JSON.parse((await lines.next()).value as string) as { entries: { text: string }[] };
      expect(page.entries.map(({ text }) => text)).toEqual(first);
      await app.call("world.scene", { world, text: "After." });
      await app.call("world.scene", { world, text: "Now for Ben.", present: ["BEN"] });
      const next = JSON.parse((await lines.next()).value as string) as Event;
      expect([next.event, next.data.text]).toEqual(["entry", later]);
      await lines.return(undefined);
      await expect(app.call("world.projection", { world, follow: true })).rejects.toMatchObject({ code: "USAGE" });
      rmSync(folder, { recursive: true, force: true });
    },
  );

  it("is woken by control writes of its own process, without looking for them", async () => {
    const folder = mkdtempSync(join(tmpdir(), "verbatim-follow-"));
    await using app = openApp({ surface: "library", start: folder, env: {}, platform: process.platform });
    const world = "w_harbour";
    await app.call("world.new", { title: "Harbour", world_id: world, timezone: "UTC", person: ["ANA=Ana"] });
    const lines = app.lines("world.follow", { world, viewer: "GEORGE", ticks: true });
    const next = async (): Promise<Event> => JSON.parse((await lines.next()).value as string) as Event;
    expect((await next()).event).toBe("tick");
    // From here on no timer ends: whoever looks now and then would look no more.
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    try {
      const waking: readonly (readonly [events: string, name: string, input: object])[] = [
        ["entry presence", "world.scene", { text: "Morning." }],
        ["pocket", "world.calendar-add", { title: "Ferry" }],
        ["pocket", "world.message-add", { from: "ANA", text: "Up?", visible_to: ["GEORGE"] }],
        ["time settings pocket", "world.settings-set", { settings: { pocket: { clock_hidden: true } } }],
        ["people", "world.people-add", { person_id: "BEN", display_name: "Ben" }],
        ["presence", "world.presence", { present: ["GEORGE", "ANA", "BEN"] }],
      ];
      for (const [events, name, input] of waking) {
        const first = next();
        await app.callUnknown(name, { world, ...input });
        const seen: string[] = [];
        for (let one = await first; one.event !== "tick"; one = await next()) seen.push(one.event);
        expect([name, seen.join(" ")]).toEqual([name, events]);
      }
    } finally {
      vi.useRealTimers();
    }
    await lines.return(undefined);
    rmSync(folder, { recursive: true, force: true });
  });
});
