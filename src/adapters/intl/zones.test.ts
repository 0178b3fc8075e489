import { expect, it } from "vitest";
import { makeZones } from "./zones.ts";

const zones = makeZones();

it("knows IANA names, also old and short ones", () => {
  for (const name of ["Europe/London", "Asia/Kolkata", "America/Argentina/Ushuaia", "Etc/GMT+5", "UTC", "EST", "CET"]) {
    expect(zones.isKnown(name), name).toBe(true);
  }
});

it("knows no abbreviation and no other name that only the library behind it knows", () => {
  const abbreviations =
    "ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT IET IST JST MIT NET NST PLT PNT PRT PST SST VST";
  for (const name of [...abbreviations.split(" "), "bst", "EDT", "SystemV/PST8", "Europe/Nowhere", "+01:00"]) {
    expect(zones.isKnown(name), name).toBe(false);
  }
});

it("gives the same offset at every second of a minute", () => {
  const minute = Date.UTC(2026, 6, 1, 12, 0);
  for (let second = 0; second < 60; second++) {
    const at = minute + second * 1000 + 381;
    expect(zones.offsetMinutes("America/New_York", at), `second ${second}`).toBe(-240);
    expect(zones.offsetMinutes("Asia/Kolkata", at), `second ${second}`).toBe(330);
  }
  expect(zones.offsetMinutes("Asia/Kolkata", Date.parse("1911-09-25T07:27:24.392Z"))).toBe(330);
  expect(zones.offsetMinutes("America/New_York", Date.parse("5991-03-18T20:47:38.308Z"))).toBe(-240);
});

it("cuts offsets with seconds to whole minutes toward zero", () => {
  // Paris was 9 minutes and 21 seconds ahead, Monrovia 44 minutes and 30 seconds behind.
  expect(zones.offsetMinutes("Europe/Paris", Date.parse("1905-01-01T00:00:00Z"))).toBe(9);
  expect(zones.offsetMinutes("Africa/Monrovia", Date.parse("1960-01-01T00:00:00Z"))).toBe(-44);
});
