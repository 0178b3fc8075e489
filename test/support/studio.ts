import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { getCurrentTest } from "vitest/suite";
import { launchBrowser } from "./browser.ts";
import { BIN, type CliResult } from "./cli.ts";
import { runHere } from "./cli-in-process.ts";
import { makeScratchFolder } from "./scratch.ts";

/** Waits are for conditions; this is only where they end on a machine with much else to do. */
const PATIENCE_MS = 120_000;

/** A server of its own process, as people start it. */
export interface StudioServer {
  readonly base: string;
  readonly token: string;
  /** The link that was printed last. */
  readonly link: string;
  /** What it said beside the link, so far. */
  said(): string;
  stop(signal?: "SIGTERM" | "SIGKILL"): Promise<void>;
}

/** A repository with agent runs, a real server over it, and a real browser. */
export class StudioBench {
  readonly root: string;
  readonly #base: string;
  readonly #env: Record<string, string>;
  readonly #servers = new Set<ChildProcess>();
  readonly #before = { HOME: process.env["HOME"], GIT_CONFIG_GLOBAL: process.env["GIT_CONFIG_GLOBAL"] };
  readonly #flags: readonly string[];
  #browser: Browser | null = null;

  /** Flags are for the browser. */
  constructor(...flags: readonly string[]) {
    this.#flags = flags;
    // An agent has a temporary folder of its own, so the repository lies elsewhere.
    this.#base = makeScratchFolder("verbatim-studio-");
    this.root = join(this.#base, "harbour");
    for (const folder of ["harbour", "home", "state"]) mkdirSync(join(this.#base, folder));
    this.#env = {
      PATH: process.env["PATH"] ?? "",
      HOME: join(this.#base, "home"),
      NO_COLOR: "1",
      XDG_STATE_HOME: join(this.#base, "state"),
      GIT_CONFIG_GLOBAL: "/dev/null",
    };
    // What runs in this process asks it, not us.
    Object.assign(process.env, { HOME: this.#env["HOME"], GIT_CONFIG_GLOBAL: this.#env["GIT_CONFIG_GLOBAL"] });
    this.git("init", "-q");
  }

  git(...args: string[]): string {
    const who = ["-c", "user.name=Mira", "-c", "user.email=mira@example.org"];
    return execFileSync("git", [...who, ...args], {
      cwd: this.root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  write(path: string, content: string | Uint8Array): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), content);
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), "utf8");
  }

  /** `verbatim` in the repository, in this process. */
  verbatim(...args: string[]): Promise<CliResult> {
    return runHere(args, { cwd: this.root, env: this.#env });
  }

  /** One agent run; its id. */
  async run(goal: string, script: string, ...flags: string[]): Promise<string> {
    const { stdout, stderr } = await this.verbatim(
      "agent",
      "--json",
      "--goal",
      goal,
      ...flags,
      "--",
      "sh",
      "-ec",
      script,
    );
    const { run_id } = JSON.parse(stdout === "" ? "{}" : stdout) as { run_id?: string };
    if (run_id === undefined) throw new Error(`there is no run: ${stderr}`);
    return run_id;
  }

  /** `verbatim studio` as a process, ready when it has printed its link. */
  async serve(port = 0, more: readonly string[] = []): Promise<StudioServer> {
    const token = "token-of-the-harbour-master";
    const args = [BIN, "studio", "--port", String(port), "--token", token, ...more];
    const child = spawn(process.execPath, args, { cwd: this.root, env: this.#env, stdio: ["pipe", "pipe", "pipe"] });
    this.#servers.add(child);
    const said: string[] = [];
    child.stderr.on("data", (chunk: Buffer) => said.push(chunk.toString()));
    const link = await new Promise<string>((resolve, reject) => {
      let text = "";
      child.stdout.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        const found = /http\S+/.exec(text);
        if (found !== null && text.includes("\n")) resolve(found[0]);
      });
      child.once("close", (code) => reject(new Error(`the server ended with ${code}: ${said.join("")}`)));
    });
    const stop = async (signal: "SIGTERM" | "SIGKILL" = "SIGTERM") => {
      this.#servers.delete(child);
      const ended = new Promise((resolve) => child.once("close", resolve));
      child.kill(signal);
      await ended;
    };
    return { base: new URL(link).origin, token, link, said: () => said.join(""), stop };
  }

  async browser(): Promise<Browser> {
    this.#browser ??= await launchBrowser(this.#flags);
    return this.#browser;
  }

  /** A browser window of its own, that nobody has used before. */
  async window(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    const browser = await this.browser();
    // Without a language Chromium says one that no library knows.
    const window = await browser.newContext({
      locale: "en-US",
      viewport: { width: 1280, height: 860 },
      // It would answer before a test can; the one test about it lets it in.
      serviceWorkers: "block",
      ...options,
    });
    // What somebody would have seen there is what a failure is understood by.
    getCurrentTest()?.context.onTestFailed(async () => {
      for (const page of window.pages()) console.log(`${page.url()} shows\n${await readShown(page)}`);
    });
    return window;
  }

  async close(): Promise<void> {
    await this.#browser?.close();
    for (const child of this.#servers) child.kill("SIGKILL");
    for (const [name, value] of Object.entries(this.#before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    execFileSync("chmod", ["-R", "u+rwX", this.#base]);
    rmSync(this.#base, { recursive: true, force: true });
  }
}

async function readShown(page: Page): Promise<string> {
  const shown = await page
    .locator("body")
    .innerText({ timeout: 5_000 })
    .catch((thrown: unknown) => String(thrown));
  return shown.slice(0, 4_000);
}

/** A page that remembers everything that must never happen on it: an error, a violated policy, a request to anybody else. */
export class WatchedPage {
  readonly page: Page;
  readonly problems: string[] = [];

  constructor(page: Page, base: string) {
    this.page = page;
    page.setDefaultTimeout(PATIENCE_MS);
    page.on("pageerror", (error) => this.problems.push(`error: ${error.message}`));
    page.on("console", (message) => {
      // A policy that was violated is told as an error too; a refusal that a test provokes is not one.
      const isRefusal = /Failed to load resource/.test(message.text());
      if (message.type() === "error" && !isRefusal) this.problems.push(`console: ${message.text()}`);
    });
    page.on("request", (request) => {
      const url = new URL(request.url());
      if (url.origin !== base && url.protocol !== "blob:") this.problems.push(`foreign: ${request.url()}`);
    });
  }
}

/** Opens a window with the token, at a path. */
export async function enter(
  bench: StudioBench,
  server: StudioServer,
  path: string,
  options: BrowserContextOptions = {},
) {
  // The made-up language of words.ts has its own words for these.
  const words = options.locale === "en-XA" ? { token: "Ţóķéń", open: "Óṕéń" } : { token: "Token", open: "Open" };
  const window = await bench.window(options);
  const watched = new WatchedPage(await window.newPage(), server.base);
  const { page } = watched;
  await page.goto(server.base + path);
  await page.getByLabel(words.token).fill(server.token);
  await page.getByRole("button", { name: words.open }).click();
  // The session is this tab's once the question is gone; a page that is loaded again before that asks once more.
  await page.getByLabel(words.token).waitFor({ state: "detached" });
  return { window, watched, page };
}

/** Opens a window by the link of the terminal, which is good once: such a session may do what somebody there may. */
export async function enterByLink(
  bench: StudioBench,
  server: StudioServer,
  path: string,
  options: BrowserContextOptions = {},
) {
  const window = await bench.window(options);
  const watched = new WatchedPage(await window.newPage(), server.base);
  const { page } = watched;
  await page.goto(server.base + path + new URL(server.link).hash);
  await page.locator("main h1").first().waitFor();
  return { window, watched, page };
}

/** Goes somewhere by its two keys. They belong together only while they follow each other, so they are pressed anew. */
export async function goByKeys(page: Page, letter: string, arrived: string): Promise<void> {
  const end = Date.now() + PATIENCE_MS;
  const place = page.locator(arrived).first();
  for (;;) {
    await page.keyboard.press("g");
    await page.keyboard.press(letter);
    const isThere = await place.waitFor({ timeout: 5_000 }).then(
      () => true,
      () => false,
    );
    if (isThere) return;
    if (Date.now() > end) throw new Error(`g and ${letter} do not lead to ${arrived}`);
  }
}
