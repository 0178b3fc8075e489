import type { Zones } from "../../rooms/world/ports.ts";

const MINUTE = 60_000;
/** Offsets of a zone rarely change, but a zone is asked about the same instants again and again. */
const KEEP = 512;

interface Zone {
  readonly format: Intl.DateTimeFormat;
  readonly offsets: Map<number, number>;
}

// Abbreviations that ICU knows next to the IANA names, some with a meaning nobody expects: its BST is in Asia.
const NOT_IANA =
  /^(?:A[CE]T|AGT|ART|AST|B[ES]T|CAT|C[NST]T|CTT|EAT|ECT|I[ES]T|JST|MIT|N[ES]T|P[LNRS]T|SST|VST|SystemV\/.*)$/i;

/** The time zones this Node knows by their IANA names. */
export function makeZones(): Zones {
  const zones = new Map<string, Zone | null>();
  const find = (name: string): Zone | null => {
    const known = zones.get(name);
    if (known !== undefined) return known;
    const made = makeZone(name);
    // Names come from outside; a flood of unknown ones must not fill the memory.
    if (zones.size < KEEP) zones.set(name, made);
    return made;
  };
  return {
    isKnown: (name) => find(name) !== null,
    offsetMinutes(name, ms) {
      const zone = find(name);
      if (zone === null) throw new RangeError(`unknown time zone ${name}`);
      const known = zone.offsets.get(ms);
      if (known !== undefined) return known;
      const second = Math.floor(ms / 1000) * 1000;
      const offset = Math.trunc((localMs(zone.format, second) - second) / MINUTE);
      if (zone.offsets.size >= KEEP) zone.offsets.clear();
      zone.offsets.set(ms, offset);
      return offset;
    },
  };
}

function makeZone(name: string): Zone | null {
  // An offset is not a zone, though newer versions of Node take one for it.
  if (!/^[A-Za-z]/.test(name) || NOT_IANA.test(name)) return null;
  try {
    const format = new Intl.DateTimeFormat("en-US-u-ca-iso8601-nu-latn", {
      timeZone: name,
      calendar: "gregory",
      hourCycle: "h23",
      era: "short",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
    });
    return { format, offsets: new Map() };
  } catch (thrown) {
    if (thrown instanceof RangeError) return null;
    throw thrown;
  }
}

/** Milliseconds of the local fields, as if they were UTC, at a whole second. */
function localMs(format: Intl.DateTimeFormat, second: number): number {
  const parts: Record<string, string> = {};
  for (const { type, value } of format.formatToParts(second)) parts[type] = value;
  const year = parts["era"]?.startsWith("B") === true ? 1 - Number(parts["year"]) : Number(parts["year"]);
  const date = new Date(0);
  date.setUTCFullYear(year, Number(parts["month"]) - 1, Number(parts["day"]));
  date.setUTCHours(Number(parts["hour"]), Number(parts["minute"]), Number(parts["second"]), 0);
  return date.getTime();
}
