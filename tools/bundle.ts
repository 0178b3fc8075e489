import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SCRIPTS_INLINED } from "./inline-scripts.ts";
import { ROOT } from "./stages.ts";

/** Needed at every start and made of so many files that finding them takes longer than running them (ADR 0016). */
export const BUNDLED = ["zod", "commander"];

/** The packages that a bundle leaves to be found when it runs. */
export function readPackages(root = ROOT): string[] {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly dependencies: Record<string, string>;
    readonly peerDependencies?: Record<string, string>;
  };
  // A peer is brought by whoever needs it.
  return [...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies ?? {})];
}

/** A front door names everything a room offers; whoever takes one thing through it loads that thing only. */
export const TREESHAKE = { moduleSideEffects: [{ test: /\/src\/(?:core|rooms)\//, sideEffects: false }] };

/** Names and statements stay as they are written: whoever reads a stack trace finds the function. The archive loses a twelfth. */
export const WITHOUT_WHITESPACE = { compress: false, mangle: false, codegen: { removeWhitespace: true } } as const;

/** Writes the modules that ship, or that are measured as if they did, into a folder: one file for each entry. */
export async function bundle(
  input: Record<string, string>,
  target: string,
  outside: readonly string[] = [],
  root = ROOT,
): Promise<void> {
  // Loaded only to build: finding that nothing changed takes half the time without it.
  const { rolldown } = await import("rolldown");
  const packages = [...readPackages(root).filter((name) => !BUNDLED.includes(name)), ...outside];
  const build = await rolldown({
    cwd: root,
    input,
    platform: "node",
    transform: { target: "node20.19" },
    treeshake: TREESHAKE,
    external: (id) => packages.some((name) => id === name || id.startsWith(`${name}/`)),
    plugins: [SCRIPTS_INLINED],
    onLog(level, log, handler) {
      if (level === "warn") throw new Error(`rolldown: ${log.message}`);
      handler(level, log);
    },
  });
  await build.write({
    dir: target,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
    sourcemap: true,
    minify: WITHOUT_WHITESPACE,
  });
  await build.close();
}
