// Following a stream: the page first, then what is committed, for one viewer.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openApp } from "../../src/app/app.ts";

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
      await using app = openApp({ door: "library", start: folder, env: {}, platform: process.platform });
      const world = "w_harbour";
      await app.call("world.new", { title: "Harbour", id: world, timezone: "UTC", person: ["ANA=Ana", "BEN=Ben"] });
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
});
