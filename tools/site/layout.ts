import { posix } from "node:path";
import type { NavGroup, Page } from "./pages.ts";
import { escapeText, type Heading } from "./render.ts";

const POLICY =
  "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; base-uri 'none'; form-action 'none'";

/** A whole page: head, search, navigation, contents. Nothing in it is fetched from elsewhere, and its policy says so. */
export function formatPage(
  page: Page,
  html: string,
  headings: readonly Heading[],
  groups: readonly NavGroup[],
): string {
  const root = posix.relative(posix.dirname(page.target), ".") || ".";
  const title = page.target === "index.html" ? "Verbatim" : `${page.title} - Verbatim`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeText(title)}</title>
<link rel="stylesheet" href="${root}/site.css">
<link rel="icon" href="${root}/icon.svg" type="image/svg+xml">
<script src="${root}/search.js" defer></script>
</head>
<body data-root="${root}">
<a class="skip" href="#content">Skip to the text</a>
<header>
<a class="home" href="${root}/index.html">Verbatim</a>
<search class="search">
<label for="search-box">Search</label>
<input id="search-box" type="search" autocomplete="off" spellcheck="false" placeholder="press /" aria-controls="search-results">
<div id="search-results" hidden></div>
<p id="search-count" class="hidden" role="status"></p>
</search>
</header>
<div class="columns">
<nav aria-label="Pages">
<details open><summary>Pages</summary>
${groups.map((group) => formatGroup(group, page, root)).join("\n")}
</details>
</nav>
<main id="content" tabindex="-1">
${html}</main>
${formatContents(headings)}
</div>
</body>
</html>
`;
}

function formatGroup({ title, links }: NavGroup, page: Page, root: string): string {
  const rows = links.map(({ target, title: name }) => {
    const here = target === page.target ? ' aria-current="page"' : "";
    return `<li><a href="${root}/${target}"${here}>${escapeText(name)}</a></li>`;
  });
  return `<p class="group">${escapeText(title)}</p>\n<ul>${rows.join("")}</ul>`;
}

function formatContents(headings: readonly Heading[]): string {
  const rows = headings
    .filter(({ depth }) => depth === 2)
    .map(({ id, text }) => `<li><a href="#${id}">${escapeText(text)}</a></li>`);
  if (rows.length < 2) return "";
  return `<aside aria-label="On this page"><p class="group">On this page</p><ul>${rows.join("")}</ul></aside>`;
}
