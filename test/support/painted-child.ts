import { openApp } from "../../src/app/app.ts";
import { runCli } from "../../src/surfaces/cli/run.ts";
import { PAINTED } from "./painted-verbs.ts";

/** Every painting verb with the streams of this process: FOLDER COUNT. A line before each says its number. */

const [folder = ".", count] = process.argv.slice(2);
const world = { cwd: folder, env: process.env, platform: process.platform, version: "0.0.0" };
const streams = { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr };

async function ask(
  operation: string,
): Promise<Record<string, { section_id?: string; run_id?: string; job_id?: string }[]>> {
  await using app = openApp({ door: "library", start: folder, env: process.env, platform: process.platform });
  return (await app.call(operation, {})) as never;
}

async function fill(word: string): Promise<string> {
  if (word === "{section}") return (await ask("context.section-list"))["sections"]?.[0]?.section_id ?? word;
  if (word === "{job}") return (await ask("jobs.list"))["jobs"]?.[0]?.job_id ?? word;
  return word === "{agent}" ? ((await ask("agent.list"))["runs"]?.[0]?.run_id ?? word) : word;
}

for (const [number, words] of PAINTED.slice(0, Number(count)).entries()) {
  const argv: string[] = [];
  for (const word of words) argv.push(await fill(word));
  process.stdout.write(`=== ${number}\n`);
  const exit = await runCli({ ...world, argv: ["--no-progress", ...argv], streams });
  process.stdout.write(`=== exit ${exit}\n`);
}
process.exit(0);
