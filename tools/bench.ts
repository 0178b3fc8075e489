import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { bundle } from "./bundle.ts";
import { ROOT } from "./stages.ts";

/** What starts a browser for the pages; not ours to measure. */
const BROWSER = ["playwright-core", "@sparticuz/chromium"];

/** Runs the benches from a bundle like the one that ships: tsx wraps every closure, of our side only. */
async function main(): Promise<number> {
  const args = process.argv.slice(2);
  const target = join(ROOT, `dist.bench-${process.pid}`);
  try {
    const { values } = parseArgs({ args, strict: false, options: { against: { type: "string" } } });
    if (values.against === undefined) {
      await bundleBenches(ROOT, target, { run: "bench/run.ts", "team-worker": "bench/team-worker.ts" });
      return await run([join(target, "run.js"), ...args]);
    }
    const earlier = await bundleRevision(String(values.against), join(target, "earlier"));
    await bundleBenches(ROOT, target, { against: "bench/against.ts" });
    return await run([join(target, "against.js"), "--earlier", earlier, ...args]);
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
}

async function bundleBenches(root: string, target: string, entry: Record<string, string>): Promise<void> {
  const files = readdirSync(join(root, "bench/benches")).filter((file) => file.endsWith(".ts"));
  const benches = files.map((file) => [`benches/${file.slice(0, -3)}`, `bench/benches/${file}`]);
  await bundle({ ...entry, ...Object.fromEntries(benches) }, target, BROWSER, root);
}

/** The benches of a revision, of its own sources, in a folder below the checkout, so that they find its packages. */
async function bundleRevision(revision: string, folder: string): Promise<string> {
  const git = ["-C", ROOT, "archive", "--format=tar", "--end-of-options", revision];
  const archive = spawnSync("git", git, { maxBuffer: 1 << 30 });
  if (archive.status !== 0) throw new Error(`git archive ${revision}: ${archive.stderr.toString().trim()}`);
  mkdirSync(folder, { recursive: true });
  const tar = spawnSync("tar", ["-x", "-C", folder], { input: archive.stdout, maxBuffer: 1 << 30 });
  if (tar.status !== 0) throw new Error(`tar: ${String(tar.stderr).trim()}`);
  const target = join(folder, "dist.bench");
  await bundleBenches(folder, target, {});
  return target;
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
