import { fieldsOf } from "./calendar-date.ts";

/** RFC 3339 UTC with milliseconds (`2025-01-02T03:04:05.000Z`) of milliseconds since 1970, for years 0..9999. */
export function formatTime(ms: number): string {
  const days = Math.floor(ms / 86_400_000);
  const rest = ms - days * 86_400_000;
  const { year, month, day } = fieldsOf(days);
  const date = `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
  const hour = Math.floor(rest / 3_600_000);
  const minute = Math.floor(rest / 60_000) % 60;
  const second = Math.floor(rest / 1000) % 60;
  return `${date}T${pad(hour, 2)}:${pad(minute, 2)}:${pad(second, 2)}.${pad(rest % 1000, 3)}Z`;
}

/** Milliseconds since an earlier look at a clock; none where it was set back meanwhile, because no time is negative. */
export function elapsedSince(clock: { now(): number }, begun: number): number {
  return Math.max(0, clock.now() - begun);
}

const TIME = /^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z$/;

/** Whether a text is a time as the ledger writes it. */
export function isTime(text: string): boolean {
  return TIME.test(text);
}

/** Milliseconds since 1970 of a time as the ledger writes it. */
export function parseTime(text: string): number {
  const [year, month, day, hour, minute, second, ms] = [0, 5, 8, 11, 14, 17, 20].map((at, i) =>
    Number(text.slice(at, at + (i === 0 ? 4 : i === 6 ? 3 : 2))),
  ) as [number, number, number, number, number, number, number];
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  const days = era * 146_097 + dayOfEra - 719_468;
  return (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + ms;
}

function pad(value: number, width: number): string {
  return String(value).padStart(width, "0");
}
