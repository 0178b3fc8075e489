import { VIEW_WRITER_SCRIPT } from "./view-writer-script.ts";

/** Says that a list of writes comes on standard input, to be carried out before the first gate. */
export const WRITES_FIRST = "--writes";

/**
 * The gate runner: the one command of a catalytic view in which a verification runs its set-up and its gates. It gets
 * its work as JSON in its arguments and says what came of it on standard output, one JSON object a line: `wrote` and
 * `written` where it has a list of writes, `output` of the command at work, its `result`, and `gate` when a gate is over.
 * Text only, so that it needs no file that a private temporary folder could hide; it runs in Node without anything of ours.
 */
export const GATE_RUNNER_SCRIPT = String.raw`
const { spawn } = require("node:child_process");
const { realpathSync } = require("node:fs");
const { constants } = require("node:os");
const { join, sep } = require("node:path");
const root = realpathSync(process.cwd());
const say = (message) => process.stdout.write(JSON.stringify(message) + "\n");
let ended = null;
let end = () => undefined;
for (const name of ["SIGTERM", "SIGINT"]) process.on(name, () => { ended = name; end("ended"); });

function signal(pid, name) {
  try { process.kill(-pid, name); } catch (thrown) { if (thrown.code !== "ESRCH") throw thrown; }
}

function run(gate, { argv, cwd, timeout_s }) {
  return new Promise((resolve) => {
    const started = performance.now();
    let why = "exited";
    const timers = [];
    const finish = (exit_code) => {
      for (const timer of timers) clearTimeout(timer);
      end = () => undefined;
      resolve({ exit_code, ending: why, duration_ms: Math.round(performance.now() - started) });
    };
    const fail = (thrown) => {
      say({ output: "stderr", bytes: Buffer.from(thrown.message + "\n").toString("base64") });
      why = "not_found";
      finish(127);
    };
    const env = { ...process.env, VERBATIM_GATE: gate };
    let child;
    try {
      child = spawn(argv[0], argv.slice(1), { cwd: join(root, cwd), env, stdio: ["ignore", "pipe", "pipe"], detached: true });
    } catch (thrown) { return fail(thrown); }
    end = (reason) => {
      if (why !== "exited") return;
      why = reason;
      if (child.pid === undefined) return;
      signal(child.pid, "SIGTERM");
      timers.push(setTimeout(() => signal(child.pid, "SIGKILL"), 5000));
    };
    timers.push(setTimeout(() => end("timeout"), Math.min(timeout_s * 1000, 2 ** 31 - 1)));
    for (const stream of ["stdout", "stderr"]) {
      child[stream].on("data", (bytes) => say({ output: stream, bytes: bytes.toString("base64") }));
    }
    child.on("error", fail);
    child.on("exit", () => {
      signal(child.pid, "SIGKILL");
      timers.push(setTimeout(() => { child.stdout.destroy(); child.stderr.destroy(); }, 1000));
    });
    child.on("close", (code, name) => {
      if (why === "not_found") return;
      finish(why === "timeout" ? 124 : name === null ? code : 128 + constants.signals[name]);
    });
    if (ended !== null) end("ended");
  });
}

function isThere(path) {
  try {
    const real = realpathSync(join(root, path));
    return real === root || real.startsWith(root + sep);
  } catch { return false; }
}

${VIEW_WRITER_SCRIPT}

(async () => {
  const words = process.argv.slice(1);
  if (words[0] === "${WRITES_FIRST}") {
    words.shift();
    if (!(await carryOut())) process.exit(70);
  }
  for (const { gate, commands, looks } of JSON.parse(words.join(""))) {
    for (const command of commands) {
      const result = await run(gate, command);
      if (ended !== null) process.exit(128 + constants.signals[ended]);
      say({ result });
      if (result.exit_code !== 0) break;
    }
    say({ gate, present: looks.map(isThere) });
  }
})();
`;
