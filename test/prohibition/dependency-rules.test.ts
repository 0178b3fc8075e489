import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

// Guards: the directions of ARCHITECTURE.md. A checker that reads no file also finds nothing, so each rule
// has a planted violation here, and the real tree must have been read.

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const CONFIG = ".dependency-cruiser.cjs";

interface Planted {
  readonly rule: string;
  readonly from: string;
  readonly source: string;
  /** How the imported module shows in the report. */
  readonly to: string;
}

const TARGETS: Readonly<Record<string, string>> = {
  "src/core/target.ts": "export const core = 1;\n",
  "src/rooms/jobs/target.ts": "export const room = 1;\n",
  "src/rooms/jobs/ports.ts": "export interface Port { readonly a: number }\n",
  "src/adapters/disk/target.ts": "export const adapter = 1;\n",
  "src/app/target.ts": "export const app = 1;\n",
  "src/surfaces/http/target.ts": "export const surface = 1;\n",
  "src/index.ts": "export const entry = 1;\n",
  "src/core/ring-a.ts": 'import { b } from "./ring-b.ts";\nexport const a = () => b;\n',
  "src/core/ring-b.ts": 'import { a } from "./ring-a.ts";\nexport const b = () => a;\n',
  "src/core/allowed-a.ts": 'import { b } from "./allowed-b.ts";\nexport type A = typeof b;\n',
  "src/core/allowed-b.ts": 'import type { A } from "./allowed-a.ts";\nexport const b = (a: A): A => a;\n',
  "src/adapters/disk/allowed.ts": 'import type { Port } from "../../rooms/jobs/ports.ts";\nexport type P = Port;\n',
  "src/rooms/jobs/index.ts": 'export { room } from "./target.ts";\n',
  "src/rooms/jobs/contracts/shape.ts": "export interface Shape { readonly a: number }\n",
  "src/adapters/git/allowed.ts":
    'import type { Shape } from "../../rooms/jobs/contracts/shape.ts";\nexport type S = Shape;\n',
  "src/app/door.ts": 'import { room } from "../rooms/jobs/index.ts";\nexport const r = room;\n',
  "src/rooms/world/allowed.ts": 'import { z } from "zod";\nexport const schema = z.string();\n',
  "src/app/compose/allowed.ts": 'import { adapter } from "../../adapters/disk/target.ts";\nexport const a = adapter;\n',
  "src/core/ignored.test.ts": 'import { readFileSync } from "node:fs";\nexport const t = readFileSync;\n',
};

const PLANTED: readonly Planted[] = [
  plant("no-circular", "src/core/ring-a.ts", null, "src/core/ring-b.ts"),
  plant("no-unresolved", "src/app/lost.ts", "./nowhere.ts", "./nowhere.ts"),
  plant("core-imports-core-only", "src/core/bad.ts", "../rooms/jobs/target.ts", "src/rooms/jobs/target.ts"),
  plant("core-and-rooms-without-node", "src/core/node.ts", "node:fs", "fs"),
  plant("core-and-rooms-without-node", "src/rooms/jobs/node.ts", "crypto", "crypto"),
  plant("core-and-rooms-without-node", "src/rooms/world/node.ts", "node:sqlite", "node:sqlite"),
  plant("rooms-never-each-other", "src/rooms/world/bad.ts", "../jobs/target.ts", "src/rooms/jobs/target.ts"),
  plant(
    "rooms-import-core-only",
    "src/rooms/jobs/bad.ts",
    "../../adapters/disk/target.ts",
    "src/adapters/disk/target.ts",
  ),
  plant("rooms-import-core-only", "src/rooms/jobs/worse.ts", "../../app/target.ts", "src/app/target.ts"),
  plant(
    "adapters-import-core-and-ports",
    "src/adapters/git/bad.ts",
    "../../rooms/jobs/target.ts",
    "src/rooms/jobs/target.ts",
  ),
  {
    rule: "adapters-import-core-and-ports",
    from: "src/adapters/git/types.ts",
    source: 'import type * as room from "../../rooms/jobs/target.ts";\nexport type R = typeof room;\n',
    to: "src/rooms/jobs/target.ts",
  },
  plant("rooms-by-their-front-door", "src/app/deep.ts", "../rooms/jobs/target.ts", "src/rooms/jobs/target.ts"),
  plant("rooms-by-their-front-door", "src/world.ts", "./rooms/jobs/target.ts", "src/rooms/jobs/target.ts"),
  plant("nobody-inside-uses-the-front-door", "src/rooms/jobs/inside.ts", "./index.ts", "src/rooms/jobs/index.ts"),
  plant("adapters-below-the-app", "src/adapters/git/worse.ts", "../../app/target.ts", "src/app/target.ts"),
  plant(
    "only-compose-imports-adapters",
    "src/app/hooks/bad.ts",
    "../../adapters/disk/target.ts",
    "src/adapters/disk/target.ts",
  ),
  plant(
    "only-compose-imports-adapters",
    "src/app/composed.ts",
    "../adapters/disk/target.ts",
    "src/adapters/disk/target.ts",
  ),
  plant("only-compose-imports-adapters", "src/jobs.ts", "./adapters/disk/target.ts", "src/adapters/disk/target.ts"),
  plant("app-not-surfaces", "src/app/bad.ts", "../surfaces/http/target.ts", "src/surfaces/http/target.ts"),
  plant(
    "surfaces-import-app-and-core",
    "src/surfaces/cli/bad.ts",
    "../../rooms/jobs/target.ts",
    "src/rooms/jobs/target.ts",
  ),
  plant(
    "surfaces-import-app-and-core",
    "src/surfaces/cli/worse.ts",
    "../../adapters/disk/target.ts",
    "src/adapters/disk/target.ts",
  ),
  plant("surfaces-never-each-other", "src/surfaces/cli/http.ts", "../http/target.ts", "src/surfaces/http/target.ts"),
  plant("main-above-the-surfaces", "src/main.ts", "./adapters/disk/target.ts", "src/adapters/disk/target.ts"),
  plant("nobody-imports-an-entry", "src/app/entry.ts", "../index.ts", "src/index.ts"),
  plant("browser-entries-stay-pure", "src/verify.ts", "./adapters/disk/target.ts", "src/adapters/disk/target.ts"),
  plant("npm-not-for-development", "src/app/tool.ts", "fast-check", "fast-check"),
  plant("npm-core-and-rooms-zod-only", "src/core/npm.ts", "commander", "commander"),
  plant("npm-core-and-rooms-zod-only", "src/rooms/jobs/npm.ts", "pg", "pg"),
  plant("npm-database-in-adapters", "src/app/npm.ts", "pg", "pg"),
  plant("npm-database-in-adapters", "src/surfaces/http/npm.ts", "pg", "pg"),
  plant("npm-database-in-adapters", "src/rooms/jobs/sqlite.ts", "@photostructure/sqlite", "@photostructure/sqlite"),
  plant("npm-terminal-in-cli", "src/app/terminal.ts", "@clack/prompts", "@clack/prompts"),
  plant("npm-terminal-in-cli", "src/surfaces/http/terminal.ts", "commander", "commander"),
  plant("npm-protocols-in-their-surface", "src/app/protocol.ts", "hono", "hono"),
  plant("npm-protocols-in-their-surface", "src/surfaces/mcp/protocol.ts", "@hono/node-server", "@hono/node-server"),
  plant(
    "npm-mcp-in-its-surface",
    "src/surfaces/http/protocol.ts",
    "@modelcontextprotocol/server",
    "@modelcontextprotocol/server",
  ),
];

