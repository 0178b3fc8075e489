import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { inlineScripts, SCRIPTS_INLINED } from "../../tools/inline-scripts.ts";

// Guards: a bundle holds every script that its sources read, because the file is not there where the bundle runs.

function plantModule(script: string): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-scripts-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, "scripts"));
  writeFileSync(join(root, "scripts/a.pl"), script);
  return join(root, "module.ts");
}

it("puts the text of a script into the module, and leaves its lines where they are", () => {
  const module = plantModule('print "$x\\n"; # `$no`\n');
  const call = 'readFileSync(\n  new URL("./scripts/a.pl", import.meta.url),\n  "utf8",\n)';
  const made = inlineScripts(`const a = ${call};\nconst b = 1;\n`, module);
  expect(made).toBe('const a = "print \\"$x\\\\n\\"; # `$no`\\n"\n\n\n;\nconst b = 1;\n');
  const short = 'const a = readFileSync(new URL("./scripts/a.pl", import.meta.url), "utf8");\n';
  expect(inlineScripts(short, module)).toBe('const a = "print \\"$x\\\\n\\"; # `$no`\\n";\n');
});

it.each([
  'readFileSync(new URL("./scripts/a.pl", import.meta.url))',
  'readFileSync(join(import.meta.dirname, "./scripts/a.pl"), "utf8")',
  'const place = new URL("./scripts/a.pl", import.meta.url);',
])("refuses a script that a bundle would miss: %s", (code) => {
  expect(() => inlineScripts(code, plantModule("1;\n"))).toThrow("a script is read by readFileSync(new URL(");
});

it("refuses a script that is not there, and leaves other modules alone", () => {
  const call = 'readFileSync(new URL("./scripts/b.pl", import.meta.url), "utf8")';
  expect(() => inlineScripts(call, plantModule("1;\n"))).toThrow("ENOENT");
  expect(SCRIPTS_INLINED.transform("export const a = 1;\n", "/nowhere/module.ts")).toBeNull();
});
