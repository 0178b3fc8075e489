// @ts-check
// What the examples share: a small repository in a temporary folder, and a check that ends the program when it fails.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const FILES = {
  "README.md": "# Harbour\n\nTimes of the tide, for whoever sails from here.\n",
  "docs/tides.md": "# Tides\n\n## Low water\n\nLow water is at noon.\n\n## High water\n\nHigh water is at six.\n",
  "src/clock.mjs": "export const hourOf = (time) => Number(time.slice(1, 2));\n",
  "check.mjs": [
    'import assert from "node:assert/strict";',
    'import { hourOf } from "./src/clock.mjs";',
    "",
    'assert.equal(hourOf("12:30"), 12);',
    "",
  ].join("\n"),
  "verbatim.config.json": '{ "context": { "sources": ["docs/**/*.md"] } }\n',
};

/**
 * A repository with one commit. Everything that Verbatim writes for it, also what belongs to a user and not to a repository,
 * is in the same temporary folder, so that an example leaves nothing behind.
 */
export function makeSample() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-example-")));
  const repository = join(base, "harbour");
  for (const [path, text] of Object.entries(FILES)) put(join(repository, path), text);
  const env = {
    ...process.env,
    HOME: base,
    XDG_STATE_HOME: join(base, "state"),
    XDG_CONFIG_HOME: join(base, "config"),
    GIT_CONFIG_GLOBAL: "/dev/null",
  };
  /** @param {string[]} args */
  const git = (...args) => {
    const who = ["-c", "user.name=Ida", "-c", "user.email=ida@harbour.example", "-c", "commit.gpgsign=false"];
    return execFileSync("git", [...who, ...args], { cwd: repository, env, encoding: "utf8" });
  };
  git("init", "--quiet", "--initial-branch=main");
  git("add", "--all");
  git("commit", "--quiet", "--message", "the harbour");
  return { base, repository, env, git, remove: () => rmSync(base, { recursive: true, force: true }) };
}

/**
 * Writes a file, with its folders.
 *
 * @param {string} path
 * @param {string} text
 */
export function put(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/**
 * Says what holds, or ends the program.
 *
 * @param {unknown} holds
 * @param {string} what
 * @returns {asserts holds}
 */
export function check(holds, what) {
  if (!holds) throw new Error(`it does not hold that ${what}`);
  console.log(`ok: ${what}`);
}