function plant(rule: string, from: string, specifier: string | null, to: string): Planted {
  const source = specifier === null ? "" : `import * as planted from "${specifier}";\nexport const it = planted;\n`;
  return { rule, from, source, to };
}

interface CruiseResult {
  readonly modules: readonly { readonly source: string }[];
  readonly summary: {
    readonly violations: readonly {
      readonly from: string;
      readonly to: string;
      readonly rule: { readonly name: string };
    }[];
  };
}

/** Runs the command the gate runs, in a folder; the exit code is the report's business. */
function cruise(folder: string): CruiseResult {
  const bin = join(ROOT, "node_modules/dependency-cruiser/bin/dependency-cruise.mjs");
  const args = [bin, "--config", CONFIG, "--output-type", "json", "src"];
  const output = execFileSync(process.execPath, args, { cwd: folder, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  return JSON.parse(output) as CruiseResult;
}

describe("the directions of the house", () => {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-directions-"));
  let planted: CruiseResult;

  beforeAll(() => {
    for (const file of [CONFIG, "package.json", "tsconfig.json"]) cpSync(join(ROOT, file), join(folder, file));
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    const sources = { ...Object.fromEntries(PLANTED.map(({ from, source }) => [from, source])), ...TARGETS };
    for (const [path, source] of Object.entries(sources)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), source);
    }
    planted = cruise(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(PLANTED)("$rule is caught in $from", ({ rule, from, to }) => {
    const caught = planted.summary.violations.filter((violation) => violation.rule.name === rule);
    const here = caught.filter((violation) => violation.from === from);
    expect(here.map((violation) => violation.to)).toEqual([expect.stringContaining(to)]);
  });

  it("has a planted violation for every rule", () => {
    const require = createRequire(import.meta.url);
    const { forbidden } = require(join(ROOT, CONFIG)) as { forbidden: { name: string }[] };
    expect([...new Set(PLANTED.map(({ rule }) => rule))].sort()).toEqual(forbidden.map(({ name }) => name).sort());
  });

  it("leaves alone what is allowed, and tests", () => {
    const allowed = planted.summary.violations.filter(({ from }) => /allowed|ignored|target/.test(from));
    expect(allowed).toEqual([]);
  });

  it("reads the whole real tree and finds nothing", () => {
    const real = cruise(ROOT);
    const ours = real.modules.map(({ source }) => source).filter((source) => source.startsWith("src/"));
    const files = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" });
    const sources = files.filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"));
    expect(sources.length).toBeGreaterThan(20);
    expect(ours).toEqual(expect.arrayContaining(sources.map((file) => `src/${file}`)));
    expect(real.summary.violations).toEqual([]);
  });
});
