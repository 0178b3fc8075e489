// Loads files of dist/ in the way of `require`, with what V8 made of them when they were built. That compiled form lies
// beside its source and is used only with exactly that source and by exactly that Node; anything else is compiled as
// always. Nothing is written here: whoever can write the compiled form can write the program (docs/adr/0052).
const { createHash } = require("node:crypto");
const { readFileSync } = require("node:fs");
const Module = require("node:module");
const { basename, dirname, join } = require("node:path");
const { Script } = require("node:vm");

const DIGEST = 32;
const scripts = new Map();

/** Where the compiled form for this Node lies. */
const toKept = (file) => file.replace(/\.cjs$/, `-${process.version}-${process.arch}.bin`);

const digest = (source, form) => createHash("sha256").update(source).update(form).digest();

/**
 * The compiled form of a source, or undefined. V8 looks at its own version, its options and the length of the source, and
 * believes the rest: bytes that a disk has changed would end the process by a signal, so they are hashed first.
 */
function readKept(file, source) {
  let kept;
  try {
    kept = readFileSync(toKept(file));
  } catch {
    return undefined;
  }
  const form = kept.subarray(DIGEST);
  return digest(source, form).equals(kept.subarray(0, DIGEST)) ? form : undefined;
}

function compile(file, source) {
  return new Script(`(function (exports, require, module, __filename, __dirname) {${source.utf8Slice()}\n})`, {
    // The name is part of the compiled form, so it must be the same wherever the package lies. A copy: V8 would keep the
    // whole path behind a name that was cut from it.
    filename: Buffer.from(basename(file)).toString(),
    cachedData: readKept(file, source),
  });
}

/** What a file exports; the files it requires are loaded the same way, packages by Node. */
function load(file) {
  const known = require.cache[file];
  if (known !== undefined) return known.exports;
  const script = compile(file, readFileSync(file));
  scripts.set(file, script);
  const made = new Module(file, module);
  made.filename = file;
  made.paths = module.paths;
  require.cache[file] = made;
  const folder = dirname(file);
  const requireFrom = (id) => (id.startsWith("./") || id.startsWith("../") ? load(join(folder, id)) : made.require(id));
  try {
    script.runInThisContext().call(made.exports, made.exports, requireFrom, made, file, folder);
  } catch (thrown) {
    delete require.cache[file];
    throw thrown;
  }
  made.loaded = true;
  return made.exports;
}
exports.load = load;

/** For the build: the compiled forms of all that was loaded, with every function that ran so far. */
exports.makeKept = () =>
  [...scripts].map(([file, script]) => {
    const form = script.createCachedData();
    return { file: toKept(file), bytes: Buffer.concat([digest(readFileSync(file), form), form]) };
  });
