import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { sortedByCodePoint, sortedUnique } from "../../src/core/canonical/index.ts";
import { ROOT } from "../stages.ts";

/** Folders of src/ and which of them import which, as `from to` pairs. */
export interface FolderGraph {
  readonly folders: readonly string[];
  readonly edges: ReadonlyMap<string, readonly string[]>;
}

/** A module as dependency-cruiser reports it, with what it imports; paths are below the root. */
export interface CruisedModule {
  readonly source: string;
  readonly dependencies: readonly { readonly resolved: string }[];
}

const LAYERS = ["surfaces", "app", "rooms", "adapters", "core"] as const;

/** Every module of src, read by the same checker that enforces the directions. */
export function cruiseSources(): readonly CruisedModule[] {
  const bin = join(ROOT, "node_modules/dependency-cruiser/bin/dependency-cruise.mjs");
  const args = [bin, "--config", ".dependency-cruiser.cjs", "--output-type", "json", "src"];
  const output = execFileSync(process.execPath, args, { cwd: ROOT, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  const { modules } = JSON.parse(output) as { readonly modules: readonly CruisedModule[] };
  if (!modules.some(({ source }) => source.startsWith("src/core/"))) {
    throw new Error("dependency-cruiser read no module of core");
  }
  return modules.filter(({ source }) => source.startsWith("src/"));
}

/** The folders of the modules, and which of them import which. */
export function readFolderGraph(ours = cruiseSources()): FolderGraph {
  const edges = new Map<string, string[]>();
  for (const { source, dependencies } of ours) {
    const from = folderOf(source);
    const targets = dependencies.map(({ resolved }) => resolved).filter((path) => path.startsWith("src/"));
    edges.set(from, [...(edges.get(from) ?? []), ...targets.map(folderOf)]);
  }
  return { folders: sortedUnique(ours.map(({ source }) => folderOf(source))), edges };
}

/** `core/text`, `rooms/jobs`, `app/compose`, or `entries` for the files directly under src/. */
function folderOf(path: string): string {
  const parts = path.split("/").slice(1, -1);
  return parts.length === 0 ? "entries" : parts.slice(0, 2).join("/");
}

/** A Mermaid picture: each surface, each room and compose by itself; hall, app and adapters as one box with their contents. */
export function formatFloorPlan(graph: FolderGraph): string {
  const lines = ["```mermaid", "flowchart TD"];
  if (graph.folders.includes("entries")) lines.push('  entries["src/*.ts: command line, library"]');
  for (const layer of LAYERS) lines.push(...formatLayer(layer, graph.folders));
  for (const edge of formatEdges(graph)) lines.push(`  ${edge}`);
  return [...lines, "```", ""].join("\n");
}

function formatLayer(layer: (typeof LAYERS)[number], folders: readonly string[]): string[] {
  const inside = folders.filter((folder) => folder === layer || folder.startsWith(`${layer}/`));
  const names = inside.filter((folder) => folder !== layer).map((folder) => folder.slice(layer.length + 1));
  if (inside.length === 0) return [];
  if (layer === "surfaces" || layer === "rooms") {
    return [`  subgraph ${layer}`, ...names.map((name) => `    ${idOf(`${layer}/${name}`)}["${name}"]`), "  end"];
  }
  const others = names.filter((name) => boxOf(`${layer}/${name}`) === layer);
  const apart = names.filter((name) => !others.includes(name)).map((name) => `${layer}/${name}`);
  const label = [layer, others.join(", ")].filter((part) => part !== "").join(": ");
  return [`  ${layer}["${label}"]`, ...apart.map((folder) => `  ${idOf(folder)}["${folder}"]`)];
}

function formatEdges(graph: FolderGraph): string[] {
  const pairs: string[] = [];
  for (const [from, targets] of graph.edges) {
    for (const to of targets) {
      const [a, b] = [boxOf(from), boxOf(to)];
      if (a !== b)
        pairs.push(`${idOf(a)} ${a === "adapters" && b.startsWith("rooms/") ? "-. ports .->" : "-->"} ${idOf(b)}`);
    }
  }
  return sortedByCodePoint(new Set(pairs));
}

/** The box that stands for a folder. */
function boxOf(folder: string): string {
  const isApart = folder.startsWith("rooms/") || folder.startsWith("surfaces/") || folder === "app/compose";
  return isApart ? folder : (folder.split("/")[0] ?? folder);
}

function idOf(box: string): string {
  return box.replaceAll(/[^a-z0-9]/g, "_");
}
