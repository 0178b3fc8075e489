import { readFileSync } from "node:fs";

/** A small page that proves the API works; the Studio takes its place. */
export const PAGE_HTML = readFileSync(new URL("./scripts/page.html", import.meta.url), "utf8");
export const PAGE_CSS = readFileSync(new URL("./scripts/page.css", import.meta.url), "utf8");
export const PAGE_JS = readFileSync(new URL("./scripts/page.js", import.meta.url), "utf8");
