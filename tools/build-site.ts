import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { formatPage } from "./site/layout.ts";
import { readSite } from "./site/pages.ts";
import { makeResolver, renderPage } from "./site/render.ts";
import { type Found, formatSearchIndex, listParts } from "./site/search-index.ts";
import { ROOT } from "./stages.ts";

const ASSETS = new URL("site/assets/", import.meta.url);
const MARK = ".verbatim-site";
/** The reference of the library, which another tool puts into the same folder; it stays, and the navigation names it. */
const API = "api";

/** Builds the site into a folder of its own, anew, and says how many pages it has. The same files give the same bytes. */
export function buildSite(out: string): number {
  prepare(out);
  const { pages, groups } = readSite(existsSync(join(out, API, "index.html")));
  const targets = new Map(pages.map(({ source, target }) => [source, target]));
  const follow = makeResolver(targets, (file) => existsSync(join(ROOT, file)) && statSync(join(ROOT, file)).isFile());
  const files = new Set<string>();
  const parts: Found[] = [];
  for (const page of pages) {
    const rendered = renderPage(page.source, page.text, follow);
    for (const file of rendered.files) files.add(file);
    parts.push(...listParts(page.target, page.title, rendered.html, rendered.headings));
    put(join(out, page.target), formatPage(page, rendered.html, rendered.headings, groups));
  }
  for (const file of files) {
    mkdirSync(dirname(join(out, "files", file)), { recursive: true });
    cpSync(join(ROOT, file), join(out, "files", file));
  }
  for (const name of readdirSync(ASSETS)) cpSync(new URL(name, ASSETS), join(out, name));
  put(join(out, "search-index.js"), formatSearchIndex(parts));
  return pages.length;
}

/** Removes what an earlier build left, and nothing that is not ours. */
function prepare(out: string): void {
  const names = existsSync(out) ? readdirSync(out).filter((name) => name !== API) : [];
  if (names.length > 0 && !names.includes(MARK)) {
    throw new Error(`${out} is not empty and was not made by this tool; choose another folder with --out`);
  }
  for (const name of names) rmSync(join(out, name), { recursive: true });
  put(join(out, MARK), "");
}

function put(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function main(): void {
  const at = process.argv.indexOf("--out");
  const out = resolve(at === -1 ? join(ROOT, "dist.site") : (process.argv[at + 1] ?? ""));
  const count = buildSite(out);
  console.log(`wrote ${count} pages to ${out}; open ${join(out, "index.html")}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) main();
