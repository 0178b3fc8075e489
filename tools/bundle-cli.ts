import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { OutputChunk, OutputOptions } from "rolldown";
import { BUNDLED, readPackages, TREESHAKE, WITHOUT_WHITESPACE } from "./bundle.ts";
import { SCRIPTS_INLINED } from "./inline-scripts.ts";
import { ROOT } from "./stages.ts";

/** A package for modules only: `require` of it warns on some versions of Node. */
const MODULES_ONLY = ["@clack/prompts", "@clack/core", "fast-string-width", "fast-wrap-ansi", "sisteransi"];

/** Needed by every command of some noun, and made of many files. */
const MANY_FILES = ["diff", "fflate"];

/** The packages that are in the command line, for their licences. */
export const CLI_BUNDLED = [...BUNDLED, ...MANY_FILES, ...MODULES_ONLY];

const SQLITE = ["store", "agent-runs-tables", "context-tables", "jobs-tables", "world-tables"];

/** What is always needed together, whatever the command. */
const TOGETHER: Readonly<Record<string, readonly string[]>> = {
  run: ["src/surfaces/cli/run.ts"],
  sqlite: SQLITE.map((name) => `src/adapters/sql/sqlite/${name}.ts`),
};

/** A command is of one room. Those that few commands are of, or that need all others, would only make more files. */
const ROOMS = ["agent", "catalytic", "context", "contract", "jobs", "workflow", "world"];

const FORMAT: OutputOptions = {
  format: "cjs",
  // At the top of dist/, and the rest one folder below: as deep as the modules, so that what a file finds from its own place is there.
  entryFileNames: "[name].cjs",
  chunkFileNames: "cli/[name].cjs",
  dynamicImportInCjs: false,
  comments: false,
  minify: WITHOUT_WHITESPACE,
};

/**
 * The command line for `require`: the loader of modules cannot be given compiled code. It is bundled twice, first to see
 * which modules each part needs (what nobody uses is gone by then), then in these parts.
 */
export async function bundleCli(target: string): Promise<void> {
  const { rolldown } = await import("rolldown");
  const packages = readPackages().filter((name) => !CLI_BUNDLED.includes(name));
  const build = await rolldown({
    cwd: ROOT,
    input: { main: "src/main.ts" },
    platform: "node",
    transform: { target: "node20.19" },
    treeshake: TREESHAKE,
    preserveEntrySignatures: "allow-extension",
    external: (id) => packages.some((name) => id === name || id.startsWith(`${name}/`)),
    plugins: [SCRIPTS_INLINED],
    onLog(level, log, handler) {
      if (level === "warn") throw new Error(`rolldown: ${log.message}`);
      handler(level, log);
    },
  });
  const isChunk = (file: { readonly type: string }): file is OutputChunk => file.type === "chunk";
  const apart = (await build.generate(FORMAT)).output.filter(isChunk);
  const parts = nameParts(apart);
  const names = [...new Set(parts.values())];
  const groups = names.map((name) => ({ name, test: (id: string) => parts.get(id) === name }));
  const codeSplitting = { groups, includeDependenciesRecursively: false };
  const { output } = await build.generate({ ...FORMAT, codeSplitting });
  await build.close();
  for (const { fileName, code } of output.filter(isChunk)) {
    mkdirSync(join(target, dirname(fileName)), { recursive: true });
    writeFileSync(join(target, fileName), code);
  }
}

/**
 * The part of each module. Files that the same rooms need become one, because finding and opening a file costs more than
 * most of them hold; no room reads what it does not need. Linear in the number of files, for each room.
 */
function nameParts(chunks: readonly OutputChunk[]): Map<string, string> {
  const names = new Map<OutputChunk, string>();
  // What comes before the command line (the first sign on a terminal) waits for none of the parts.
  for (const chunk of chunks) if (chunk.isEntry) names.set(chunk, "");
  for (const [name, roots] of Object.entries(TOGETHER)) {
    for (const chunk of reach(chunks, roots)) if (!names.has(chunk)) names.set(chunk, name);
  }
  const taken = new Set(names.keys());
  for (const room of ROOMS) {
    for (const chunk of reach(chunks, [`src/app/compose/${room}.ts`])) {
      if (!taken.has(chunk)) names.set(chunk, names.has(chunk) ? `${names.get(chunk)}-${room}` : room);
    }
  }
  const parts = [...names].filter(([, name]) => name !== "");
  return new Map(parts.flatMap(([{ moduleIds }, name]) => moduleIds.map((id) => [id, name] as const)));
}

/** The files that are loaded with some modules. */
function reach(chunks: readonly OutputChunk[], roots: readonly string[]): Set<OutputChunk> {
  const byFile = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const seen = new Set(
    roots.map((root) => {
      const found = chunks.find((chunk) => chunk.moduleIds.includes(join(ROOT, root)));
      if (found === undefined) throw new Error(`tools/bundle-cli.ts: ${root} is not in the command line`);
      return found;
    }),
  );
  for (const chunk of seen) {
    for (const file of chunk.imports) if (byFile.has(file)) seen.add(byFile.get(file)!);
  }
  return seen;
}
