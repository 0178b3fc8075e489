import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Bench } from "../harness.ts";
import { BIN } from "../places.ts";

const ALLOWED_MS = 60;

/** How much a hook adds to the start of Node: judging one edit and its durable receipt, a whole process. */
export const hookStart: Bench = {
  name: "hook-start",
  what: "verbatim hook pre-tool, a whole process with its durable receipt",
  baseline: `node -e 0 and ${ALLOWED_MS} ms`,
  corpus: "one edit of a file",
  sizes: [1],
  goal: { kind: "time", atMost: 1 },
  tailRounds: 100,
  async prepare() {
    const base = mkdtempSync(join(tmpdir(), "verbatim-bench-"));
    const root = join(base, "repo");
    mkdirSync(root);
    execFileSync("git", ["init", "-q", root]);
    const input = JSON.stringify({
      session_id: "bench",
      cwd: root,
      hook_event_name: "PreToolUse",
      tool_name: "Edit",
      tool_input: { file_path: join(root, "src/lamp.ts"), old_string: "off", new_string: "on" },
    });
    const options = { cwd: root, input, stdio: ["pipe", "ignore", "inherit"] as ["pipe", "ignore", "inherit"] };
    return {
      ours: () => execFileSync(process.execPath, [BIN, "hook", "pre-tool"], options),
      baseline: () => execFileSync(process.execPath, ["-e", "0"], options),
      allowed_ms: ALLOWED_MS,
      close: () => rmSync(base, { recursive: true, force: true }),
    };
  },
};
