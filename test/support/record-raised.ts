import { mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";

// Loaded before every test file, and therefore small: what the source raises in this worker is written down for the end.

const folder = process.env["VERBATIM_RAISED_FOLDER"];
const seen = new Set<string>();

if (folder !== undefined) {
  mkdirSync(folder, { recursive: true });
  // Opened once: a test may take away its own rights to open files.
  const file = openSync(join(folder, String(process.pid)), "a");
  Object.assign(globalThis, {
    // Set for the recorder that tools/raised-codes.ts puts around every code.
    [Symbol.for("verbatim.raised")]: <T extends string>(code: T): T => {
      if (!seen.has(code)) writeSync(file, `${code}\n`);
      seen.add(code);
      return code;
    },
  });
}
