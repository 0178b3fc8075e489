import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { replaceBetweenMarkers } from "./build-docs.ts";
import { countFigures, formatFigures } from "./figures/table.ts";
import { reportFindings } from "./findings.ts";
import { ROOT } from "./stages.ts";

// How far the house is from its plan, counted from the sources. Prints the table and writes it into ARCHITECTURE.md;
// `--check` only says whether it is there, `--list` names what was counted. Not part of the gate: the figures move with
// every change, and watching two calls of the program takes a while.

function main(args: readonly string[]): void {
  const figures = countFigures(ROOT);
  const table = formatFigures(figures);
  console.log(table);
  if (args.includes("--list")) {
    for (const { name, found } of figures) console.log(`${name}\n${found.map((one) => `  ${one}`).join("\n")}\n`);
  }
  const page = join(ROOT, "ARCHITECTURE.md");
  const before = readFileSync(page, "utf8");
  const after = replaceBetweenMarkers(before, table, "figures");
  if (!args.includes("--check")) {
    if (after !== before) writeFileSync(page, after);
    return;
  }
  reportFindings(after === before ? [] : ["ARCHITECTURE.md shows older figures; run: npm run figures"], "the figures");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) main(process.argv.slice(2));
