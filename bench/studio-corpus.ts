import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { openStore } from "../src/app/compose/store/store.ts";
import { catchUp } from "../src/rooms/workflow/index.ts";
import { launchBrowser } from "../test/support/browser.ts";
import { fixedPorts } from "../test/support/fixed-ports.ts";
import { BIN, ROOT } from "./places.ts";

const TOKEN = "token-of-the-harbour-master";
const PATIENCE_MS = 120_000;
const STATES = ["verified", "applied", "applied", "rejected", "verify_failed", "discarded", "undone"] as const;

/** A repository with agent runs, its server, and a browser. */
export class StudioCorpus {
  readonly root: string;
  readonly env: { readonly PATH: string; readonly HOME: string; readonly XDG_STATE_HOME: string };
  readonly #base: string;
  #server: ChildProcess | null = null;
  #address = "";
  #browser: Browser | null = null;

  constructor() {
    const cache = join(ROOT, "node_modules/.cache");
    mkdirSync(cache, { recursive: true });
    this.#base = realpathSync(mkdtempSync(join(cache, "verbatim-bench-studio-")));
    this.root = join(this.#base, "harbour");
    for (const folder of ["harbour", "home", "state"]) mkdirSync(join(this.#base, folder));
    this.env = {
      PATH: process.env["PATH"] ?? "",
      HOME: join(this.#base, "home"),
      XDG_STATE_HOME: join(this.#base, "state"),
    };
    writeFileSync(join(this.root, "lamp.txt"), "off\n");
    const who = ["-c", "user.name=Mira", "-c", "user.email=mira@example.org"];
    for (const args of [
      ["init", "-q"],
      ["add", "-A"],
      ["commit", "-qm", "first"],
    ]) {
      execFileSync("git", [...who, ...args], { cwd: this.root });
    }
  }

  /** One agent run by the command line; its id. */
  run(goal: string, script: string): string {
    const line = [
      "agent",
      "--json",
      "--no-verify",
      "--max-added-lines",
      "100000",
      "--goal",
      goal,
      "--",
      "sh",
      "-ec",
      script,
    ];
    const made = execFileSync(process.execPath, [BIN, ...line], {
      cwd: this.root,
      env: this.env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return (JSON.parse(made) as { readonly run_id: string }).run_id;
  }

  /** One that works in the background; its id, once its agent has started. */
  start(goal: string, script: string): string {
    const line = ["agent", "--detach", "--json", "--no-verify", "--goal", goal, "--", "sh", "-ec", script];
    return (JSON.parse(this.#verbatim(line)) as { readonly run_id: string }).run_id;
  }

  /** When the agent of a run ended, by the ledger. */
  endOf(run: string): number {
    this.#verbatim(["agent", "wait", run]);
    const shown = JSON.parse(this.#verbatim(["agent", "show", run, "--json"])) as {
      readonly attempts: readonly { readonly ended_at: string }[];
    };
    return Date.parse(shown.attempts.at(-1)!.ended_at);
  }

  #verbatim(line: readonly string[]): string {
    return execFileSync(process.execPath, [BIN, ...line], {
      cwd: this.root,
      env: this.env,
      encoding: "utf8",
      maxBuffer: 1 << 28,
      stdio: ["ignore", "pipe", "ignore"],
    });
  }

  /** When the first entry of a run was made, by the ledger. */
  firstEntryOf(run: string): number {
    // A list of the ledger begins with its newest entry, the timeline of a run with its oldest.
    const shown = JSON.parse(this.#verbatim(["agent", "show", run, "--json"])) as {
      readonly timeline: readonly { readonly at: string }[];
    };
    return Date.parse(shown.timeline[0]!.at);
  }

  /** A finished run, and so many more like it in the table that lists are made from. */
  async seedRuns(count: number): Promise<void> {
    const first = this.run("Light the lamp", "echo on > lamp.txt");
    const path = join(this.root, ".verbatim/state/store.db");
    const store = await openStore({ ...fixedPorts(), path, url: undefined });
    // Whoever reads first would make the table again from the ledger, which has only one run.
    await catchUp(store);
    await store.transact(async ({ agents }) => {
      const row = (await agents.find(first))!;
      for (let n = 1; n < count; n++) {
        const created_at = new Date(Date.UTC(2026, 0, 1) + n * 60_000).toISOString();
        const run_id = `20260101-${String(n).padStart(6, "0")}-${n.toString(16).padStart(6, "0")}`;
        const state = STATES[n % STATES.length]!;
        const files = n % 9;
        const goal = `Mend the rope of boat ${n} and say when the tide is high`;
        await agents.put({
          ...row,
          run_id,
          goal,
          state,
          created_at,
          updated_at: created_at,
          files,
          added_lines: n % 400,
        });
      }
    });
    await store.close();
  }

  async serve(): Promise<void> {
    const args = [BIN, "studio", "--port", "0", "--token", TOKEN];
    const child = spawn(process.execPath, args, { cwd: this.root, env: this.env, stdio: ["pipe", "pipe", "inherit"] });
    this.#server = child;
    this.#address = await new Promise<string>((resolve, reject) => {
      let text = "";
      child.stdout.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        const found = /http\S+/.exec(text);
        if (found !== null && text.includes("\n")) resolve(new URL(found[0]).origin);
      });
      child.once("close", (code) => reject(new Error(`the server ended with ${code}`)));
    });
  }

  /** A session for a page of its own. */
  async #open(): Promise<string> {
    const response = await fetch(`${this.#address}/api/session`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: this.#address },
      body: JSON.stringify({ token: TOKEN }),
    });
    if (!response.ok) throw new Error(`no session: ${response.status} ${await response.text()}`);
    return ((await response.json()) as { readonly session: string }).session;
  }

  /** A page that has a session and a cold cache, in a browser that has been started before. */
  async page(script = ""): Promise<Page> {
    this.#browser ??= await launchBrowser();
    const window = await this.#browser.newContext({
      locale: "en-US",
      viewport: { width: 1280, height: 860 },
      // What it keeps for later must not answer in place of the server.
      serviceWorkers: "block",
    });
    const session = await this.#open();
    await window.addInitScript(`sessionStorage.setItem("session", ${JSON.stringify(session)});${script}`);
    const page = await window.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    return page;
  }

  url(path: string): string {
    return this.#address + path;
  }

  async close(): Promise<void> {
    await this.#browser?.close();
    this.#server?.kill();
    execFileSync("chmod", ["-R", "u+rwX", this.#base]);
    rmSync(this.#base, { recursive: true, force: true });
  }
}
