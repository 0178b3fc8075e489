import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sortedByCodePoint } from "../src/core/canonical/index.ts";
import { ROOT } from "./stages.ts";

// Writes src/rooms/context/markdown/entity-table.ts from a JSON map of HTML5 entity names to characters.

const SOURCE = "node_modules/entities/lib/maps/entities.json";
const TARGET = "src/rooms/context/markdown/entity-table.ts";
const WIDTH = 112;

const map = JSON.parse(readFileSync(process.argv[2] ?? join(ROOT, SOURCE), "utf8")) as Record<string, string>;

const lines: string[] = [];
let line = "";
for (const name of sortedByCodePoint(Object.keys(map))) {
  const numbers = Array.from(map[name]!, (character) => character.codePointAt(0)!.toString(36));
  const entry = `${name}:${numbers.join("+")}`;
  if (line.length + entry.length + 1 > WIDTH) {
    lines.push(line);
    line = entry;
  } else line = line === "" ? entry : `${line} ${entry}`;
}
if (line !== "") lines.push(line);

const text = `/**
 * The named character references of HTML5 that end in a semicolon, as \`name:code points in base 36\`.
 * Made by tools/entity-table.ts.
 */
export const ENTITY_TABLE: readonly string[] = [
${lines.map((entries) => `  ${JSON.stringify(entries)},\n`).join("")}];
`;
writeFileSync(join(ROOT, TARGET), text);
