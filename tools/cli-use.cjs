// Makes the compiled form of the command line: node tools/cli-use.cjs DIST. A plain script, because the compiled form is
// valid only for the options of V8 it was made with, and those of a command are none.
const { execFileSync } = require("node:child_process");
const { mkdirSync, mkdtempSync, rmSync, writeFileSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { join, resolve } = require("node:path");
const { setFlagsFromString } = require("node:v8");
const { load, makeKept } = require("../bin/compiled.js");
const { replace } = require("./replace-stream.cjs");

const SCRIPT = "echo more >> notes.md";
const MESSAGE = JSON.stringify({
  intent: "read",
  refs: ["@DOC/A"],
  ops: [{ type: "READ", target: "@DOC/A", params: {} }],
  budgets: { max_symbols: 9, max_sections: 9, max_bytes_expanded: 999, max_expands_per_step: 9 },
  required_outputs: [],
});

/**
 * Commands as people type them: what runs for these is in the compiled form, the rest is compiled when it is needed. None
 * of them has to succeed, because a machine that builds may have no perl, no git and no namespaces.
 */
const COMMANDS = [
  ["--help"],
  ["init", "--yes"],
  ["doctor"],
  ["index", "build"],
  ["section", "list"],
  ["search", "notes"],
  ["symbol", "add", "@DOC/A", "--file", "notes.md", "--slice", "ALL"],
  ["symbol", "list"],
  ["expand", "@DOC/A"],
  ["agent", "--help"],
  ["agent", "--goal", "use", "--verify", "true", "--", "sh", "-c", SCRIPT],
  ["agent", "list"],
  ["agent", "show", "@"],
  ["agent", "show", "@", "--diff"],
  ["agent", "logs", "@"],
  ["agent", "verify", "@"],
  ["agent", "apply", "@"],
  ["agent", "undo", "@"],
  ["agent", "--goal", "use", "--no-verify", "--json", "--", "sh", "-c", SCRIPT],
  ["agent", "list", "--json"],
  ["agent", "apply", "@", "--json"],
  ["agent", "undo", "@", "--json"],
  ["catalytic", "run", "--domain", ".verbatim/scratch", "--", "true"],
  ["catalytic", "list"],
  ["job", "post", "message.json"],
  ["job", "list"],
  ["bundle", "inspect", "nowhere"],
  ["workflow", "new", "--goal", "use"],
  ["workflow", "status"],
  ["keys", "new", "use"],
  ["keys", "list"],
  ["ledger", "verify"],
  ["ledger", "show"],
  ["world", "new", "use"],
  ["world", "say", "Hello."],
  ["world", "list"],
  ["contract", "list"],
];

async function main() {
  const dist = resolve(process.argv[2]);
  const folder = mkdtempSync(join(tmpdir(), "verbatim-use-"));
  for (const name of Object.keys(process.env)) if (/^(?:VERBATIM|XDG|GIT)_/.test(name)) delete process.env[name];
  process.env.HOME = process.env.USERPROFILE = folder;
  for (const stream of [1, 2]) replace(stream, join(folder, `said-${stream}`), "w");
  // Each command listens for signals as if it were alone, and functions that ran long ago would be forgotten.
  for (const one of [process, process.stdout, process.stderr, process.stdin]) one.setMaxListeners(0);
  setFlagsFromString("--no-flush-bytecode");
  try {
    const cwd = join(folder, "repo");
    mkdirSync(cwd);
    process.chdir(cwd);
    writeFileSync("notes.md", "# Notes\n\nText.\n");
    writeFileSync("message.json", MESSAGE);
    makeRepository();
    const { main: start } = load(join(dist, "main.cjs"));
    for (const argv of COMMANDS) await start(argv);
    setFlagsFromString("--flush-bytecode");
    for (const { file, bytes } of makeKept()) writeFileSync(file, bytes);
  } finally {
    process.chdir(tmpdir());
    rmSync(folder, { recursive: true, force: true });
  }
  process.exit(0);
}

function makeRepository() {
  const settings = ["-c", "user.name=use", "-c", "user.email=use@example.org"];
  try {
    for (const args of [
      ["init", "-q"],
      ["add", "."],
      [...settings, "commit", "-qm", "use"],
    ])
      execFileSync("git", args);
  } catch {
    // Without git the commands of agents end early, and their functions are compiled when they are needed.
  }
}

main();
