import { describe, expect, it } from "vitest";
import { makeZones } from "../../../adapters/intl/zones.ts";
import { formatInstant, parseInstant, parseWritten, requireRange, requireZone, toInstant } from "./instant.ts";

const zones = makeZones();
const local = (text: string, zone: string) => toInstant(zones, parseWritten(text, "/t", "optional"), zone, "/t");

describe("a time string", () => {
  it.each([
    "2026-02-29T00:00Z",
    "2026-13-01T00:00Z",
    "2026-01-01T24:00Z",
    "2026-01-01T00:60Z",
    "2026-01-01T00:00:60Z",
    "2026-01-01t00:00Z",
    "2026-01-01T00:00z",
    "2026-01-01T00:00-00:00",
    "2026-01-01T00:00+14:01",
    "2026-01-01T00:00+01:60",
    "2026-00-01T00:00Z",
    "2026-01-00T00:00Z",
    "2026-01-32T00:00Z",
    "2026-01-01T00:00+01",
    "2026-01-01T00:00:00.1234Z",
    "0000-01-01T00:00Z",
    "2026-01-01 00:00Z",
    "２026-01-01T00:00Z",
    "2026-01-01T00:00Z ",
    "2026-01-01T00:00",
  ])("is not %s", (text) => {
    expect(() => parseInstant(text, "/t")).toThrow(
      expect.objectContaining({ code: "TIME_FORMAT_INVALID", where: "/t" }),
    );
  });

  it("counts fractions by place, not by digits", () => {
    expect(parseInstant("2026-01-01T00:00:00.5Z", "/t")).toBe(Date.UTC(2026, 0, 1, 0, 0, 0, 500));
    expect(parseInstant("2026-01-01T00:00:00.05Z", "/t")).toBe(Date.UTC(2026, 0, 1, 0, 0, 0, 50));
  });

  it("has an instant inside the range, whatever its offset", () => {
    expect(parseInstant("0001-01-01T00:00Z", "/t")).toBe(-62_135_596_800_000);
    expect(() => parseInstant("0001-01-01T00:00+00:01", "/t")).toThrow(
      expect.objectContaining({ code: "TIME_OUT_OF_RANGE" }),
    );
    expect(() => parseInstant("9999-12-31T23:59:59.999-00:01", "/t")).toThrow(
      expect.objectContaining({ code: "TIME_OUT_OF_RANGE" }),
    );
  });
});

it("an offset goes up to 14 hours and 59 minutes of an hour, on both sides", () => {
  const noon = Date.UTC(2026, 0, 1, 12);
  expect(parseInstant("2026-01-01T12:00+14:00", "/t")).toBe(noon - 14 * 3_600_000);
  expect(parseInstant("2026-01-01T12:00-14:00", "/t")).toBe(noon + 14 * 3_600_000);
  expect(parseInstant("2026-01-01T12:00+01:59", "/t")).toBe(noon - 119 * 60_000);
  expect(parseInstant("2026-01-01T12:00+00:00", "/t")).toBe(noon);
});

it("a written offset decides, whatever the zone", () => {
  expect(local("2026-01-01T12:00-05:30", "Asia/Tokyo")).toBe(Date.UTC(2026, 0, 1, 17, 30));
  expect(() => local("9999-12-31T23:59-00:01", "UTC")).toThrow(expect.objectContaining({ code: "TIME_OUT_OF_RANGE" }));
});

it("the range ends with its first and last millisecond", () => {
  for (const ms of [-62_135_596_800_000, 253_402_300_799_999]) expect(requireRange(ms, "/t")).toBe(ms);
  for (const ms of [-62_135_596_800_001, 253_402_300_800_000]) {
    expect(() => requireRange(ms, "/t")).toThrow(expect.objectContaining({ code: "TIME_OUT_OF_RANGE", where: "/t" }));
  }
});

it("a zone has a name that this system knows", () => {
  expect(requireZone(zones, "America/Argentina/Buenos_Aires", "/z")).toBe("America/Argentina/Buenos_Aires");
  for (const zone of ["Sea/Atlantis", "", "+01:00", "utc/", "../UTC"]) {
    expect(() => requireZone(zones, zone, "/z")).toThrow(
      expect.objectContaining({ code: "TIME_ZONE_UNKNOWN", where: "/z" }),
    );
  }
});

