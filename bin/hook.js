// Loads the hook door. An agent waits for it at every tool call, so what V8 made of its source is kept beside it by
// the build, and used only with exactly that source and by exactly that Node; else the source is compiled as always.
const { readFileSync } = require("node:fs");
const Module = require("node:module");
const { dirname, join } = require("node:path");
const { Script } = require("node:vm");

const CORE = join(__dirname, "..", "dist", "hook", "core.cjs");

/** Where the compiled form for this Node lies beside the source. */
const toKept = (core) => join(dirname(core), `core-${process.version}-${process.arch}.bin`);

// The name is the same everywhere, because it is part of the compiled form.
const compile = (source, cachedData) =>
  new Script(`(function (exports, require, module, __filename, __dirname) {${source.utf8Slice()}\n})`, {
    filename: "core.cjs",
    cachedData,
  });

/** Runs a compiled file in the way of `require`, and lets `require` find it. */
function run(script, file) {
  const made = new Module(file, module);
  made.filename = file;
  made.paths = module.paths;
  require.cache[file] = made;
  script.runInThisContext().call(made.exports, made.exports, (id) => made.require(id), made, file, dirname(file));
  return made.exports;
}

/**
 * The kept form of a source, or undefined. The file holds the source and the form twice, since V8 believes what it is
 * given: bytes that a disk has changed would end the process by a signal, which no agent takes for a refusal.
 */
function readKept(source) {
  let kept;
  try {
    kept = readFileSync(toKept(CORE));
  } catch (thrown) {
    if (thrown.code === "ENOENT") return undefined;
    throw thrown;
  }
  const middle = (source.length + kept.length) / 2;
  const form = kept.subarray(source.length, middle);
  const isWhole = kept.subarray(0, source.length).equals(source) && form.equals(kept.subarray(middle));
  return isWhole ? form : undefined;
}

exports.loadHook = () => {
  const source = readFileSync(CORE);
  const kept = readKept(source);
  return kept === undefined ? require(CORE) : run(compile(source, kept), CORE);
};

/** For the build: the compiled form after some use, so that it holds what calls need. */
exports.keepCompiled = async (core, use) => {
  const source = readFileSync(core);
  const script = compile(source);
  await use(run(script, core));
  const form = script.createCachedData();
  return { file: toKept(core), bytes: Buffer.concat([source, form, form]) };
};
