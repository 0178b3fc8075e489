import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import type { Plugin } from "vite";
import { sortedByCodePoint } from "../src/core/canonical/index.ts";
import { ROOT } from "./stages.ts";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
};

/** One file of the Studio as the server finds it: nothing that is not in this list is ever served. */
interface Asset {
  readonly path: string;
  readonly type: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Encodings that lie beside it, the smallest first. */
  readonly encodings: readonly ("br" | "gzip")[];
}

/** What decides how the Studio is built, besides the settings of the package. */
export function studioInputs(): string[] {
  const files = readdirSync(join(ROOT, "web"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("node_modules"))
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length).replaceAll("\\", "/"));
  return sortedByCodePoint(files);
}

/**
 * Builds the pages of the Studio into a folder, with the list of what is in it; the packages that were built in. In the size
 * of the sources; compressing takes most of it.
 */
export async function buildStudio(
  target: string,
  licencesOf: (packages: readonly string[]) => string,
): Promise<string[]> {
  // Loaded only to build. React takes its fast form only in production, whatever runs the build.
  const before = process.env["NODE_ENV"];
  process.env["NODE_ENV"] = "production";
  const { build } = await import("vite");
  const folder = join(target, "studio");
  const packages = new Set<string>();
  const note: Plugin = {
    name: "note-packages",
    generateBundle(_options, output) {
      for (const file of Object.values(output)) {
        if (file.type === "chunk") for (const id of file.moduleIds) packages.add(packageOf(id));
      }
    },
  };
  try {
    await build({
      configFile: join(ROOT, "web/vite.config.ts"),
      mode: "production",
      logLevel: "warn",
      plugins: [note],
      worker: { plugins: () => [note] },
      build: { outDir: folder, emptyOutDir: true },
    });
  } finally {
    if (before === undefined) delete process.env["NODE_ENV"];
    else process.env["NODE_ENV"] = before;
  }
  const sizes = readFileSync(join(folder, ".vite/manifest.json"), "utf8");
  rmSync(join(folder, ".vite"), { recursive: true });
  const built = sortedByCodePoint([...packages].filter((name) => name !== ""));
  writeFileSync(join(folder, "licences.txt"), licencesOf(built));
  fillServiceWorker(folder);
  const assets = listAssets(folder).map((path) => describe(folder, path));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "assets.json"), `${JSON.stringify({ assets, manifest: JSON.parse(sizes) }, null, 1)}\n`);
  return built;
}

const FILES = "__STUDIO_FILES__";

/** Tells the service worker which files there are; another list is another version of it. */
function fillServiceWorker(folder: string): void {
  const place = join(folder, "sw.js");
  const text = readFileSync(place, "utf8");
  if (text.split(FILES).length !== 2 || /\bimport\b/.test(text))
    throw new Error("the service worker is not as expected");
  const files = listAssets(folder).filter((path) => path.startsWith("assets/"));
  const version = createHash("sha256")
    .update([...files, text].join("\n"))
    .digest("hex")
    .slice(0, 16);
  writeFileSync(place, text.replace(FILES, [version, ...files.map((path) => `/${path}`)].join(" ")));
}

/** The package a module came from; empty for our own. */
function packageOf(id: string): string {
  return /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(id)?.[1]?.replaceAll("\\", "/") ?? "";
}

function listAssets(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return sortedByCodePoint(
    entries.map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .replaceAll("\\", "/"),
    ),
  );
}

function describe(folder: string, path: string): Asset {
  const type = TYPES[extname(path)];
  if (type === undefined) throw new Error(`the Studio has a file of no known type: ${path}`);
  const bytes = readFileSync(join(folder, path));
  const br = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
  // The plain form is made of this one where somebody takes no other: both would double what everybody downloads.
  writeFileSync(join(folder, `${path}.br`), br);
  rmSync(join(folder, path));
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { path: `/${path}`, type, bytes: bytes.length, sha256, encodings: ["br", "gzip"] };
}
