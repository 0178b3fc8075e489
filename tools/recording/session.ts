import { execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findTool } from "../../src/adapters/guards/tools.ts";
import { ROOT } from "../stages.ts";
import { type Run, Screen } from "./screen.ts";

/** What is typed, and after which words on the screen an answer is given. */
interface Line {
  readonly typed: string;
  readonly answer?: { readonly after: string; readonly keys: string };
}

/** The session of the picture: an agent that is a script, as any command can be, in a small repository. */
const LINES: readonly Line[] = [
  {
    typed: 'verbatim agent --goal "fix hourOf" --verify "node check.mjs" -- ./agent.sh',
    answer: { after: "throw away  > ", keys: "a" },
  },
  { typed: "git status --short" },
];

const FILES: Readonly<Record<string, string>> = {
  "src/clock.mjs": "export const hourOf = (minutes) => minutes / 60;\n",
  "check.mjs": 'import { hourOf } from "./src/clock.mjs";\nif (hourOf(150) !== 2) process.exit(1);\n',
  "agent.sh":
    "#!/bin/sh\nsed -i 's|minutes / 60|Math.floor(minutes / 60)|' src/clock.mjs\necho 'I fixed hourOf. All tests pass.'\n",
};

/** Why the session cannot be recorded on this machine; null where it can. */
export function whyNoRecording(): string | null {
  if (process.platform !== "linux") return "needs Linux";
  return findTool("script") === null || findTool("perl") === null ? "needs script and perl" : null;
}

/** Types the session in a real terminal, 84 columns wide, and gives the rows that are on its screen at the end. */
export async function recordSession(): Promise<Run[][]> {
  // An agent has a temporary folder of its own, so the repository lies elsewhere.
  const cache = join(ROOT, "node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const base = realpathSync(mkdtempSync(join(cache, "verbatim-recording-")));
  try {
    const root = join(base, "tide-clock");
    const env = makeSurroundings(base, root);
    const screen = new Screen();
    for (const { typed, answer } of LINES) {
      screen.write(`\u001b[32m$\u001b[0m \u001b[1m${typed}\u001b[0m\r\n`);
      screen.write(await typeInTerminal(typed, root, env, answer));
    }
    return screen.rows();
  } finally {
    execFileSync("chmod", ["-R", "u+rwX", base]);
    rmSync(base, { recursive: true, force: true });
  }
}

function makeSurroundings(base: string, root: string): Record<string, string> {
  for (const folder of ["home", "state", "bin", "tide-clock/src"]) mkdirSync(join(base, folder), { recursive: true });
  for (const [path, text] of Object.entries(FILES)) writeFileSync(join(root, path), text);
  chmodSync(join(root, "agent.sh"), 0o755);
  const program = join(base, "bin/verbatim");
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, "bin/verbatim.js")}" "$@"\n`);
  chmodSync(program, 0o755);
  const env = {
    PATH: `${join(base, "bin")}:${process.env["PATH"] ?? ""}`,
    HOME: join(base, "home"),
    XDG_STATE_HOME: join(base, "state"),
    GIT_CONFIG_GLOBAL: "/dev/null",
    TERM: "xterm-256color",
    LANG: "C.UTF-8",
  };
  const git = (...args: string[]) => execFileSync("git", args, { cwd: root, env, stdio: "ignore" });
  git("init", "-q");
  git("add", "-A");
  git("-c", "user.name=Mira", "-c", "user.email=mira@example.org", "commit", "-qm", "a tide clock");
  // What the first run of a repository tells once is not part of every run.
  execFileSync(program, ["agent", "--goal", "nothing", "--no-verify", "--", "true"], {
    cwd: root,
    env,
    stdio: "ignore",
  });
  return env;
}

function typeInTerminal(
  typed: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
  answer: Line["answer"],
): Promise<string> {
  const child = spawn(findTool("script")!, ["-qefc", `stty cols 84; ${typed}`, "/dev/null"], {
    cwd,
    env,
    timeout: 240_000,
  });
  let said = "";
  let waiting = answer;
  return new Promise((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      if (waiting === undefined || !said.includes(waiting.after)) return;
      const { keys } = waiting;
      waiting = undefined;
      // A person needs a moment too; a key that comes before the question listens is echoed twice.
      setTimeout(() => child.stdin.write(keys), 500);
    });
    child.on("error", reject);
    child.on("close", (exit) => {
      if (exit === 0 && waiting === undefined) resolve(said);
      else reject(new Error(`${typed} ended with ${exit}:\n${said}`));
    });
  });
}
