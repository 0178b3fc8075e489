import { expect, it } from "vitest";
import { addCalendarItem, addMessage, closeCalendarItem } from "../../src/rooms/world/people/pocket-writing.ts";
import { readCalendar, readViewerPocket } from "../../src/rooms/world/projection/views.ts";
import { envelope, ListedModel, makeHarbour, OLLAMA, openWorlds, type TestWorlds } from "../support/world.ts";

// The calendar of a pocket: what comes up, and for whom.

const item = (title: string, time: string | null, visible_to: readonly string[] | null = null) => ({
  title,
  time,
  location: null,
  notes: null,
  visible_to,
});

async function titles({ ports }: TestWorlds, id: string, viewer: string | null = null): Promise<string[]> {
  return (await readViewerPocket(ports, id, viewer)).calendar.items.map(({ title }) => title);
}

it("an item that was over when it was written down never comes up", async () => {
  const models = new ListedModel();
  await using worlds = await openWorlds({ models });
  const id = await makeHarbour(worlds, OLLAMA);
  await addCalendarItem(worlds.ports, id, item("Breakfast", "2026-01-01T07:30"));
  await addCalendarItem(worlds.ports, id, item("Ferry", "2026-01-01T07:30:00.001"));
  expect(await titles(worlds, id)).toEqual(["Ferry"]);
  const later = { declared_overrides: { time: { declared_world_time: "2026-01-01T08:00" } } };
  await worlds.beats.invoke(id, envelope("r1", "", later));
  const { opportunities } = JSON.parse(models.prompts[0]!.user) as { opportunities: string[] };
  expect(opportunities).toEqual(["Ferry - 2026-01-01T07:30:00.001+00:00"]);
  const states = (await readCalendar(worlds.ports, id, null)).map(({ title, state }) => `${title} ${state}`);
  expect(states).toEqual(["Breakfast PAST", "Ferry DUE"]);
});

it("ids of items and messages do not tell how many there are that somebody may not see", async () => {
  await using worlds = await openWorlds();
  const id = await makeHarbour(worlds, OLLAMA);
  const send = () => addMessage(worlds.ports, id, { from: "ANA", text: "Up?", visible_to: ["GEORGE"] });
  const ids = [
    (await addCalendarItem(worlds.ports, id, item("Surprise", null, ["ANA"]))).item_id,
    (await addCalendarItem(worlds.ports, id, item("Ferry", null))).item_id,
    (await send()).message_id,
    (await send()).message_id,
  ];
  expect(new Set(ids).size).toBe(4);
  for (const made of ids) expect(made).toMatch(/^[km]_[a-z2-7]{16}$/);
});

it("an item that somebody may not see is unknown to them, also when they want to close it", async () => {
  await using worlds = await openWorlds();
  const id = await makeHarbour(worlds, OLLAMA);
  const { item_id } = await addCalendarItem(worlds.ports, id, item("Surprise", null, ["ANA"]));
  const close = (wanted: string, viewer: string | null) =>
    closeCalendarItem(worlds.ports, id, { item_id: wanted, viewer });
  const refusal = async (wanted: string) => close(wanted, "GEORGE").catch((thrown: { code: string }) => thrown.code);
  expect(await refusal(item_id)).toBe("CALENDAR_ITEM_UNKNOWN");
  expect(await refusal("k_99")).toBe("CALENDAR_ITEM_UNKNOWN");
  expect(await titles(worlds, id, "ANA")).toEqual(["Surprise"]);
  expect(await close(item_id, "ANA")).toEqual({ item_id, state: "CLOSED" });
  expect(await titles(worlds, id, "ANA")).toEqual([]);
  expect(await close(item_id, null)).toEqual({ item_id, state: "CLOSED" });
});
