import { expect, it } from "vitest";
import { processPace } from "../../src/adapters/process/timer.ts";
import { Beats } from "../../src/rooms/world/beat/beats.ts";
import { verifyWorld } from "../../src/rooms/world/history/verify.ts";
import { changeSettings } from "../../src/rooms/world/history/worlds.ts";
import { readPage } from "../../src/rooms/world/projection/views.ts";
import { envelope, ListedModel, makeHarbour, OLLAMA, openWorlds, type TestWorlds } from "../support/world.ts";

// Time that passes by itself: only where the owner of a world wants it, and only as far.

/** A service whose monotonic time the test turns on. */
function withPace(worlds: TestWorlds): { beats: Beats; pass(ms: number): void } {
  let now = 0;
  const pace = { ...processPace, elapsed: () => now };
  return {
    beats: new Beats({ ...worlds.ports, pace }),
    pass(ms) {
      now += ms;
    },
  };
}

const whole = { viewer: null, after: null, before: null, limit: 50 };
const MINUTE = 60_000;
const voice = { author: { author_id: "WORLD", author_class: "WORLD" }, channel: "VOICE", text: "A gull cries." };
const GULL = JSON.stringify({ proposed_write_bundle: { entries: [voice] } });

async function clockOf({ ports }: TestWorlds, id: string): Promise<string | null> {
  return (await readPage(ports, id, whole)).pocket.clock.world_time;
}

async function textsOf({ ports }: TestWorlds, id: string): Promise<string[]> {
  return (await readPage(ports, id, whole)).entries.map(({ text }) => text);
}

it("an empty beat passes once an interval, under a request id of its own, and not while time is paused", async () => {
  const models = new ListedModel(GULL, '{"no_write":{}}');
  await using worlds = await openWorlds({ models });
  const id = await makeHarbour(worlds, { ...OLLAMA, autonomy_interval_s: 60 });
  const { beats, pass } = withPace(worlds);
  pass(MINUTE - 1);
  expect(await beats.passTime(id)).toBe(false);
  pass(1);
  expect(await beats.passTime(id)).toBe(true);
  expect(await beats.passTime(id)).toBe(false);
  expect(await textsOf(worlds, id)).toEqual(["A gull cries."]);
  expect(await clockOf(worlds, id)).toBe("2026-01-01T07:30:00+00:00");
  const again = await beats.invoke(id, envelope("auto:w_harbour:1", ""));
  expect(again.replayed).toBe(true);
  await beats.invoke(id, envelope("r1", "", { declared_overrides: { pause_time: true } }));
  pass(10 * MINUTE);
  expect(await beats.passTime(id)).toBe(false);
  expect(models.prompts).toHaveLength(2);
});

it("a world whose owner wants no beats by themselves has none", async () => {
  await using worlds = await openWorlds();
  const id = await makeHarbour(worlds, OLLAMA);
  const { beats, pass } = withPace(worlds);
  pass(1000 * MINUTE);
  expect(await beats.passTime(id)).toBe(false);
});

it("a writer that is down is asked once an interval", async () => {
  const models = new ListedModel({ down: "refused" }, { down: "refused" }, GULL);
  await using worlds = await openWorlds({ models });
  const id = await makeHarbour(worlds, { ...OLLAMA, autonomy_interval_s: 60 });
  const { beats, pass } = withPace(worlds);
  pass(MINUTE);
  await expect(beats.passTime(id)).rejects.toMatchObject({ code: "WRITER_UNAVAILABLE" });
  pass(5000);
  expect(await beats.passTime(id)).toBe(false);
  expect(models.prompts).toHaveLength(1);
  pass(MINUTE);
  await expect(beats.passTime(id)).rejects.toMatchObject({ code: "WRITER_UNAVAILABLE" });
  pass(MINUTE);
  expect(await beats.passTime(id)).toBe(true);
  expect(await textsOf(worlds, id)).toEqual(["A gull cries."]);
});

it("a rate carries the clock by the time since the last beat, at most as far as the setting says", async () => {
  await using worlds = await openWorlds();
  const time_policy = { kind: "rate", rate_milli: 1500, max_elapsed_ms: 10 * MINUTE };
  const id = await makeHarbour(worlds, { ...OLLAMA, time_policy });
  const { beats, pass } = withPace(worlds);
  const beat = async (request: string, more = {}) => {
    await beats.invoke(id, envelope(request, "", more));
    return clockOf(worlds, id);
  };
  const override = (pause_time: boolean) => ({ declared_overrides: { pause_time } });
  pass(4 * MINUTE);
  expect(await beat("r1")).toBe("2026-01-01T07:36:00+00:00");
  pass(24 * 60 * MINUTE);
  expect(await beat("r2")).toBe("2026-01-01T07:51:00+00:00");
  pass(MINUTE);
  expect(await beat("r3", override(true))).toBe("2026-01-01T07:51:00+00:00");
  pass(MINUTE);
  expect(await beat("r4")).toBe("2026-01-01T07:51:00+00:00");
  pass(MINUTE);
  expect(await beat("r5", override(false))).toBe("2026-01-01T07:51:00+00:00");
  pass(1);
  expect(await beat("r6")).toBe("2026-01-01T07:51:00.001+00:00");
});

it("another zone in the settings shows the same instant with its own offset", async () => {
  await using worlds = await openWorlds();
  const id = await makeHarbour(worlds, OLLAMA);
  await changeSettings(worlds.ports, id, { timezone: "Asia/Tokyo" }, null);
  expect(await clockOf(worlds, id)).toBe("2026-01-01T16:30:00+09:00");
  await worlds.beats.invoke(id, envelope("r1", "", { declared_overrides: { time: { timezone: "Asia/Kolkata" } } }));
  expect(await clockOf(worlds, id)).toBe("2026-01-01T13:00:00+05:30");
  await changeSettings(worlds.ports, id, { title: "Harbour again" }, null);
  expect(await clockOf(worlds, id)).toBe("2026-01-01T13:00:00+05:30");
  expect((await verifyWorld(worlds.ports, id)).findings).toEqual([]);
});
