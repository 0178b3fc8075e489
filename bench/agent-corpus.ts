import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { type App, openApp } from "../src/app/call.ts";
import { type CorpusFile, keepRepository } from "./git-corpus.ts";

/** A file that an agent and a person can change in two places that merge. */
export const NOTES = "notes.txt";

/** So many small files in folders of a hundred. */
function* makeFiles(count: number): Iterable<CorpusFile> {
  yield { path: ".gitignore", text: "ignored/\n" };
  yield { path: NOTES, text: Array.from({ length: 40 }, (_, i) => `line ${i}\n`).join("") };
  for (let i = 0; i < count - 2; i++) {
    const path = `d${Math.floor(i / 5000)}/s${Math.floor(i / 100)}/f${i}.txt`;
    yield { path, text: `file ${i}\nof ${count}\n` };
  }
}

interface AgentCorpus {
  readonly root: string;
  /** Where its home and its state are. */
  readonly base: string;
  readonly app: App;
  readonly env: { readonly PATH: string | undefined; readonly HOME: string; readonly XDG_STATE_HOME: string };
  close(): Promise<void>;
}

/** A repository of so many files, and a home of its own for whoever runs agents on it. */
export async function openAgentCorpus(size: number): Promise<AgentCorpus> {
  const root = await keepRepository(`agent-${size}`, ["bench/agent-corpus.ts"], () => makeFiles(size));
  // The state must not lie below the temporary folder, which an agent has for itself.
  const base = realpathSync(mkdtempSync(join(homedir(), ".verbatim-bench-")));
  const env = { PATH: process.env["PATH"], HOME: join(base, "home"), XDG_STATE_HOME: join(base, "state") };
  const app = openApp({ surface: "library", start: root, env, platform: process.platform });
  return {
    root,
    base,
    app,
    env,
    async close() {
      await app.close();
      const made = [base, join(root, ".verbatim"), join(root, "ignored")];
      for (const one of made) rmSync(one, { recursive: true, force: true });
    },
  };
}
