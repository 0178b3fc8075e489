import { expect, it } from "vitest";
import { makeZones } from "../../../adapters/intl/zones.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import { parseWritten, toInstant } from "./instant.ts";

const zones = makeZones();

function read(local: string, zone: string): string {
  try {
    return new Date(toInstant(zones, parseWritten(local, "", "optional"), zone, "")).toISOString();
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    return thrown.code;
  }
}

it.each([
  ["America/New_York", "2026-03-08T01:59:00", "2026-03-08T06:59:00.000Z"],
  ["America/New_York", "2026-03-08T02:30:00", "TIME_LOCAL_NONEXISTENT"],
  ["America/New_York", "2026-03-08T03:00:00", "2026-03-08T07:00:00.000Z"],
  ["America/New_York", "2026-11-01T00:59:00", "2026-11-01T04:59:00.000Z"],
  ["America/New_York", "2026-11-01T01:30:00", "TIME_LOCAL_AMBIGUOUS"],
  ["America/New_York", "2026-11-01T02:00:00", "2026-11-01T07:00:00.000Z"],
  ["America/Los_Angeles", "2026-03-08T02:30:00", "TIME_LOCAL_NONEXISTENT"],
  ["America/Los_Angeles", "2026-11-01T01:30:00", "TIME_LOCAL_AMBIGUOUS"],
  ["Europe/Berlin", "2026-03-29T02:30:00", "TIME_LOCAL_NONEXISTENT"],
  ["Europe/Berlin", "2026-10-25T02:30:00", "TIME_LOCAL_AMBIGUOUS"],
  ["Pacific/Auckland", "2026-09-27T02:30:00", "TIME_LOCAL_NONEXISTENT"],
  ["Pacific/Auckland", "2026-04-05T02:30:00", "TIME_LOCAL_AMBIGUOUS"],
])("in %s the wall clock shows %s: %s", (zone, local, expected) => {
  expect(read(local, zone)).toBe(expected);
});
