import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";

/**
 * Leaves in a folder of declarations those that an entry reaches; nobody outside can name the others, and they were half of
 * them. Linear in the size of the declarations.
 */
export function pruneTypes(folder: string, entries: readonly string[]): void {
  const reached = new Set(entries.map((name) => join(folder, `${name}.d.ts`)));
  for (const file of reached) {
    for (const { fileName } of ts.preProcessFile(readFileSync(file, "utf8"), true, true).importedFiles) {
      if (!fileName.startsWith(".")) continue;
      const target = join(dirname(file), fileName.replace(/\.ts$/, ".d.ts"));
      if (!existsSync(target)) throw new Error(`${file} names ${fileName}, of which there is no declaration`);
      reached.add(target);
    }
  }
  for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const path = join(folder, file);
    if (file.endsWith(".d.ts") && !reached.has(path)) rmSync(path);
  }
}
