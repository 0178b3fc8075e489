// The hooks of a commit, as one gate in the view of the tree that is to be committed: the index of the view becomes that
// tree, then pre-commit and commit-msg run as `git commit` runs them. It ends with 0 when both let the commit through and
// changed nothing. Its one argument is JSON: tree, hooks (name and place) and message.

const { spawnSync } = require("node:child_process");
const { accessSync, constants, readFileSync, writeFileSync } = require("node:fs");
const { resolve } = require("node:path");

const { tree, hooks, message } = JSON.parse(process.argv[1]);
const MOST_SHOWN = 10;

function git(...args) {
  const { status, stdout, stderr } = spawnSync("git", args, { maxBuffer: 256 * 1024 * 1024 });
  if (status === 0) return stdout.toString("utf8");
  console.error(`git ${args[0]} failed: ${stderr === null ? "" : stderr.toString("utf8").trim()}`);
  process.exit(70);
}

const split = (text) => text.split("\0").filter((name) => name !== "");
// What is hidden in a view counts as changed before any hook runs.
const look = () => ({
  tree: git("write-tree").trim(),
  files: new Set([
    ...split(git("diff-files", "--name-only", "-z")),
    ...split(git("ls-files", "--others", "--exclude-standard", "-z")),
  ]),
});

function isThere(place) {
  try {
    accessSync(place, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function refuse(name, why, lines = []) {
  console.log(`${name} ${why}`);
  for (const line of lines.slice(0, MOST_SHOWN)) console.log(`  ${line}`);
  if (lines.length > MOST_SHOWN) console.log(`  and ${lines.length - MOST_SHOWN} more`);
  process.exit(1);
}

git("read-tree", tree);
spawnSync("git", ["update-index", "-q", "--refresh"]);
const before = look();
const file = resolve(git("rev-parse", "--git-path", "COMMIT_EDITMSG").trim());
for (const { name, place } of hooks) {
  const program = resolve(place);
  if (!isThere(program)) continue;
  writeFileSync(file, message);
  const env = { ...process.env, GIT_EDITOR: ":" };
  const args = name === "commit-msg" ? [file] : [];
  const { status, signal, error } = spawnSync(program, args, { stdio: ["ignore", "inherit", "inherit"], env });
  if (error !== undefined) refuse(name, `could not be started: ${error.message}`);
  if (status !== 0) refuse(name, status === null ? `was ended by ${signal}` : `ended with exit code ${status}`);
  const after = look();
  const changed = new Set([
    ...[...after.files].filter((path) => !before.files.has(path)),
    ...split(git("diff-tree", "-r", "-z", "--name-only", "--no-renames", before.tree, after.tree)),
  ]);
  if (changed.size > 0) {
    refuse(
      name,
      `changed ${changed.size} ${changed.size === 1 ? "file" : "files"}`,
      [...changed].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    );
  }
  if (readFileSync(file, "utf8") !== message) refuse(name, "changed the message of the commit");
}
