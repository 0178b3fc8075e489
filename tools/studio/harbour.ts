import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { launchBrowser } from "../../test/support/browser.ts";
import { ROOT } from "../stages.ts";

const PATIENCE_MS = 60_000;

const FILES: Readonly<Record<string, string>> = {
  "src/tide.ts": `/** The hour of the next high tide, from the last one. */
export function nextTide(last: number): number {
  const hours = 12.42;
  return (last + hours) % 24;
}

export function isHigh(height: number): boolean {
  return height > 2;
}
`,
  "src/lamp.ts": `export interface Lamp {
  readonly name: string;
  readonly lit: boolean;
}

export function light(lamp: Lamp): Lamp {
  return { ...lamp, lit: false };
}
`,
  "src/log.ts": `const lines: string[] = [];

export function write(line: string): void {
  lines.push(line);
}
`,
  "test/lamp.test.mjs": `import { readFileSync } from "node:fs";
import { test } from "node:test";
import assert from "node:assert";

test("a lamp that was lit is lit", () => {
  assert.match(readFileSync("src/lamp.ts", "utf8"), /lit: true/);
});
`,
  "docs/keeper.md": `# The keeper

The keeper lights the lamp at dusk and writes down who came in.

## Tides

High water comes every 12 hours and 25 minutes. Nothing moors at the north quay then.
`,
  "infra/deploy.sh": "#!/bin/sh\nexit 0\n",
};

const AGENTS = ["agents/keeper.sh", "agents/slow.sh"] as const;

/** What the honest agent does: five files, several hunks, and colours while it works. */
const HONEST = `
printf '\\033[1mReading src/lamp.ts\\033[0m\\n'
sed -i 's/lit: false/lit: true/' src/lamp.ts
printf '\\033[32m+\\033[0m lit: true\\n'
sed -i -e 's/const hours = 12.42;/const hours = 12 + 25 \\/ 60;/' -e 's/return height > 2;/return height >= 2;/' src/tide.ts
sed -i 's/lines.push(line);/lines.push(line.trimEnd());/' src/log.ts
printf '\\n## Lamps\\n\\nA lamp that was lit stays lit until somebody puts it out.\\n' >> docs/keeper.md
cat > src/keeper.ts <<'END'
import { light, type Lamp } from "./lamp.ts";

/** Lights every lamp of the harbour. */
export function lightAll(lamps: readonly Lamp[]): Lamp[] {
  return lamps.map(light);
}
END
printf 'changed 5 files\\n'
`;

const SLOW = `
i=0
while [ $i -lt 900 ]; do
  i=$((i+1))
  printf '\\033[32m✓\\033[0m lamp %d of 900 is lit\\n' $i
  [ $i = 3 ] && sed -i 's/lit: false/lit: true/' src/lamp.ts
  sleep 0.3
done
`;

/** A repository of a harbour with runs of several kinds, its server, and a browser: for flows and pictures. */
export class Harbour {
  readonly root: string;
  readonly #base: string;
  readonly #env: NodeJS.ProcessEnv;
  #server: ChildProcess | null = null;
  #link = "";
  #browser: Browser | null = null;

  constructor() {
    const cache = join(ROOT, "node_modules/.cache");
    mkdirSync(cache, { recursive: true });
    this.#base = realpathSync(mkdtempSync(join(cache, "verbatim-harbour-")));
    this.root = join(this.#base, "harbour");
    for (const folder of ["harbour", "home", "state"]) mkdirSync(join(this.#base, folder));
    this.#env = {
      PATH: process.env["PATH"] ?? "",
      HOME: join(this.#base, "home"),
      XDG_STATE_HOME: join(this.#base, "state"),
      GIT_CONFIG_GLOBAL: "/dev/null",
      NO_COLOR: "1",
    };
    for (const [path, text] of Object.entries(FILES)) this.write(path, text);
    for (const [at, path] of AGENTS.entries()) this.write(path, [HONEST, SLOW][at]!.trimStart());
    this.write(
      "verbatim.config.json",
      `${JSON.stringify({ agent: { verify: { commands: ["node --test test/"] }, commands: COMMANDS } }, null, 2)}\n`,
    );
    this.git("init", "-q");
    this.git("add", "-A");
    this.git("commit", "-qm", "the harbour");
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), text);
  }

  git(...args: string[]): void {
    const who = ["-c", "user.name=Mira", "-c", "user.email=mira@example.org"];
    execFileSync("git", [...who, ...args], { cwd: this.root, env: this.#env, stdio: "ignore" });
  }

  /** `verbatim` in the repository, as people type it; what it printed. A run that is refused ends with 1. */
  verbatim(...args: string[]): string {
    try {
      return execFileSync(process.execPath, [join(ROOT, "bin/verbatim.js"), ...args], {
        cwd: this.root,
        env: this.#env,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
      });
    } catch (thrown) {
      const { status, stdout } = thrown as { readonly status: number | null; readonly stdout: string };
      if (status === 1) return stdout;
      throw thrown;
    }
  }

  run(goal: string, script: string, ...flags: string[]): string {
    return this.#start(goal, ["sh", "-ec", script], flags);
  }

  #start(goal: string, command: readonly string[], flags: readonly string[]): string {
    const said = this.verbatim("agent", "--json", "--goal", goal, ...flags, "--", ...command);
    return (JSON.parse(said) as { readonly run_id: string }).run_id;
  }

  honest(goal: string): string {
    return this.#start(goal, ["sh", "-e", "agents/keeper.sh"], []);
  }

  /** Starts the server and gives the link that it prints. */
  async serve(): Promise<string> {
    const args = [join(ROOT, "bin/verbatim.js"), "studio", "--port", "0"];
    const child = spawn(process.execPath, args, { cwd: this.root, env: this.#env, stdio: ["pipe", "pipe", "ignore"] });
    this.#server = child;
    let text = "";
    this.#link = await new Promise<string>((resolve, reject) => {
      child.stdout.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        const found = /http\S+/.exec(text);
        if (found !== null && text.includes("\n")) resolve(found[0]);
      });
      child.once("close", (code) => reject(new Error(`the server ended with ${code}`)));
    });
    return this.#link;
  }

  get base(): string {
    return new URL(this.#link).origin;
  }

  /** A window; the first one takes the link, every further one the session of the first. */
  async window(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    this.#browser ??= await launchBrowser();
    return await this.#browser.newContext({
      locale: "en-US",
      viewport: { width: 1280, height: 860 },
      serviceWorkers: "block",
      ...options,
    });
  }

  async page(window: BrowserContext): Promise<Page> {
    const page = await window.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    return page;
  }

  async lastLook(path: string): Promise<void> {
    const page = this.#browser?.contexts().at(-1)?.pages().at(-1);
    if (page === undefined) return;
    mkdirSync(dirname(path), { recursive: true });
    await page.screenshot({ path });
  }

  async close(): Promise<void> {
    await this.#browser?.close();
    this.#server?.kill();
    execFileSync("chmod", ["-R", "u+rwX", this.#base]);
    rmSync(this.#base, { recursive: true, force: true });
  }
}

const COMMANDS = {
  keeper: {
    argv: ["sh", "-e", "agents/keeper.sh", "{goal}"],
    feedback: ["sh", "-ec", 'printf %s "$1" > told.txt', "keeper", "{feedback}"],
    timeout_s: 600,
  },
  slow: { argv: ["sh", "-e", "agents/slow.sh", "{goal}"], timeout_s: 600 },
};
