import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { App } from "../../src/app/call.ts";
import { openApp } from "../../src/app/call.ts";
import { sortedByCodePoint } from "../../src/core/canonical/index.ts";
import { countingIds, START_MS } from "../../test/support/fixed-ports.ts";
import type { FrozenFiles } from "./files.ts";
import { toSteady, type Words } from "./steady.ts";
import { formatJson, sha256 } from "./table.ts";

/** A workspace with a clock that stands still, ids that count and randomness that repeats. */
export interface SampleWorkspace {
  readonly app: App;
  /** The folder around the workspace, with what is next to it. */
  readonly base: string;
  put(path: string, text: string): void;
}

/** Runs a story in a workspace of its own and gives its files: what it answered, and what it left in these folders. */
export async function freezeRun(
  name: string,
  config: object,
  story: (workspace: SampleWorkspace) => Promise<Readonly<Record<string, unknown>>>,
  left: readonly string[] = [],
): Promise<FrozenFiles> {
  const umask = process.umask(0o022);
  const base = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-freeze-")));
  const root = join(base, "sample");
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  put("verbatim.config.json", formatJson(config));
  mkdirSync(join(root, "out"));
  // The same everywhere, because a run records the hash of the environment its command has.
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: "/nowhere", VERBATIM_RUNS_ROOT: join(base, "runs") };
  const ports = { clock: { now: () => START_MS }, ids: countingIds(), random: repeatingRandom() };
  try {
    const files = new Map<string, Uint8Array>();
    {
      await using app = openApp({ surface: "library", start: root, env, platform: process.platform, ...ports });
      const answers = await story({ app, base, put });
      for (const [what, answer] of Object.entries(answers)) files.set(`answers/${what}.json`, encode(answer));
      const entries: string[] = [];
      for await (const line of app.lines("ledger.export", {})) entries.push(line);
      files.set("ledger.jsonl", Buffer.from(`${entries.join("\n")}\n`));
    }
    for (const folder of left) readBelow(base, folder, files);
    return format(name, toSteady(files, wordsFor(base, files)), files);
  } finally {
    process.umask(umask);
    rmSync(base, { recursive: true, force: true });
  }
}

function encode(answer: unknown): Uint8Array {
  return Buffer.from(formatJson(answer));
}

function repeatingRandom() {
  let drawn = 0;
  return {
    bytes: (count: number) =>
      Uint8Array.from({ length: count }, (_, i) => (i === 0 ? (drawn = (drawn + 1) % 256) : (i * 7) % 256)),
  };
}

function readBelow(base: string, folder: string, files: Map<string, Uint8Array>): void {
  const found = readdirSync(join(base, folder), { recursive: true, withFileTypes: true });
  const paths = found.filter((one) => one.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  for (const path of sortedByCodePoint(paths)) files.set(path.slice(base.length + 1), readFileSync(path));
}

/** What differs on another machine or in another build. */
function wordsFor(base: string, files: ReadonlyMap<string, Uint8Array>): Words {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  const all = [...files.values()].map((bytes) => Buffer.from(bytes).toString("utf8")).join("\n");
  const builds = all.match(/(?<="validator_build_id": ?")[^"]+/g) ?? [];
  return [
    [base, "<base>"],
    [`${hostname()}:${process.pid}`, "<process>"],
    [`node ${process.version}`, "<runtime>"],
    [`"${process.platform}-${process.arch}"`, '"<platform>"'],
    [`"${version}"`, '"<version>"'],
    [/"launcher": ?"[a-z]+"/g, '"launcher": <launcher>'],
    [/"duration_ms": ?\d+/g, '"duration_ms": <duration>'],
    ...[...new Set(builds)].map((build) => [build, "<build>"] as const),
  ];
}

/** Every file with its text. One that is the same everywhere has its hash too; bytes that are no text have only that. */
function format(
  name: string,
  steady: ReadonlyMap<string, string>,
  files: ReadonlyMap<string, Uint8Array>,
): FrozenFiles {
  const parts = [...steady].map(([path, text]) => {
    const [whole, own] = [sha256(files.get(path)!), sha256(text)];
    const isText = !/[\0\ufffd]/.test(text);
    if (!isText) return `=== ${path}, sha256 ${whole}\n`;
    const end = text === "" || text.endsWith("\n") ? "" : "\n";
    return `=== ${path}, ${whole === own ? `sha256 ${whole}` : "with words in place of what differs"}\n${text}${end}`;
  });
  return new Map([[`runs/${name}.txt`, parts.join("")]]);
}
