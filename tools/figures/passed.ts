import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { sortedUnique } from "../../src/core/canonical/index.ts";

// How many files a call passes: the distinct source files of which at least one function is entered while it runs, by
// V8's precise coverage of the sources. The hall (core) and the adapters are left out: the first is vocabulary, and the
// way ends where the second begins. What only loading a module does is not counted. A reader who followed `expand` by
// hand counted the same 34; for `agent` the reader stayed on the main line (60), this counts all that is passed.

const CHILD = fileURLToPath(new URL("./passed-child.ts", import.meta.url));

export interface Call {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Command lines that prepare, and last the one that is watched. */
  readonly lines: readonly (readonly string[])[];
}

/** For each call the source files that it passes, by their paths below the root, the hall and the adapters left out. */
export function listPassed(root: string, calls: readonly [Call, ...Call[]]): string[][] {
  const folder = mkdtempSync(join(realpathSync(calls[0].cwd), "..", "passed-"));
  try {
    const out = join(folder, "passed.json");
    const loader = import.meta.resolve("tsx");
    execFileSync(process.execPath, ["--import", loader, CHILD, root, out, JSON.stringify(calls)], {
      cwd: folder,
      env: { PATH: process.env["PATH"], ...calls[0].env },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const base = pathToFileURL(join(realpathSync(root), "src/")).href;
    return (JSON.parse(readFileSync(out, "utf8")) as string[][]).map((urls) => {
      const paths = urls.filter((url) => url.startsWith(base)).map((url) => url.slice(base.length).split("?", 1)[0]!);
      return sortedUnique(paths.filter((path) => !/^(?:core|adapters)\//.test(path)).map((path) => `src/${path}`));
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** `verbatim expand` of one symbol in a workspace with an index. */
export function listPassedByExpand(root: string): string[] {
  return inRepository(root, { context: { sources: ["docs/*.md"] } }, [
    ["index", "build"],
    ["symbol", "add", "@DOC/A", "--file", "docs/a.md", "--slice", "head(3)"],
    ["expand", "@DOC/A"],
  ]);
}

/** `verbatim agent` with a verify command, under the guard that every machine has. */
export function listPassedByAgent(root: string): string[] {
  const command = ["sh", "-c", "echo more >> docs/a.md"];
  return inRepository(root, {}, [
    ["agent", "--goal", "add a line", "--verify", "true", "--guard", "audit", "--", ...command],
  ]);
}

function inRepository(root: string, config: object, lines: Call["lines"]): string[] {
  // Not below the temporary folder, because an agent has a private one of its own.
  const cache = join(root, "node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const base = mkdtempSync(join(cache, "figures-"));
  try {
    const cwd = join(base, "work");
    mkdirSync(join(cwd, "docs"), { recursive: true });
    writeFileSync(join(cwd, "docs/a.md"), "# A\n\nText.\n");
    writeFileSync(join(cwd, "verbatim.config.json"), JSON.stringify(config));
    const env = { HOME: base, XDG_STATE_HOME: join(base, "state"), GIT_CONFIG_GLOBAL: "/dev/null", NO_COLOR: "1" };
    const who = ["-c", "user.name=Mira", "-c", "user.email=mira@example.org"];
    for (const args of [
      ["init", "-q"],
      ["add", "-A"],
      ["commit", "-q", "-m", "base"],
    ]) {
      execFileSync("git", [...who, ...args], { cwd, env: { PATH: process.env["PATH"], ...env } });
    }
    return listPassed(root, [{ cwd, env, lines }])[0]!;
  } finally {
    execFileSync("chmod", ["-R", "u+rwX", base]);
    rmSync(base, { recursive: true, force: true });
  }
}
