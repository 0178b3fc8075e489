#!/usr/bin/env node
// Plain JavaScript that any Node can read, so that an old one is told what is missing instead of failing to parse. It
// is not a module (package.json beside it): the loader of modules would take longer than most commands.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `error[NODE_TOO_OLD] Verbatim needs Node.js 20.19 or newer, this is ${process.versions.node}\n  fix: install a newer Node.js\n`,
  );
  process.exit(2);
}
const { existsSync, readFileSync } = require("node:fs");
const { join } = require("node:path");
const dist = join(__dirname, "..", "dist");
const argv = process.argv.slice(2);

// Everybody on the machine can read the arguments of a process. Setting the title overwrites them where they lie.
const isToken = (word, at) => argv[at - 1] === "--token" || word.startsWith("--token=");
if (argv.some(isToken)) {
  process.title = ["verbatim", ...argv.map((word, at) => (isToken(word, at) ? "***" : word))].join(" ");
}

// Coding agents take exit 2 as a refusal and any other failure as leave to go on: a hook may only leave with 0 or 2.
// Flags of the whole program may stand before the noun.
let noun = 0;
while (String(argv[noun]).startsWith("-")) noun += argv[noun] === "-C" ? 2 : 1;
if (argv[noun] === "hook") {
  process.on("exit", (code) => {
    if (code !== 0) process.exitCode = 2;
  });
}

// The short way: one file that loads nothing a hook does not need. bin and dist/hook are built together.
const isShort = () =>
  argv[0] === "hook" &&
  ["pre-tool", "post-tool", "stop"].includes(argv[1]) &&
  (argv.length === 2 || (argv.length === 4 && argv[2] === "--client")) &&
  existsSync(join(dist, "hook", "core.cjs"));

if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-V")) {
  // Read here so that asking for the version loads nothing else.
  const { version } = JSON.parse(readFileSync(join(__dirname, "..", "package.json"), "utf8"));
  process.stdout.write(`${version}\n`);
} else if (isShort()) {
  require("./compiled.js")
    .load(join(dist, "hook", "core.cjs"))
    .startHook(argv);
} else if (existsSync(join(dist, "main.cjs"))) {
  require("./compiled.js").load(join(dist, "main.cjs")).main(argv);
} else {
  process.stderr.write("error[INTERNAL] Verbatim is not built yet\n  fix: npm run build\n");
  process.exitCode = 3;
}