it("a text that is no time is shown as far as forty signs", () => {
  const tell = (text: string) => () => parseInstant(text, "/t");
  expect(tell("x".repeat(40))).toThrow(`"${"x".repeat(40)}" is not a valid time`);
  expect(tell("x".repeat(41))).toThrow(`"${"x".repeat(40)}..." is not a valid time`);
});

describe("a local time", () => {
  it("that a whole day was skipped for does not exist", () => {
    expect(() => local("2011-12-30T12:00", "Pacific/Apia")).toThrow(
      expect.objectContaining({ code: "TIME_LOCAL_NONEXISTENT" }),
    );
  });

  it("of a zone with half an hour of summer time is found", () => {
    expect(formatInstant(zones, local("2026-01-15T12:00", "Australia/Lord_Howe"), "Australia/Lord_Howe")).toBe(
      "2026-01-15T12:00:00+11:00",
    );
    expect(() => local("2026-04-05T01:45", "Australia/Lord_Howe")).toThrow(
      expect.objectContaining({ code: "TIME_LOCAL_AMBIGUOUS" }),
    );
  });
});

describe("printing", () => {
  it.each([
    [Date.UTC(2026, 0, 2, 3, 4, 5), "UTC", "2026-01-02T03:04:05+00:00"],
    [Date.UTC(2026, 10, 12, 13, 14, 15, 16), "UTC", "2026-11-12T13:14:15.016+00:00"],
    [Date.UTC(2026, 0, 1, 0, 0), "America/St_Johns", "2025-12-31T20:30:00-03:30"],
    [Date.UTC(2026, 0, 1, 23, 59, 59), "Asia/Kathmandu", "2026-01-02T05:44:59+05:45"],
    [-1, "UTC", "1969-12-31T23:59:59.999+00:00"],
    [-62_135_596_800_000, "Asia/Tokyo", "0001-01-01T09:18:00+09:18"],
    [-62_135_596_800_000, "America/New_York", "0001-01-01T00:00:00+00:00"],
    [253_402_300_799_999, "Asia/Tokyo", "9999-12-31T23:59:59.999+00:00"],
    [253_402_300_799_999, "America/New_York", "9999-12-31T18:59:59.999-05:00"],
  ])("shows %i in %s as %s", (ms, zone, expected) => {
    expect(formatInstant(zones, ms, zone)).toBe(expected);
  });

  it("gives back the same instant for old zones whose offset has seconds", () => {
    for (const zone of ["Europe/Amsterdam", "America/New_York", "Africa/Monrovia", "Asia/Kolkata"]) {
      for (const ms of [-2_500_000_000_000, -1_800_000_000_123, -900_000_000_000, 0, 1_767_252_600_001]) {
        const printed = formatInstant(zones, ms, zone);
        expect(parseInstant(printed, "/t"), `${zone} ${printed}`).toBe(ms);
        expect(printed).not.toContain("Z");
      }
    }
  });
});

describe("the first and the last instants", () => {
  it.each(["America/New_York", "Asia/Tokyo", "UTC"])("are printed so that %s can be read back", (zone) => {
    for (const ms of [-62_135_596_800_000, 253_402_300_799_999]) {
      expect(parseInstant(formatInstant(zones, ms, zone), "/t")).toBe(ms);
    }
  });
});

it("a zone shows the first and the last millisecond that can be written, and UTC stands in beyond them", () => {
  const east = { ...zones, offsetMinutes: () => 60 };
  const west = { ...zones, offsetMinutes: () => -60 };
  expect(formatInstant(east, 253_402_300_799_999 - 3_600_000, "x")).toBe("9999-12-31T23:59:59.999+01:00");
  expect(formatInstant(east, 253_402_300_799_999 - 3_599_999, "x")).toBe("9999-12-31T23:00:00+00:00");
  expect(formatInstant(west, -62_135_596_800_000 + 3_600_000, "x")).toBe("0001-01-01T00:00:00-01:00");
  expect(formatInstant(west, -62_135_596_800_000 + 3_599_999, "x")).toBe("0001-01-01T00:59:59.999+00:00");
});
