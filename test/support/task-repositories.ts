import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Seen from here, or from the bundle that the benches run in. */
const FIXTURES = findFixtures(import.meta.dirname);

function findFixtures(folder: string): string {
  const place = join(folder, "test/fixtures/task");
  return existsSync(place) ? place : findFixtures(dirname(folder));
}

/** A question with the one line that answers it. */
export interface Question {
  readonly repository: "ferry" | "station" | "lending";
  readonly ask: string;
  readonly path: string;
  readonly line: string;
  /** Other places that say the same, mostly in documents. */
  readonly also?: readonly { readonly path: string; readonly line: string }[];
}

export const REPOSITORIES = ["ferry", "station", "lending"] as const;
export const QUESTIONS = JSON.parse(readFileSync(join(FIXTURES, "questions.json"), "utf8")) as Question[];

/** The files of a sample repository: `=== path` begins each. */
export function readSampleFiles(name: string): Map<string, string> {
  const text = readFileSync(join(FIXTURES, `${name}.txt`), "utf8");
  const parts = text.split(/^=== (.*)\n/m).slice(1);
  return new Map(parts.flatMap((path, i) => (i % 2 === 0 ? [[path, parts[i + 1]!] as const] : [])));
}

export interface TaskRepository {
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  remove(): void;
}

/** A sample repository as somebody would have it: committed, without a configuration of ours and without an index. */
export function makeTaskRepository(name: string): TaskRepository {
  const base = realpathSync(mkdtempSync(join(tmpdir(), `verbatim-task-${name}-`)));
  const root = join(base, name);
  for (const [path, text] of readSampleFiles(name)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const home = join(base, "home");
  mkdirSync(home);
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, XDG_STATE_HOME: join(base, "state") };
  const git = (...args: readonly string[]) => {
    const { status, stderr } = spawnSync("git", [...args], { cwd: root, env, encoding: "utf8" });
    if (status !== 0) throw new Error(`git ${args[0]}: ${stderr}`);
  };
  git("init", "-q");
  git("add", "-A");
  git("-c", "user.name=Ada", "-c", "user.email=ada@example.invalid", "commit", "-qm", "first");
  return { root, env, remove: () => rmSync(base, { recursive: true, force: true }) };
}
