import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** Agents that follow a script. Each is a command that works on the folder it is started in. */
export interface ScriptedAgent {
  readonly name: string;
  /** Writes what it needs into a folder outside the repository and returns its command. */
  command(folder: string): string[];
}

/** A shell script: edits, moves, deletes, commits. */
export const SHELL_AGENT: ScriptedAgent = {
  name: "a shell script",
  command: () => [
    "sh",
    "-ec",
    [
      "sed -i 's/off/on/' src/lamp.txt",
      "mv src/oil.txt src/fuel.txt",
      "rm docs/old.md",
      "mkdir -p src/new && printf 'a line\\n' > src/new/deep.txt",
      "chmod +x tools/ring.sh",
      "git add -A && git -c user.name=Bot -c user.email=bot@example.org commit -qm 'my own commit'",
      "git checkout -qb other && git stash list",
      "echo finished",
    ].join("\n"),
  ],
};

const NODE_AGENT_SCRIPT = `
import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, writeFileSync } from "node:fs";
for (let i = 0; i < 8; i++) spawnSync("sh", ["-c", "echo child " + i + " >> src/children.txt"]);
const daemon = spawn("sh", ["-c", "while :; do date >> src/daemon.txt; sleep 0.05; done"], { detached: true, stdio: "ignore" });
daemon.unref();
spawn("setsid", ["sh", "-c", "sleep 1000"], { detached: true, stdio: "ignore" }).unref();
appendFileSync("src/lamp.txt", "by a program\\n");
writeFileSync("src/pid.txt", String(daemon.pid) + "\\n");
`;

/** A Node program that starts children and leaves daemons behind. */
export const NODE_AGENT: ScriptedAgent = {
  name: "a program with children and daemons",
  command(folder) {
    const script = join(folder, "node-agent.mjs");
    writeFileSync(script, NODE_AGENT_SCRIPT);
    return [process.execPath, script];
  },
};

/** Rewrites thousands of files. */
export function rewriter(files: number): ScriptedAgent {
  return {
    name: "a rewriter of thousands of files",
    command(folder) {
      const script = join(folder, "rewriter.mjs");
      writeFileSync(
        script,
        `import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
mkdirSync("made", { recursive: true });
for (let i = 0; i < ${files}; i++) writeFileSync("made/" + i + ".txt", "file " + i + "\\n");
for (const name of readdirSync("many")) writeFileSync("many/" + name, readFileSync("many/" + name, "utf8") + "again\\n");
`,
      );
      return [process.execPath, script];
    },
  };
}

/** Tries to reach everything it should not: the real tree, the store, the repository, what lies outside. */
export function misbehaver(root: string, outside: string): ScriptedAgent {
  return {
    name: "one that misbehaves",
    command: () => [
      "sh",
      "-c",
      [
        "echo planted > .verbatim/planted",
        "rm -rf .verbatim",
        `echo hacked > ${outside}/victim.txt`,
        `rm -f ${outside}/victim.txt`,
        `ln -s ${outside}/victim.txt src/link && echo through > src/link; rm -f src/link`,
        `ln ${outside}/victim.txt src/hard && echo through >> src/hard; rm -f src/hard`,
        "printf '[core]\\n\\thooksPath = /tmp/x\\n' >> .git/config",
        "echo '#!/bin/sh' > .git/hooks/post-checkout; chmod +x .git/hooks/post-checkout",
        "rm -f .git/index",
        "chmod 000 src; chmod 755 src",
        "touch -d '2001-01-01' src/lamp.txt",
        `mount --bind / ${root}/src`,
        `umount ${root}`,
        `nsenter -t 1 -m sh -c 'echo out > ${root}/src/lamp.txt'`,
        `echo root > /proc/1/root${root}/src/lamp.txt`,
        `(sleep 0.3; echo late > ${root}/src/lamp.txt) & disown 2>/dev/null`,
        "mkfifo src/pipe",
        "echo still-here >> src/lamp.txt",
        "true",
      ].join("\n"),
    ],
  };
}
