import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { keepCorpus } from "./kept-corpus.ts";
import { seededIntegers, seededWords } from "./seed.ts";

const FILE_BYTES = 4_100;

export interface Page {
  readonly path: string;
  readonly text: string;
}

/** Markdown files of 4.1 kB with ten sections each, the same in every run. */
export function* makePages(count: number): Iterable<Page> {
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

/** A git repository with so many pages, all committed and old enough to be trusted; made once and kept. */
export function openCorpus(count: number): Promise<string> {
  return keepCorpus(`markdown-${count}`, ["bench/markdown-corpus.ts", "bench/seed.ts"], async (folder) => {
    writePages(folder, count);
    for (const args of [
      ["init", "-q"],
      ["add", "-A"],
      ["commit", "-q", "-m", "pages"],
    ])
      git(folder, args);
    // Files younger than two seconds are read again by every build, and looked at again by git.
    await wait(2_500);
    git(folder, ["status", "--porcelain"]);
  });
}

/** Runs git with a name of its own, whatever is configured on this machine. */
export function git(cwd: string, args: readonly string[]): void {
  const who = [
    "-c",
    "user.name=Bench",
    "-c",
    "user.email=bench@example.invalid",
    "-c",
    "commit.gpgsign=false",
    "-c",
    "gc.auto=0",
  ];
  const { status, stderr } = spawnSync("git", [...who, ...args], { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
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
