#!/usr/bin/env node
// Plain JavaScript that any Node can read, so that an old one is told what is missing instead of failing to parse.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `error[NODE_TOO_OLD] Verbatim needs Node.js 20.19 or newer, this is ${process.versions.node}\n  fix: install a newer Node.js\n`,
  );
  process.exit(2);
}
// Coding agents take exit 2 as a refusal and any other failure as leave to go on: a hook may only leave with 0 or 2.
if (process.argv[2] === "hook") {
  process.on("exit", (code) => {
    if (code !== 0) process.exitCode = 2;
  });
}
// The short way: one file that loads nothing a hook does not need. bin and dist/hook.cjs are built together.
const isShort = () => {
  const [noun, verb, flag] = process.argv.slice(2);
  const { length } = process.argv;
  return (
    noun === "hook" &&
    ["pre-tool", "post-tool", "stop"].includes(verb) &&
    (length === 4 || (length === 6 && flag === "--client"))
  );
};
const hook = new URL("../dist/hook.cjs", import.meta.url);
const only = process.argv.length === 3 ? process.argv[2] : "";
if (only === "--version" || only === "-V") {
  // Read here so that asking for the version loads nothing else.
  const { readFileSync } = await import("node:fs");
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  process.stdout.write(`${version}\n`);
} else if (isShort() && process.getBuiltinModule("node:fs").existsSync(hook)) {
  const require = process.getBuiltinModule("node:module").createRequire(import.meta.url);
  await require("../dist/hook.cjs").startHook(process.argv.slice(2));
} else {
  const { existsSync } = await import("node:fs");
  const entry = new URL("../dist/main.js", import.meta.url);
  if (existsSync(entry)) {
    const { main } = await import(entry.href);
    await main(process.argv.slice(2));
  } else {
    process.stderr.write("error[INTERNAL] Verbatim is not built yet\n  fix: npm run build\n");
    process.exitCode = 3;
  }
}
