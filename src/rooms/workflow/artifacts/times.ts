const DATE = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/;
const CLOCK = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?$/;
const ZONE = /(?:[Zz]|[+-]([0-9]{2}):([0-9]{2}))$/;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Whether a text is a calendar date that exists. */
function isDate(text: string): boolean {
  const match = DATE.exec(text);
  if (match === null) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = month === 2 && leap ? 29 : (DAYS[month - 1] ?? 0);
  return day >= 1 && day <= days;
}

/** Whether a text is a date or an RFC 3339 time with a zone. */
export function isDateOrTime(text: string): boolean {
  if (isDate(text)) return true;
  const zone = ZONE.exec(text);
  if (zone === null || (text[10] !== "T" && text[10] !== "t")) return false;
  if (Number(zone[1] ?? 0) > 23 || Number(zone[2] ?? 0) > 59) return false;
  return isDate(text.slice(0, 10)) && isClock(text.slice(11, zone.index), 60);
}

/** Whether a text is the time of an event: `YYYY-MM-DDThh:mm:ss[.fff]Z`. */
export function isEventTime(text: string): boolean {
  const match = /^(.{10})T([0-9:]{8})(?:\.[0-9]{3})?Z$/.exec(text);
  return match !== null && isDate(match[1]!) && isClock(match[2]!, 59);
}

function isClock(text: string, mostSeconds: number): boolean {
  const match = CLOCK.exec(text);
  return match !== null && Number(match[1]) <= 23 && Number(match[2]) <= 59 && Number(match[3]) <= mostSeconds;
}
