import { daysOf, daysOfMonth, fieldsOf } from "../../../core/calendar-date.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { Zones } from "../ports.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;

/** 0001-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z. */
const FIRST_INSTANT = -62_135_596_800_000;
const LAST_INSTANT = 253_402_300_799_999;

/** A time as it was written: with an offset it is an instant, without one it is local time in some zone. */
interface WrittenTime {
  /** Milliseconds of the local fields as if they were UTC. */
  readonly local_ms: number;
  /** Minutes east of UTC; null when none was written. */
  readonly offset: number | null;
}

const GRAMMAR =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,3}))?)?(Z|[+-][0-9]{2}:[0-9]{2})?$/;

/** Reads the grammar of time strings; TIME_FORMAT_INVALID when it is not one. */
export function parseWritten(text: string, where: string, offset: "required" | "optional"): WrittenTime {
  const match = GRAMMAR.exec(text);
  if (match === null) throw invalid(text, where);
  const [, year, month, day, hour, minute, second = "0", fraction = "", zone] = match;
  const date = { year: Number(year), month: Number(month), day: Number(day) };
  const inDate =
    date.year >= 1 &&
    date.month >= 1 &&
    date.month <= 12 &&
    date.day >= 1 &&
    date.day <= daysOfMonth(date.year, date.month);
  const inDay = Number(hour) <= 23 && Number(minute) <= 59 && Number(second) <= 59;
  if (!inDate || !inDay || (zone === undefined && offset === "required")) throw invalid(text, where);
  const time = (Number(hour) * 60 + Number(minute)) * MINUTE + Number(second) * 1000 + Number(fraction.padEnd(3, "0"));
  return { local_ms: daysOf(date) * DAY + time, offset: zone === undefined ? null : parseOffset(zone, text, where) };
}

function parseOffset(zone: string, text: string, where: string): number {
  if (zone === "Z") return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(4, 6));
  const total = hours * 60 + minutes;
  if (minutes > 59 || total > 14 * 60 || zone === "-00:00") throw invalid(text, where);
  return zone.startsWith("-") ? -total : total;
}

/** The instant of a time string with an offset. */
export function parseInstant(text: string, where: string): number {
  const { local_ms, offset } = parseWritten(text, where, "required");
  return requireRange(local_ms - (offset ?? 0) * MINUTE, where);
}

/** The instant of a written time; without an offset it is local time in the zone. */
export function toInstant(zones: Zones, written: WrittenTime, zone: string, where: string): number {
  const { local_ms, offset } = written;
  if (offset !== null) return requireRange(local_ms - offset * MINUTE, where);
  // A zone changes its offset at most once in two days, so these three see every offset that can apply.
  const offsets = new Set([-DAY, 0, DAY].map((shift) => zones.offsetMinutes(zone, local_ms + shift)));
  const fitting = [...offsets]
    .map((minutes) => ({ ms: local_ms - minutes * MINUTE, minutes }))
    .filter(({ ms, minutes }) => zones.offsetMinutes(zone, ms) === minutes);
  const [only, other] = fitting;
  if (only === undefined) throw new VerbatimError("TIME_LOCAL_NONEXISTENT", { where, details: { zone } });
  if (other !== undefined) throw new VerbatimError("TIME_LOCAL_AMBIGUOUS", { where, details: { zone } });
  return requireRange(only.ms, where);
}

/** The instant itself, or TIME_OUT_OF_RANGE. */
export function requireRange(ms: number, where: string): number {
  if (ms >= FIRST_INSTANT && ms <= LAST_INSTANT) return ms;
  throw new VerbatimError("TIME_OUT_OF_RANGE", { where });
}

/** ISO-8601 with offset, never `Z`: seconds always, milliseconds only when they are not zero. */
export function formatInstant(zones: Zones, ms: number, zone: string): string {
  const own = zones.offsetMinutes(zone, ms);
  // In the first and last hours of the range a zone may show a year that cannot be written; UTC never does.
  const offset = ms + own * MINUTE < FIRST_INSTANT || ms + own * MINUTE > LAST_INSTANT ? 0 : own;
  const local = ms + offset * MINUTE;
  const days = Math.floor(local / DAY);
  const rest = local - days * DAY;
  const { year, month, day } = fieldsOf(days);
  const seconds = Math.floor(rest / 1000);
  const millis = rest % 1000;
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].map(two).join(":");
  const fraction = millis === 0 ? "" : `.${String(millis).padStart(3, "0")}`;
  const away = Math.abs(offset);
  const sign = offset < 0 ? "-" : "+";
  const date = `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}`;
  return `${date}T${clock}${fraction}${sign}${two(Math.floor(away / 60))}:${two(away % 60)}`;
}

const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+){0,2}$/;

/** The zone itself, or TIME_ZONE_UNKNOWN. */
export function requireZone(zones: Zones, zone: string, where: string): string {
  if (ZONE_NAME.test(zone) && zones.isKnown(zone)) return zone;
  throw new VerbatimError("TIME_ZONE_UNKNOWN", { message: `${JSON.stringify(zone)} is not a time zone`, where });
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

function invalid(text: string, where: string): VerbatimError {
  const shown = text.length > 40 ? `${text.slice(0, 40).toWellFormed()}...` : text;
  return new VerbatimError("TIME_FORMAT_INVALID", { message: `${JSON.stringify(shown)} is not a valid time`, where });
}
