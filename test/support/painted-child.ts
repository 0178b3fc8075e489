import { openApp } from "../../src/app/call.ts";
import { runCli } from "../../src/surfaces/cli/run.ts";
import { PAINTED } from "./painted-verbs.ts";

/** Every painting verb with the streams of this process: FOLDER COUNT. A line before each says its number. */

const [folder = ".", count] = process.argv.slice(2);
const world = { cwd: folder, env: process.env, platform: process.platform, version: "0.0.0" };
const streams = { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr };

async function fill(word: string): Promise<string> {
  if (!word.startsWith("{")) return word;
  await using app = openApp({ surface: "library", start: folder, env: process.env, platform: process.platform });
  const ids: Record<string, () => Promise<string | undefined>> = {
    "{section}": async () => (await app.call("context.section-list", {}))[0]?.section_id,
    "{job}": async () => (await app.call("jobs.list", {})).jobs[0]?.job_id,
    "{agent}": async () => (await app.call("agent.list", {})).runs[0]?.run_id,
  };
  return (await ids[word]?.()) ?? word;
}

for (const [number, words] of PAINTED.slice(0, Number(count)).entries()) {
  const argv: string[] = [];
  for (const word of words) argv.push(await fill(word));
  process.stdout.write(`=== ${number}\n`);
  const exit = await runCli({ ...world, argv: ["--no-progress", ...argv], streams });
  process.stdout.write(`=== exit ${exit}\n`);
}
process.exit(0);
