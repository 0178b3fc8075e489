import type { Heading } from "./render.ts";
import { unescapeText } from "./render.ts";

/** A part of a page that search finds: its address, what it is called, and its words. */
export interface Found {
  readonly url: string;
  readonly page: string;
  readonly title: string;
  readonly text: string;
}

/** Cuts the HTML of a page at its headings. */
export function listParts(target: string, page: string, html: string, headings: readonly Heading[]): Found[] {
  const pieces = html.split(/<h[1-6] id="[^"]*">[\s\S]*?<\/h[1-6]>/);
  return headings.map(({ id, text }, i) => ({
    url: i === 0 ? target : `${target}#${id}`,
    page,
    title: text,
    text: toWords(pieces[i + 1] ?? ""),
  }));
}

function toWords(html: string): string {
  return unescapeText(html.replaceAll(/<!--[\s\S]*?-->/g, " ").replaceAll(/<[^>]*>/g, " "))
    .replaceAll(/\s+/g, " ")
    .trim();
}

/** The file that the page loads when somebody searches. A script, because pages opened from a disk may not fetch. */
export function formatSearchIndex(parts: readonly Found[]): string {
  return `globalThis.verbatimSearchIndex = ${JSON.stringify(parts.map(({ url, page, title, text }) => [url, page, title, text]))};\n`;
}
