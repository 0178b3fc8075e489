import { type ChildProcessByStdio, spawn } from "node:child_process";
import { readFileSync, statfsSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { errnoCode } from "../../../core/errors/system.ts";
import { findTool } from "../../guards/tools.ts";
import type { TableSource } from "../tree/tree-file.ts";
import type { Hidden } from "../tree/tree-table.ts";

const STAT_SCRIPT = readFileSync(new URL("./scripts/stat.pl", import.meta.url), "utf8");

/** Number of the system call `statx`. */
const STATX: Readonly<Record<string, number>> = { x64: 332, arm64: 291 };

/** File systems whose folders change their own times with their names: ext, xfs, btrfs, tmpfs, f2fs. */
const VOUCHING = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0xf2f52010]);

/** A folder that changed this shortly before a look may change again without its stat showing it. */
const YOUNG_S = 3;

/**
 * A process outside Node that compares a tree with the rows of a tree file. One `lstat` costs Node three times what it
 * costs the system, and a tree is looked at twice in every run.
 */
export class StatProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  #waiting: ((answer: string | null) => void) | null = null;
  #onSeen: ((files: number) => void) | undefined;
  #text = "";
  #isGone = false;

  private constructor(perl: string, call: number) {
    this.#child = spawn(perl, ["-e", STAT_SCRIPT, String(call)], {
      stdio: ["pipe", "pipe", "ignore"],
      cwd: "/",
      env: { PATH: "/usr/bin:/bin", LC_ALL: "C" },
      // Ctrl-C in the terminal is for the tool; without it the process ends by the end of its input.
      detached: true,
    });
    // It must not keep a process alive that has nothing else to do.
    this.#child.unref();
    this.#handle("unref");
    this.#child.on("error", () => this.#end());
    this.#child.on("exit", () => this.#end());
    this.#child.stdin.on("error", () => this.#end());
    this.#child.stdout.on("data", (bytes: Buffer) => this.#hear(bytes.toString("latin1")));
  }

  /** Starts the process, or null where there is no perl or the number of the call is not known. */
  static start(): StatProcess | null {
    const call = process.platform === "linux" ? STATX[process.arch] : undefined;
    const perl = call === undefined ? null : findTool("perl");
    return perl === null ? null : new StatProcess(perl, call!);
  }

  /** Which folders are not as the file says; null when the process cannot tell. Says now and then how many files it has seen. */
  async check(
    root: string,
    hidden: Hidden,
    source: TableSource,
    onSeen?: (files: number) => void,
  ): Promise<ReadonlySet<number> | null> {
    if (this.#isGone || this.#waiting !== null) return null;
    this.#onSeen = onSeen;
    const answer = new Promise<string | null>((resolve) => {
      this.#waiting = resolve;
    });
    this.#handle("ref");
    this.#child.stdin.write(`${formatRequest(root, hidden, source)}\n`);
    const text = await answer;
    this.#handle("unref");
    if (text === null || !text.startsWith("OK")) return null;
    const folders = text.slice(3).split(" ");
    return new Set(folders.filter((one) => one !== "").map(Number));
  }

  close(): void {
    this.#child.stdin.end();
  }

  #hear(text: string): void {
    const lines = (this.#text + text).split("\n");
    this.#text = lines.pop()!;
    for (const line of lines) {
      if (line.startsWith("AT ")) this.#onSeen?.(Number(line.slice(3)));
      else this.#answer(line);
    }
  }

  #end(): void {
    this.#isGone = true;
    this.#answer(null);
  }

  #answer(text: string | null): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.(text);
  }

  // Pipes of a child are sockets, which the types of streams do not say.
  #handle(what: "ref" | "unref"): void {
    for (const pipe of [this.#child.stdin, this.#child.stdout])
      (pipe as unknown as Record<string, () => void>)[what]?.();
    this.#child[what]();
  }
}

function formatRequest(root: string, hidden: Hidden, { place, id, taken, entries, folders, at }: TableSource): string {
  const limit = Math.floor(taken / 1000) - YOUNG_S;
  const all = isVouching(root) ? 0 : 1;
  const hide = Object.entries(hidden).flatMap(([folder, names]) =>
    names.map((name) => `${toHex(folder)}:${toHex(name)}`),
  );
  const offsets = [at.id, at.rows, at.first, at.dirs, at.ends, at.texts, at.folder_size, at.name_size];
  return [toHex(place), id, toHex(root), limit, all, hide.join(","), entries, folders, ...offsets].join(" ");
}

function isVouching(root: string): boolean {
  try {
    return VOUCHING.has(statfsSync(root).type);
  } catch (thrown) {
    if (errnoCode(thrown) !== null) return false;
    throw thrown;
  }
}

function toHex(text: string): string {
  return Buffer.from(text).toString("hex");
}
