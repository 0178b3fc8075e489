import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { CliResult } from "./cli.ts";
import { runHere } from "./cli-in-process.ts";
import { makeScratchFolder } from "./scratch.ts";

/** A repository with a home of its own beside it. */
export interface AgentRepo {
  readonly base: string;
  readonly root: string;
  git(...args: string[]): string;
  write(path: string, content: string | Uint8Array, mode?: number): void;
  /** What its user says of agents everywhere, this repository among those they trust. */
  trust(agent?: object): void;
  /** The surroundings a process of `verbatim` in this repository needs. */
  readonly env: Readonly<Record<string, string>>;
  /** `verbatim` in the repository, in this process: what it does is the same, and starting Node again costs more. */
  verbatim(...args: string[]): Promise<CliResult>;
  /** `verbatim agent` with --json; the parsed summary. */
  agent(
    flags: readonly string[],
    command: readonly string[],
  ): Promise<{ exit: number | null; summary: Summary; result: CliResult }>;
}

export interface Summary {
  readonly run_id: string;
  readonly run_dir: string;
  readonly outcome: string;
  readonly reason: string | null;
  readonly agent: { readonly exit_code: number | null; readonly commits: number };
  readonly proof: {
    readonly accepted: boolean;
    readonly condition: string;
    readonly guard: string;
    readonly directory: string;
    readonly hashed: string;
    readonly tree_root_before: string;
    readonly tree_root_after: string;
    readonly concurrent_changes: readonly string[];
  };
  readonly changes: {
    readonly files: readonly { readonly path: string; readonly operation: string }[];
    readonly ignored: number;
    readonly binaries: readonly string[];
    readonly links: readonly string[];
    readonly not_carried: readonly { readonly path: string; readonly why: string; readonly sha256: string | null }[];
  };
  readonly gate: {
    readonly verdict: string;
    readonly findings: readonly { readonly rule: string; readonly path: string | null }[];
  } | null;
  readonly verify: { readonly result: string; readonly isolation: string } | null;
  readonly hooks: { readonly reported: number; readonly reported_blocked: number };
  readonly shown: { readonly files: readonly string[] };
}

export function makeAgentRepo(): AgentRepo {
  // Not below the temporary folder: an agent has a private one of its own, and its run must be visible to it.
  const base = makeScratchFolder("verbatim-agent-");
  onTestFinished(() => {
    execFileSync("chmod", ["-R", "u+rwX", base]);
    rmSync(base, { recursive: true, force: true });
  });
  const root = join(base, "gull-rock");
  for (const folder of ["gull-rock", "home", "state"]) mkdirSync(join(base, folder));
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=Mira", "-c", "user.email=mira@example.org", ...args], {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  git("init", "-q");
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: join(base, "home"),
    NO_COLOR: "1",
    XDG_STATE_HOME: join(base, "state"),
    GIT_CONFIG_GLOBAL: "/dev/null",
  };
  setForTest("HOME", env.HOME);
  setForTest("GIT_CONFIG_GLOBAL", env.GIT_CONFIG_GLOBAL);
  const verbatim = (...args: string[]) => runHere(args, { cwd: root, env });
  return {
    base,
    root,
    env,
    git,
    verbatim,
    write(path, content, mode) {
      const place = join(root, path);
      mkdirSync(dirname(place), { recursive: true });
      writeFileSync(place, content);
      if (mode !== undefined) chmodSync(place, mode);
    },
    trust(agent = {}) {
      const own = join(base, "home/.config/verbatim");
      mkdirSync(own, { recursive: true });
      writeFileSync(join(own, "config.json"), JSON.stringify({ agent: { ...agent, trust: [root] } }));
    },
    async agent(flags, command) {
      const goal = flags.includes("--goal") ? [] : ["--goal", "mend the lamp"];
      const result = await verbatim("agent", ...goal, ...flags, "--json", "--", ...command);
      const summary = JSON.parse(result.stdout) as Summary;
      return { exit: result.exit, summary, result };
    },
  };
}

function setForTest(name: string, value: string): void {
  const old = process.env[name];
  process.env[name] = value;
  onTestFinished(() => {
    if (old === undefined) delete process.env[name];
    else process.env[name] = old;
  });
}

/**
 * Everything about a tree that an agent must not change, told by other programs than ours: names, types, modes, link
 * targets, times of files, contents, and the git index. Our own folder is not part of the tree, and git itself sets
 * the times of objects that it meets again.
 */
export function recordWithTools(root: string): string {
  const script = [
    "find .git/objects -type f -printf '%p f %m %s %i\\n' | LC_ALL=C sort",
    "find . -path ./.verbatim -prune -o -path ./.git/objects -prune -o -type f -printf '%p f %m %s %T@ %i\\n' -o -type l -printf '%p l %l\\n' -o -printf '%p %y %m\\n' | LC_ALL=C sort",
    "find . -path ./.verbatim -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 -r sha256sum",
    "stat -c '%n %Y %Z %s %i' .git/index .git/HEAD",
  ].join("\n");
  return execFileSync("sh", ["-ec", script], { cwd: root, encoding: "utf8", maxBuffer: 256 * 1024 * 1024 });
}
