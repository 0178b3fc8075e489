import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";

// Loaded before every test file, and therefore small: what the source raises in this worker is written down for the end.

const folder = process.env["VERBATIM_RAISED_FOLDER"];
const seen = new Set<unknown>();

if (folder !== undefined) {
  mkdirSync(folder, { recursive: true });
  Object.assign(globalThis, {
    // Set for the recorder that tools/raised-codes.ts puts around every code.
    [Symbol.for("verbatim.raised")]: <T>(code: T): T => {
      if (!seen.has(code)) appendFileSync(join(folder, String(process.pid)), `${code}\n`);
      seen.add(code);
      return code;
    },
  });
}
