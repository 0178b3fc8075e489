import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";

// Guards: the page is written against the types of the operations. Fields of four answers are renamed in one go, and each
// must break exactly the screen that shows it; a page with types of its own would build and show nothing.

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const cache = join(ROOT, "node_modules/.cache");
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, "verbatim-canary-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The operation, the field that gets another name, and the file that shows it. */
const RENAMED = [
  ["studio.home", "needs_you", "web/src/screens/home/HomeScreen.tsx"],
  ["studio.sessions", "sessions", "web/src/screens/settings/AccessPart.tsx"],
  ["hall.doctor", "checks", "web/src/screens/settings/DoctorPart.tsx"],
  ["agent.show", "timeline", "web/src/screens/runs/TimelinePart.tsx"],
] as const;

/** The built declarations: the same types as src/api.ts, without checking the whole product again. */
const API = relative(folder, join(ROOT, "dist/types/api.d.ts"));
const CANARY = `import type { Operations as Real } from "${API}";
export type { Events, OperationName } from "${API}";
type Renamed = { ${RENAMED.map(([operation, field]) => `"${operation}": "${field}"`).join("; ")} };
type Output<N extends keyof Real> = N extends keyof Renamed
  ? Omit<Real[N]["output"], Renamed[N]> & { readonly [K in \`\${Renamed[N]}_renamed\`]: unknown }
  : Real[N]["output"];
export type Operations = { readonly [N in keyof Real]: { readonly input: Real[N]["input"]; readonly output: Output<N> } };
`;

it("breaks the build of the page when a field that it shows gets another name, and only there", async () => {
  writeFileSync(join(folder, "api.ts"), CANARY);
  const settings = {
    extends: join(ROOT, "web/tsconfig.json"),
    compilerOptions: { noEmit: true, skipLibCheck: true, paths: { "verbatim-agent/api": ["./api.ts"] } },
    // Only the screens with a renamed field and what they import: this is asked with every run of the tests.
    files: [...new Set(RENAMED.map(([, , file]) => join(ROOT, file)))],
    include: [],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
  const said = await compile();
  for (const [, field, file] of RENAMED) expect(said).toMatch(new RegExp(`${file}.*Property '${field}'`));
  const files = [...said.matchAll(/(web\/src\/[^(\s]+)\(\d+,\d+\): error/g)].map(([, file]) => file);
  expect([...new Set(files)].sort()).toEqual(RENAMED.map(([, , file]) => file).sort());
});

function compile(): Promise<string> {
  const tsc = join(ROOT, "node_modules/.bin/tsc");
  return new Promise((resolve) => {
    execFile(tsc, ["-p", folder, "--pretty", "false"], { cwd: ROOT, maxBuffer: 1 << 26 }, (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    );
  });
}
