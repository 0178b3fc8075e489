import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { formatCliPage } from "./docs/cli-page.ts";
import { formatConfigPage } from "./docs/config-page.ts";
import { formatErrorPage } from "./docs/error-page.ts";
import { formatFloorPlan, readFolderGraph } from "./docs/floor-plan.ts";
import { formatMigrations } from "./docs/migrations.ts";
import { drawPicture, PICTURES } from "./docs/pictures.ts";
import { formatRoomMethods } from "./docs/room-methods.ts";
import { formatTroubleshootingPage } from "./docs/troubleshooting-page.ts";
import { reportFindings } from "./findings.ts";
import { ROOT } from "./stages.ts";

const END = "<!-- end of generated part -->";

/** Puts text between the markers of a page; a page without them is an error, not a silent no-op. */
export function replaceBetweenMarkers(page: string, text: string, name = "floor plan"): string {
  const mark = `<!-- generated: ${name} -->`;
  const begin = page.indexOf(mark);
  const end = page.indexOf(END, begin);
  if (begin === -1 || end === -1) throw new Error(`the page has no ${mark} ... ${END}`);
  return `${page.slice(0, begin + mark.length)}\n\n${text}\n${page.slice(end)}`;
}

async function main(): Promise<void> {
  const architecture = join(ROOT, "ARCHITECTURE.md");
  const pages = new Map<string, string>([
    [join(ROOT, "docs/errors.md"), await formatErrorPage()],
    [join(ROOT, "docs/cli.md"), await formatCliPage()],
    [join(ROOT, "docs/configuration.md"), formatConfigPage()],
    [join(ROOT, "docs/troubleshooting.md"), formatTroubleshootingPage()],
    [join(ROOT, "src/app/room-methods.ts"), await formatRoomMethods()],
    ...(["sqlite", "postgres"] as const).map(
      (one) => [join(ROOT, `src/adapters/sql/${one}/migrations/index.ts`), formatMigrations(ROOT, one)] as const,
    ),
    ...Object.entries(PICTURES).map(
      ([name, one]) => [join(ROOT, `docs/images/${name}.svg`), drawPicture(one)] as const,
    ),
    [architecture, replaceBetweenMarkers(readFileSync(architecture, "utf8"), formatFloorPlan(readFolderGraph()))],
  ]);
  const stale = [...pages].filter(([file, text]) => !existsSync(file) || readFileSync(file, "utf8") !== text);
  if (process.argv.includes("--check")) {
    const findings = stale.map(([file]) => `${file.slice(ROOT.length)} is not what the source says; run: npm run docs`);
    reportFindings(findings, `${pages.size} generated pages and files`);
    return;
  }
  for (const [file, text] of stale) {
    writeFileSync(file, text);
    console.log(`wrote ${file.slice(ROOT.length)}`);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main();
