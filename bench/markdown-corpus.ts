import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type CorpusFile, keepRepository } from "./git-corpus.ts";
import { seededIntegers, seededWords } from "./seed.ts";

const FILE_BYTES = 4_100;

/** Markdown files of 4.1 kB with ten sections each, the same in every run. */
export function* makePages(count: number): Iterable<CorpusFile> {
  const next = seededIntegers(20_250_103);
  for (let i = 0; i < count; i++) yield { path: `docs/part-${i % 100}/page-${i}.md`, text: makePage(next, i) };
}

/** Writes the pages below a folder. */
export function writePages(root: string, count: number): void {
  for (const { path, text } of makePages(count)) {
    const place = join(root, path);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, text);
  }
}

/** A git repository with so many pages. */
export function openCorpus(count: number): Promise<string> {
  const makers = ["bench/markdown-corpus.ts", "bench/seed.ts"];
  return keepRepository(`markdown-${count}`, makers, () => makePages(count));
}

function makePage(next: (bound: number) => number, number: number): string {
  let text = `# Page ${number}\n\n`;
  for (let section = 0; section < 8; section++) {
    text += `${next(3) === 0 ? "###" : "##"} ${seededWords(next, 3)}${next(4) === 0 ? " `code` *word*" : ""}\n\n`;
    text += `${makeLines(next, 1 + next(3))}\n${makeLines(next, 1 + next(3))}\n`;
    if (next(2) === 0) text += `- ${seededWords(next, 5)}\n- ${seededWords(next, 5)}\n  ${seededWords(next, 2)}\n\n`;
    if (next(4) === 0) text += `\`\`\`\n# ${seededWords(next, 4)}\n\`\`\`\n\n`;
  }
  while (text.length < FILE_BYTES) text += makeLines(next, 1);
  return text;
}

function makeLines(next: (bound: number) => number, count: number): string {
  let lines = "";
  for (let i = 0; i < count; i++) lines += `${seededWords(next, 9)}\n`;
  return lines;
}
