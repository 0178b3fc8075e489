import { expect, it } from "vitest";
import { daysOf, daysOfMonth, fieldsOf } from "./calendar-date.ts";

const DAY = 86_400_000;

it("months have their days, February by the year", () => {
  expect([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map((month) => daysOfMonth(2025, month))).toEqual([
    31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31,
  ]);
  expect([4, 100, 400, 1900, 2000, 2023, 2024, 2100].map((year) => daysOfMonth(year, 2))).toEqual([
    29, 28, 29, 28, 29, 28, 29, 28,
  ]);
  expect([1, 3].map((month) => daysOfMonth(2024, month))).toEqual([31, 31]);
});

it("every day of 801 years, and the first and last years, is counted as the platform counts it", () => {
  const years = [...Array.from({ length: 801 }, (_, i) => 1599 + i), 1, 2, 3, 4, 99, 100, 101, 400, 401, 9998, 9999];
  for (const year of years) {
    for (let month = 1; month <= 12; month++) {
      for (const day of [1, 2, daysOfMonth(year, month)]) {
        const date = new Date(0);
        date.setUTCFullYear(year, month - 1, day);
        const days = date.getTime() / DAY;
        if (daysOf({ year, month, day }) !== days) expect([year, month, day, daysOf({ year, month, day })]).toBe(days);
        const fields = fieldsOf(days);
        if (fields.year !== year || fields.month !== month || fields.day !== day) {
          expect(fields).toEqual({ year, month, day });
        }
      }
    }
  }
  expect(daysOf({ year: 1970, month: 1, day: 1 })).toBe(0);
  expect(fieldsOf(-1)).toEqual({ year: 1969, month: 12, day: 31 });
  expect(fieldsOf(11_016)).toEqual({ year: 2000, month: 2, day: 29 });
});
