// The gate runner: the one command of a catalytic view in which a verification runs its set-up and its gates. It gets its
// work as JSON in its arguments and says what came of it on standard output, one JSON object a line: `wrote` and `written`
// where it has a list of writes, `output` of the command at work, its `result`, and `gate` when a gate is over.
// It is handed to Node as text, so that it needs no file that a private temporary folder could hide, and loads nothing of
// ours.

const { spawn } = require("node:child_process");
const { realpathSync } = require("node:fs");
const { constants } = require("node:os");
const { join, sep } = require("node:path");
const root = realpathSync(process.cwd());
const say = (message) => process.stdout.write(JSON.stringify(message) + "\n");
let ended = null;
let end = () => undefined;
for (const name of ["SIGTERM", "SIGINT"])
  process.on(name, () => {
    ended = name;
    end("ended");
  });

function signal(pid, name) {
  try {
    process.kill(-pid, name);
  } catch (thrown) {
    if (thrown.code !== "ESRCH") throw thrown;
  }
}

// Whoever still holds the pipes of a command that has ended is not waited for. On a busy machine the time may be over before
// what is in the pipes was read: as long as something comes, it is read.
function letGo(child, turns = 1000) {
  let came = false;
  const note = () => {
    came = true;
  };
  for (const stream of [child.stdout, child.stderr]) stream.on("data", note);
  setImmediate(() =>
    setImmediate(() => {
      for (const stream of [child.stdout, child.stderr]) stream.off("data", note);
      if (came && turns > 0) return letGo(child, turns - 1);
      for (const stream of [child.stdout, child.stderr]) stream.destroy();
    }),
  );
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
      child = spawn(argv[0], argv.slice(1), {
        cwd: join(root, cwd),
        env,
        stdio: ["ignore", "pipe", "pipe"],
        detached: true,
      });
    } catch (thrown) {
      return fail(thrown);
    }
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
      timers.push(setTimeout(() => letGo(child), 1000));
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
  } catch {
    return false;
  }
}

// A list of writes is carried out in the current folder before anything else runs there, with the rights of the command,
// inside its guard. The list comes on standard input: frames of a length (four bytes, big-endian), that many bytes of JSON,
// and for files the bytes; a length of zero ends it. Only what lies at a path itself is touched: a link or a file in the
// place of a folder is replaced, never followed. What is there afterwards is read back and told, one path a line.
const { createHash } = require("node:crypto");
const fs = require("node:fs");
const { dirname } = require("node:path");

const at = (path) => root + "/" + path;
const look = (place) => fs.lstatSync(place, { throwIfNoEntry: false });

function withAccess(place, work) {
  try {
    return work();
  } catch (thrown) {
    if (thrown.code !== "EACCES") throw thrown;
    const folder = dirname(place);
    const { mode } = fs.lstatSync(folder);
    fs.chmodSync(folder, (mode & 0o7777) | 0o700);
    try {
      return work();
    } finally {
      fs.chmodSync(folder, mode & 0o7777);
    }
  }
}

function reach(path, make) {
  const names = path.split("/");
  let place = root;
  for (const name of names.slice(0, -1)) {
    place += "/" + name;
    const facts = look(place);
    if (facts !== undefined && facts.isDirectory()) continue;
    if (!make) return false;
    if (facts !== undefined) withAccess(place, () => fs.unlinkSync(place));
    withAccess(place, () => fs.mkdirSync(place));
  }
  return true;
}

function removeEmpty(place) {
  try {
    withAccess(place, () => fs.rmdirSync(place));
    return true;
  } catch (thrown) {
    if (thrown.code === "ENOTEMPTY" || thrown.code === "EEXIST" || thrown.code === "EBUSY") return false;
    throw thrown;
  }
}

function remove(path) {
  if (!reach(path, false)) return;
  const facts = look(at(path));
  if (facts === undefined) return;
  if (facts.isDirectory()) removeEmpty(at(path));
  else withAccess(at(path), () => fs.unlinkSync(at(path)));
  for (let folder = dirname(path); folder !== "." && removeEmpty(at(folder)); folder = dirname(folder));
}

