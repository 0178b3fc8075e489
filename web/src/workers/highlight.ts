import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import lua from "highlight.js/lib/languages/lua";
import makefile from "highlight.js/lib/languages/makefile";
import markdown from "highlight.js/lib/languages/markdown";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { css, javascript, scss, typescript } from "./relatives.ts";

const LANGUAGES = {
  bash,
  c,
  cpp,
  csharp,
  css,
  dockerfile,
  go,
  ini,
  java,
  javascript,
  json,
  kotlin,
  lua,
  makefile,
  markdown,
  php,
  python,
  ruby,
  rust,
  scss,
  sql,
  swift,
  typescript,
  xml,
  yaml,
};
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

export type Colour = "keyword" | "string" | "comment" | "number" | "name";
/** From, to, colour. */
export type Range = readonly [number, number, Colour];

export interface ColourRequest {
  readonly hunk: string;
  readonly language: string;
  readonly kinds: readonly ("context" | "added" | "deleted")[];
  readonly texts: readonly string[];
}

export interface ColourAnswer {
  readonly hunk: string;
  /** Ranges of every line. */
  readonly lines: readonly (readonly Range[])[];
}

const COLOURS: Readonly<Record<string, Colour>> = {
  keyword: "keyword",
  built_in: "keyword",
  literal: "keyword",
  meta: "keyword",
  "selector-tag": "keyword",
  string: "string",
  regexp: "string",
  char: "string",
  addition: "string",
  comment: "comment",
  quote: "comment",
  doctag: "comment",
  number: "number",
  symbol: "number",
  bullet: "number",
  title: "name",
  attr: "name",
  attribute: "name",
  name: "name",
  section: "name",
  type: "name",
  property: "name",
};

const LONGEST = 200_000;
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'" };

/** Colours both sides of a hunk as the texts they are: what was removed never opens a string in what was added. */
export function colour({ hunk, language, kinds, texts }: ColourRequest): ColourAnswer {
  const lines: (readonly Range[])[] = texts.map(() => []);
  for (const skipped of ["added", "deleted"] as const) {
    const side = texts.flatMap((text, at) => (kinds[at] === skipped ? [] : [{ text, at }]));
    const text = side.map((line) => line.text).join("\n");
    if (text.length > LONGEST) continue;
    const ranges = readRanges(hljs.highlight(text, { language, ignoreIllegals: true }).value);
    let start = 0;
    for (const line of side) {
      lines[line.at] = cut(ranges, start, start + line.text.length);
      start += line.text.length + 1;
    }
  }
  return { hunk, lines };
}

/** Reads the markup of the highlighter back as ranges, so that no markup ever reaches the page. */
export function readRanges(markup: string): Range[] {
  const ranges: Range[] = [];
  const open: (Colour | null)[] = [];
  let at = 0;
  for (const [part, entity] of markup.matchAll(/<[^>]*>|&([^;]{2,4});|[^<&]+/g)) {
    if (part.startsWith("</")) open.pop();
    else if (part.startsWith("<")) {
      const name = /hljs-([\w-]+)/.exec(part)?.[1] ?? "";
      open.push(COLOURS[name] ?? open.at(-1) ?? null);
    } else {
      const length = entity === undefined ? part.length : (ENTITIES[entity]?.length ?? part.length);
      const now = open.at(-1) ?? null;
      const last = ranges.at(-1);
      if (now !== null && last !== undefined && last[1] === at && last[2] === now)
        ranges[ranges.length - 1] = [last[0], at + length, now];
      else if (now !== null) ranges.push([at, at + length, now]);
      at += length;
    }
  }
  return ranges;
}

function cut(ranges: readonly Range[], from: number, to: number): Range[] {
  const found: Range[] = [];
  // In order, so that a search begins where the line does.
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ranges[middle]![1] <= from) low = middle + 1;
    else high = middle;
  }
  for (let at = low; at < ranges.length && ranges[at]![0] < to; at++) {
    const [start, end, name] = ranges[at]!;
    found.push([Math.max(start, from) - from, Math.min(end, to) - from, name]);
  }
  return found;
}

if (typeof document === "undefined" && typeof postMessage === "function") {
  addEventListener("message", ({ data }: MessageEvent<ColourRequest>) => postMessage(colour(data)));
}
