import { describe, expect, it } from "vitest";
import { makeZones } from "../../../adapters/intl/zones.ts";
import { type ClockDeclaration, type ClockState, moveClock, type ScheduledItem, type TimePolicy } from "./clock.ts";

const zones = makeZones();
const NOON = Date.UTC(2026, 0, 1, 12);
const state: ClockState = { clock_ms: NOON, zone: "UTC", paused: false, policy: { kind: "explicit" } };
const beat: ClockDeclaration = {
  kind: "BEAT",
  declared_world_time: null,
  timezone: null,
  pause_time: null,
  elapsed_ms: 0,
};
const WHERE = "/declared_overrides/time/declared_world_time";

const move = (
  declared: Partial<ClockDeclaration> = {},
  from: Partial<ClockState> = {},
  items: readonly ScheduledItem[] = [],
) => moveClock(zones, { ...state, ...from }, { ...beat, ...declared }, items);

describe("a clock", () => {
  it("stands still where nobody declares a time", () => {
    expect(move({ elapsed_ms: 99_999 })).toEqual({
      clock_ms: NOON,
      zone: "UTC",
      paused: false,
      world_time: "2026-01-01T12:00:00+00:00",
      due: [],
    });
  });

  it("is moved by nothing at a NO_OP", () => {
    const everything = { declared_world_time: "2026-01-02T00:00:00Z", timezone: "Asia/Tokyo", pause_time: true };
    const items = [{ item_id: "a", state: "SCHEDULED", time_ms: NOON + 1 }];
    expect(move({ ...everything, kind: "NO_OP" }, { policy: { kind: "step", step_ms: 5 } }, items)).toMatchObject({
      clock_ms: NOON,
      zone: "UTC",
      paused: false,
      due: [],
    });
    expect(move({ kind: "NO_OP" }, { paused: true }).paused).toBe(true);
  });

  it("goes where somebody says, also when it is paused, in the zone that is said", () => {
    const declared_world_time = "2026-01-01T22:00:00";
    expect(move({ declared_world_time }).clock_ms).toBe(NOON + 10 * 3_600_000);
    expect(move({ declared_world_time, timezone: "Asia/Tokyo" }, { paused: true })).toEqual({
      clock_ms: NOON + 3_600_000,
      zone: "Asia/Tokyo",
      paused: true,
      world_time: "2026-01-01T22:00:00+09:00",
      due: [],
    });
    expect(move({ declared_world_time: "2026-01-01T12:00:00Z" }).clock_ms).toBe(NOON);
  });

  it("never goes back, not even by a millisecond", () => {
    expect(() => move({ declared_world_time: "2026-01-01T11:59:59.999Z" })).toThrow(
      expect.objectContaining({ code: "TIME_NOT_MONOTONIC", where: WHERE }),
    );
  });

  it("is refused a zone that nobody knows and a time that is none", () => {
    expect(() => move({ timezone: "Sea/Atlantis" })).toThrow(
      expect.objectContaining({ code: "TIME_ZONE_UNKNOWN", where: "/declared_overrides/time/timezone" }),
    );
    expect(() => move({ declared_world_time: "noon" })).toThrow(
      expect.objectContaining({ code: "TIME_FORMAT_INVALID", where: WHERE }),
    );
  });

  it.each<[string, Partial<ClockDeclaration>, Partial<ClockState>, number, boolean]>([
    ["runs", {}, {}, 5, false],
    ["stands while it is paused", {}, { paused: true }, 0, true],
    ["stands when it is paused now", { pause_time: true }, {}, 0, true],
    ["stands once more when it goes on now", { pause_time: false }, { paused: true }, 0, false],
  ])("%s", (_what, declared, from, ms, paused) => {
    const policy: TimePolicy = { kind: "step", step_ms: 5 };
    expect(move(declared, { policy, ...from })).toMatchObject({ clock_ms: NOON + ms, paused });
  });

  it.each<[TimePolicy, number, number]>([
    [{ kind: "step", step_ms: 60_000 }, 999, 60_000],
    [{ kind: "rate", rate_milli: 1000 }, 1234, 1234],
    [{ kind: "rate", rate_milli: 1500 }, 3, 4],
    [{ kind: "rate", rate_milli: 1000 }, -5, 0],
    [{ kind: "rate", rate_milli: 1000 }, 3_600_000, 3_600_000],
    [{ kind: "rate", rate_milli: 1000 }, 3_600_001, 3_600_000],
    [{ kind: "rate", rate_milli: 2000, max_elapsed_ms: 10 }, 11, 20],
  ])("with %j after %i ms goes on by %i", (policy, elapsed_ms, ms) => {
    expect(move({ elapsed_ms }, { policy }).clock_ms).toBe(NOON + ms);
  });

  it("does not run over the last instant", () => {
    const policy: TimePolicy = { kind: "step", step_ms: 1 };
    expect(move({}, { policy, clock_ms: 253_402_300_799_998 }).clock_ms).toBe(253_402_300_799_999);
    expect(() => move({}, { policy, clock_ms: 253_402_300_799_999 })).toThrow(
      expect.objectContaining({ code: "TIME_OUT_OF_RANGE", where: WHERE }),
    );
  });
});

it("what lies after the old time and up to the new one is due, by time and then by creation", () => {
  const item = (item_id: string, time_ms: number | null, itemState = "SCHEDULED") => ({
    item_id,
    state: itemState,
    time_ms,
  });
  const { due } = move({}, { policy: { kind: "step", step_ms: 10 } }, [
    item("late", NOON + 10),
    item("never", null),
    item("past", NOON),
    item("after", NOON + 11),
    item("done", NOON + 5, "DONE"),
    item("second", NOON + 5),
    item("third", NOON + 5),
    item("first", NOON + 1),
  ]);
  expect(due).toEqual(["first", "second", "third", "late"]);
});
