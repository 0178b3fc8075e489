import { mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";

// Loaded before every test file, and therefore small: what the source raises in this worker is written down for the end.

const folder = process.env["VERBATIM_RAISED_FOLDER"];
const slot = Symbol.for("verbatim.raised");

// A worker may run several files, with modules that keep the first recorder.
if (folder !== undefined && !(slot in globalThis)) {
  mkdirSync(folder, { recursive: true });
  // Opened once: a test may take away its own rights to open files.
  const file = openSync(join(folder, String(process.pid)), "a");
  const seen = new Set<string>();
  Object.assign(globalThis, {
    // For what tools/code-recorder.ts puts around every code.
    [slot]: <T>(code: T): T => {
      if (typeof code !== "string" || seen.has(code)) return code;
      seen.add(code);
      if (/^[A-Z][A-Z0-9_]+$/.test(code)) writeSync(file, `${code}\n`);
      return code;
    },
  });
}
