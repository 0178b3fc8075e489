import { runCommand } from "../../src/adapters/process/command.ts";

/** A program that runs one command, its arguments, in its folder and says what came of it. */
const { exit_code, ending, stdout } = await runCommand({
  argv: process.argv.slice(2),
  cwd: process.cwd(),
  env: { PATH: process.env["PATH"] ?? "" },
  timeout_ms: 60_000,
  signal: new AbortController().signal,
});
console.log(JSON.stringify({ exit_code, ending, stdout: stdout.toString() }));