function clear(path) {
  reach(path, true);
  const facts = look(at(path));
  if (facts === undefined) return;
  if (facts.isDirectory()) withAccess(at(path), () => fs.rmSync(at(path), { recursive: true }));
  else withAccess(at(path), () => fs.unlinkSync(at(path)));
}

function readBack(path) {
  const facts = reach(path, false) ? look(at(path)) : undefined;
  if (facts === undefined || facts.isDirectory()) return { path, mode: null };
  if (facts.isSymbolicLink()) return { path, mode: "120000", target: fs.readlinkSync(at(path)) };
  if (!facts.isFile()) return { path, mode: "other" };
  const hash = createHash("sha256");
  const file = fs.openSync(at(path), fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK);
  try {
    const part = Buffer.allocUnsafe(1024 * 1024);
    for (let got = 1; got > 0; ) {
      got = fs.readSync(file, part, 0, part.length, null);
      hash.update(part.subarray(0, got));
    }
  } finally {
    fs.closeSync(file);
  }
  return { path, mode: (facts.mode & 0o100) === 0 ? "100644" : "100755", sha256: hash.digest("hex") };
}

function reader() {
  const source = process.stdin[Symbol.asyncIterator]();
  let held = Buffer.alloc(0);
  const more = async () => {
    const { value, done } = await source.next();
    if (done) throw new Error("the list of writes ended early");
    held = held.length === 0 ? value : Buffer.concat([held, value]);
  };
  return {
    async take(count) {
      while (held.length < count) await more();
      const taken = held.subarray(0, count);
      held = held.subarray(count);
      return taken;
    },
    async some(most) {
      if (held.length === 0) await more();
      return this.take(Math.min(most, held.length));
    },
  };
}

async function writeFile(source, { path, mode, size }) {
  clear(path);
  const flags = fs.constants.O_WRONLY | fs.constants.O_CREAT | fs.constants.O_EXCL | fs.constants.O_NOFOLLOW;
  const file = withAccess(at(path), () => fs.openSync(at(path), flags, mode === "100755" ? 0o777 : 0o666));
  try {
    for (let left = size; left > 0; ) {
      const part = await source.some(left);
      for (let done = 0; done < part.length; ) done += fs.writeSync(file, part, done);
      left -= part.length;
    }
  } finally {
    fs.closeSync(file);
  }
}

async function carryOut() {
  const source = reader();
  const paths = new Set();
  let path = ".";
  try {
    for (;;) {
      const length = (await source.take(4)).readUInt32BE(0);
      if (length === 0) break;
      const write = JSON.parse((await source.take(length)).toString("utf8"));
      path = write.path;
      paths.add(path);
      if (write.mode === null) remove(path);
      else if (write.mode === "120000") {
        clear(path);
        withAccess(at(path), () => fs.symlinkSync(write.target, at(path)));
      } else await writeFile(source, write);
    }
    for (path of paths) say({ wrote: readBack(path) });
    say({ written: paths.size });
    return true;
  } catch (thrown) {
    say({ unwritten: { path, why: String(thrown.message).slice(0, 500) } });
    return false;
  } finally {
    process.stdin.destroy();
  }
}

(async () => {
  const words = process.argv.slice(1);
  if (words[0] === "--writes") {
    words.shift();
    if (!(await carryOut())) process.exit(70);
  }
  for (const { gate, commands, looks, required } of JSON.parse(words.join(""))) {
    let failed = false;
    for (const command of commands) {
      const result = await run(gate, command);
      if (ended !== null) process.exit(128 + constants.signals[ended]);
      say({ result });
      failed = result.exit_code !== 0;
      if (failed) break;
    }
    say({ gate, present: looks.map(isThere) });
    if (failed && required) break;
  }
})();
