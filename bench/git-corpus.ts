import { execFileSync } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { keepCorpus } from "./kept-corpus.ts";

export interface CorpusFile {
  readonly path: string;
  readonly text: string;
}

/** Files younger than two seconds are trusted by nobody: builds, looks at the tree and git read them again. */
const REST_MS = 3_000;

// Nothing may work on a repository in the background while it is measured, and nobody needs it after a crash.
const SETTINGS = ["-c", "gc.auto=0", "-c", "core.fsync=none", "-c", "core.compression=0"];

/**
 * A repository of files in one commit, old enough to be trusted; made once and kept, as long as the sources that say
 * what is in it stay the same. Git writes the files, which is the fastest.
 */
export function keepRepository(
  name: string,
  makers: readonly string[],
  makeFiles: () => Iterable<CorpusFile>,
): Promise<string> {
  return keepCorpus(name, ["bench/git-corpus.ts", ...makers], async (folder) => {
    const git = (args: readonly string[], input = "") =>
      execFileSync("git", [...SETTINGS, ...args], { cwd: folder, input, stdio: ["pipe", "ignore", "inherit"] });
    git(["init", "-q", "-b", "main"]);
    git(["fast-import", "--quiet"], toStream(makeFiles()));
    git(["reset", "-q", "--hard"]);
    await wait(REST_MS);
    git(["status"]);
  });
}

/** One commit as git reads it. */
function toStream(files: Iterable<CorpusFile>): string {
  const stream = ["commit refs/heads/main", "committer Bench <bench@example.org> 0 +0000", "data 6", "first"];
  for (const { path, text } of files) {
    stream.push(`M 100644 inline ${path}`, `data ${Buffer.byteLength(text)}`, text);
  }
  return `${stream.join("\n")}\n`;
}
