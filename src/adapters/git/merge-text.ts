import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { VerbatimError } from "../../core/errors/index.ts";
import type { LineRange, TextMerge } from "../../rooms/workflow/ports.ts";
import { NO_SETTINGS, runGit } from "./git-process.ts";

const SMALLEST_MARKER = 7;
const LARGEST_MARKER = 1000;
const DIFF = [
  "diff",
  "--no-index",
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--no-renames",
  "--text",
  "--unified=0",
  "--diff-algorithm=myers",
  "--no-indent-heuristic",
  "--",
];

/**
 * `git merge-file` on three files of our own in a folder of our own: nobody's settings, attributes or repository is in
 * sight, and no index, ref or work tree is touched.
 */
export const mergeText: TextMerge = {
  async merge(now, base, candidate) {
    const folder = await mkdtemp(join(tmpdir(), "verbatim-merge-"));
    try {
      await writeFile(join(folder, "now"), now);
      await writeFile(join(folder, "base"), base);
      await writeFile(join(folder, "candidate"), candidate);
      const marker = findMarker([now, base, candidate]);
      const labels = ["the tree as it is now", "before both", "the agent's change"].flatMap((one) => ["-L", one]);
      const size = `--marker-size=${marker ?? SMALLEST_MARKER}`;
      const args = ["merge-file", "-p", "--diff3", size, ...labels, "now", "base", "candidate"];
      const { code, stdout, stderr } = await ask(folder, args);
      if (code === 0) {
        await writeFile(join(folder, "merged"), stdout);
        const yours = await listChanged(folder, "candidate", "merged");
        const agent = await listChanged(folder, "now", "merged");
        return { state: "merged", bytes: stdout, yours, agent };
      }
      // git calls one of them binary.
      if (code === 255) return { state: "conflict", ranges: [], marked: null };
      if (code > 127) throw new VerbatimError("INTERNAL", { message: `git merge-file failed: ${stderr.trim()}` });
      if (marker === null) return { state: "conflict", ranges: [], marked: null };
      return { state: "conflict", ranges: await locate(folder, stdout, marker), marked: stdout };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

function ask(folder: string, args: readonly string[]) {
  return runGit({ cwd: folder, args, env: { ...NO_SETTINGS, GIT_CEILING_DIRECTORIES: dirname(folder) } });
}

/** A length of conflict markers that no line of the texts begins with; null where that would be absurd. */
function findMarker(texts: readonly Uint8Array[]): number | null {
  let longest = SMALLEST_MARKER - 1;
  for (const text of texts) {
    for (const [run] of Buffer.from(text)
      .toString("latin1")
      .matchAll(/^(?:<{7,}|>{7,}|={7,}|\|{7,})/gm)) {
      longest = Math.max(longest, run.length);
    }
  }
  return longest < LARGEST_MARKER ? longest + 1 : null;
}

/** Where conflicts are in `now`: their lines are in the text with our side taken, which differs only by clean changes. */
async function locate(folder: string, merged: Buffer, marker: number): Promise<LineRange[]> {
  const lines = merged.toString("latin1").match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const is = (line: string, mark: string) => line.startsWith(mark.repeat(marker)) && line[marker] !== mark;
  const taken: string[] = [];
  const places: { readonly from: number; to: number }[] = [];
  let side: "clean" | "now" | "other" = "clean";
  for (const line of lines) {
    if (side === "clean" && is(line, "<")) {
      side = "now";
      places.push({ from: taken.length, to: taken.length });
    } else if (side === "now" && is(line, "|")) {
      side = "other";
      places.at(-1)!.to = taken.length;
    } else if (side === "other" && is(line, ">")) side = "clean";
    else if (side !== "other") taken.push(line);
  }
  await writeFile(join(folder, "taken"), taken.join(""), "latin1");
  const changes = await listHunks(folder, "now", "taken");
  const toNow = (index: number) => {
    let shift = 0;
    for (const { old, next } of changes) {
      if (next.from >= index) break;
      shift += old.to - old.from - (next.to - next.from);
    }
    return index + shift;
  };
  return places.map(({ from, to }) => {
    const start = toNow(from) + 1;
    return { start, end: Math.max(start, start + to - from - 1) };
  });
}

/** Lines of `after` that differ from `before`; where lines are only gone, the line after them. */
async function listChanged(folder: string, before: string, after: string): Promise<LineRange[]> {
  return (await listHunks(folder, before, after)).map(({ next }) => ({
    start: next.from + 1,
    end: Math.max(next.from + 1, next.to),
  }));
}

interface Span {
  /** Lines before the first, and before the one after the last. */
  readonly from: number;
  readonly to: number;
}

async function listHunks(folder: string, before: string, after: string) {
  const { code, stdout, stderr } = await ask(folder, [...DIFF, before, after]);
  if (code > 1) throw new VerbatimError("INTERNAL", { message: `git diff failed: ${stderr.trim()}` });
  const heads = stdout.toString("latin1").matchAll(/^@@ -([0-9]+)(?:,([0-9]+))? \+([0-9]+)(?:,([0-9]+))? @@/gm);
  return [...heads].map(([, old, oldCount = "1", next, nextCount = "1"]) => ({
    old: toSpan(Number(old), Number(oldCount)),
    next: toSpan(Number(next), Number(nextCount)),
  }));
}

/** Without lines a header names the line before. */
function toSpan(start: number, count: number): Span {
  const from = count === 0 ? start : start - 1;
  return { from, to: from + count };
}
