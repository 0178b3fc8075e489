import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const READ = /readFileSync\(\s*new URL\("(\.\/scripts\/[^"]+)", import\.meta\.url\),\s*"utf8",?\s*\)/g;

/**
 * A module with the scripts it reads written into it: a bundle is elsewhere than its sources, and a script must not cost a
 * file to be found. A script that is read in any other form would be missing there, so it is refused.
 */
export function inlineScripts(code: string, file: string): string {
  const inlined = code.replace(READ, (call, path: string) => {
    // Lines stay where they are, so that a map of lines is true.
    const breaks = call.replace(/[^\n]/g, "");
    return JSON.stringify(readFileSync(join(dirname(file), path), "utf8")) + breaks;
  });
  if (!inlined.includes('"./scripts/')) return inlined;
  throw new Error(`${file}: a script is read by readFileSync(new URL("./scripts/NAME", import.meta.url), "utf8")`);
}

/** The same for rolldown. */
export const SCRIPTS_INLINED = {
  name: "scripts",
  transform(code: string, file: string) {
    if (!code.includes("./scripts/")) return null;
    const lines = code.split("\n").length;
    const map = { version: 3, sources: [file], names: [], mappings: `AAAA${";AACA".repeat(lines - 1)}` };
    return { code: inlineScripts(code, file), map };
  },
};
