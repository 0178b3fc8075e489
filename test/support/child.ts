import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { SCRIPTS_INLINED } from "../../tools/inline-scripts.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** A program of the tests that plain Node can run, so that starting many costs little. */
export interface ChildProgram {
  start(args: readonly string[], options?: SpawnOptions): RunningChild;
  remove(): void;
}

export interface RunningChild {
  readonly process: ChildProcess;
  /** Lines on standard output so far. */
  readonly lines: readonly string[];
  /** Called for every line, also for those that came before. */
  onLine(listener: (line: string) => void): void;
  /** Resolves when the process has ended and its output was read. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null; readonly errors: string }>;
}

/** Bundles one TypeScript file of the tests: a start from source costs more than a second. Gives the bundle's path. */
export async function bundleChild(entry: string): Promise<{ readonly file: string; remove(): void }> {
  // Packages stay outside the bundle, so it lies inside the checkout.
  const parent = join(ROOT, "test-artifacts");
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, "child-"));
  // A child may run as a user with fewer rights.
  chmodSync(folder, 0o755);
  const bundle = await rolldown({
    input: join(ROOT, entry),
    platform: "node",
    // The helpers for newer syntax are not a package of ours; they go into the bundle.
    external: /^(?!@oxc-project\/)(?:node:|@?[a-z])/,
    transform: { target: "node20" },
    plugins: [SCRIPTS_INLINED],
  });
  const { output } = await bundle.write({ dir: folder, entryFileNames: "[name].mjs", codeSplitting: false });
  await bundle.close();
  const file = join(folder, basename(output[0].fileName));
  return { file, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Bundles one TypeScript file and starts it as often as it is wanted. */
export async function buildChild(entry: string): Promise<ChildProgram> {
  const { file, remove } = await bundleChild(entry);
  return {
    start: (args, options) => watch(spawn(process.execPath, [file, ...args], { ...options, stdio: "pipe" })),
    remove,
  };
}

function watch(child: ChildProcess): RunningChild {
  const lines: string[] = [];
  const listeners: ((line: string) => void)[] = [];
  const output = createInterface({ input: child.stdout! });
  output.on("line", (line) => {
    lines.push(line);
    for (const listener of listeners) listener(line);
  });
  let errors = "";
  child.stderr!.on("data", (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const read = new Promise<void>((resolve) => output.once("close", resolve));
  const ended = new Promise<{ code: number | null; signal: string | null; errors: string }>((resolve) => {
    child.once("close", (code, signal) => void read.then(() => resolve({ code, signal, errors })));
  });
  return {
    process: child,
    lines,
    onLine(listener) {
      for (const line of lines) listener(line);
      listeners.push(listener);
    },
    ended,
  };
}
