// Makes the compiled form of the hook surface: node tools/hook-use.cjs CORE. A plain script, because the compiled form is
// valid only for the options of V8 it was made with, and those of a hook are none.
const { mkdirSync, mkdtempSync, rmSync, writeFileSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { join, resolve } = require("node:path");
const { load, makeKept } = require("../bin/compiled.js");
const { replace } = require("./replace-stream.cjs");

/** Calls as agents send them: what runs for these is in the compiled form, the rest is compiled when it is needed. */
const toCalls = (cwd) => [
  ["pre-tool", { tool_name: "Edit", tool_input: { file_path: join(cwd, "a.ts"), old_string: "a", new_string: "b" } }],
  ["pre-tool", { tool_name: "Bash", tool_input: { command: "cd src && npm test -- --run > out.txt 2>&1" } }],
  ["pre-tool", { tool_name: "Write", tool_input: { file_path: "/etc/hosts", content: "" } }],
  ["post-tool", { tool_name: "Read", tool_input: { file_path: join(cwd, "a.ts") } }],
  ["stop", {}],
];
const MOMENTS = { "pre-tool": "PreToolUse", "post-tool": "PostToolUse", stop: "Stop" };

async function main() {
  const core = resolve(process.argv[2]);
  for (const name of Object.keys(process.env)) if (name.startsWith("VERBATIM_")) delete process.env[name];
  const folder = mkdtempSync(join(tmpdir(), "verbatim-hook-"));
  // Not the null device: a verdict that nobody can read is a failure.
  replace(1, join(folder, "replies"), "w");
  try {
    const cwd = join(folder, "repo");
    mkdirSync(join(cwd, ".git"), { recursive: true });
    process.chdir(cwd);
    const { startHook } = load(core);
    for (const [event, call] of toCalls(cwd)) {
      const sent = { session_id: "build", cwd, hook_event_name: MOMENTS[event], ...call };
      writeFileSync(join(folder, "call.json"), JSON.stringify(sent));
      replace(0, join(folder, "call.json"), "r");
      await startHook(["hook", event]);
      if (process.exitCode !== 0) throw new Error("a call of the hook failed");
    }
    for (const { file, bytes } of makeKept()) writeFileSync(file, bytes);
  } finally {
    process.chdir(tmpdir());
    rmSync(folder, { recursive: true, force: true });
  }
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
