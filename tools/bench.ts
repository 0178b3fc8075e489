import { spawn } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { bundle } from "./bundle.ts";
import { ROOT } from "./stages.ts";

/** What starts a browser for the pages; not ours to measure. */
const BROWSER = ["playwright-core", "@sparticuz/chromium"];

/** Runs the benches from a bundle like the one that ships: tsx wraps every closure, of our side only. */
async function main(): Promise<number> {
  const target = join(ROOT, `dist.bench-${process.pid}`);
  try {
    const files = readdirSync(join(ROOT, "bench/benches")).filter((file) => file.endsWith(".ts"));
    const benches = files.map((file) => [`benches/${file.slice(0, -3)}`, `bench/benches/${file}`]);
    await bundle({ run: "bench/run.ts", ...Object.fromEntries(benches) }, target, BROWSER);
    return await run([join(target, "run.js"), ...process.argv.slice(2)]);
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
}

async function run(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, args, { stdio: "inherit" });
  // Who stops a run stops both; the bundle goes once its process has ended.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
  return await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 2;
  },
);
