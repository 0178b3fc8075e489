import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import ts from "typescript";
import { sortedByCodePoint } from "../../src/core/canonical/index.ts";

/** One source file as the TypeScript API reads it. */
export interface Source {
  /** Path below the root, with slashes. */
  readonly path: string;
  readonly text: string;
  readonly tree: ts.SourceFile;
}

/** Production code: every TypeScript file of src that is not a test. */
export function readSources(root: string): Source[] {
  const all = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).map((path) => `src/${path}`);
  const paths = all.map((path) => path.split(sep).join("/")).filter((path) => /(?<!\.test|\.d)\.ts$/.test(path));
  return sortedByCodePoint(paths).map((path) => {
    const text = readFileSync(join(root, path), "utf8");
    return { path, text, tree: ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true) };
  });
}

/** Visits every node below one, itself included. */
export function eachNode(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => eachNode(child, visit));
}

/** Files and lines. A line ends with a line feed, as `wc -l` counts. */
export function countSize(sources: readonly Source[]): { readonly files: number; readonly lines: number } {
  return { files: sources.length, lines: sources.reduce((sum, { text }) => sum + text.split("\n").length - 1, 0) };
}
