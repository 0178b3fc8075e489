const plural = new Intl.PluralRules("en");

/** A number with the thing it counts. */
export function count(number: number, one: string, other: string): string {
  return `${group(number)} ${plural.select(number) === "one" ? one : other}`;
}

/** A number as it is read: 10,442. */
export function group(number: number): string {
  return String(number).replace(/\B(?=(?:\d{3})+$)/g, ",");
}
