import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
// What the configuration of the tests loads.
const NEEDED = [
  "vitest.config.ts",
  "tools/plain-reporter.ts",
  "tools/code-recorder.ts",
  "tools/counts.ts",
  "tools/raised-codes.ts",
  "tools/raised-table.ts",
  "tools/stages.ts",
  "test/support/record-raised.ts",
  "test/support/tidy-heap.ts",
  "src/core/errors",
  "src/core/text/slice-forms.ts",
];
const IMPORT = 'import { beforeAll, describe, expect, it } from "vitest";\n';

/** A folder with the configuration of our tests and with other tests, run by a vitest of its own. */
export interface SmallSuite {
  readonly folder: string;
  /** Adds files, test files among them, and runs what the arguments choose. */
  run(
    files: Readonly<Record<string, string>>,
    args?: readonly string[],
    env?: Readonly<Record<string, string>>,
  ): { readonly status: number | null; readonly last: string | undefined; readonly stdout: string };
  remove(): void;
}

export function makeSmallSuite(): SmallSuite {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-suite-"));
  for (const file of NEEDED) {
    cpSync(join(ROOT, file), join(folder, file), { recursive: true, filter: (path) => !path.endsWith(".test.ts") });
  }
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
  return {
    folder,
    run(files, args = [], more = {}) {
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), path.endsWith(".test.ts") ? `${IMPORT}${text}\n` : text);
      }
      const { VERBATIM_COUNTS_FILE: _ours, VERBATIM_RAISED_FOLDER: _raised, ...env } = process.env;
      const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
      const options = { cwd: folder, encoding: "utf8", env: { ...env, ...more } } as const;
      const { status, stdout } = spawnSync(process.execPath, [vitest, "run", ...args], options);
      return { status, last: stdout.trimEnd().split("\n").at(-1), stdout };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
