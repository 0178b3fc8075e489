import { rmSync, writeFileSync } from "node:fs";

/**
 * What lies on top of a hidden file. Nobody may write to it, so where a view is mounted again after a kill it is made anew:
 * an ordinary user could not open the old one.
 */
export function writeNothing(place: string): void {
  rmSync(place, { force: true });
  writeFileSync(place, "", { mode: 0o444, flag: "wx" });
}
