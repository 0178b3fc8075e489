import { mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import type { App } from "../../src/app/call.ts";
import { openApp } from "../../src/app/call.ts";
import { isVerbatimError, type VerbatimError } from "../../src/core/errors/index.ts";
import type { Section } from "../../src/rooms/context/contracts/index.ts";
import { HandClock } from "./fixed-ports.ts";

/** What `context.index-build` answers. */
export interface Built {
  readonly index_hash: string;
  readonly files: number;
  readonly sections: number;
  readonly changed: { readonly added: number; readonly modified: number; readonly removed: number };
  readonly mode: string;
  readonly empty_globs: readonly string[];
  readonly skipped_links: readonly string[];
  readonly sources: { readonly rule: string; readonly left_out: Readonly<Record<string, number>> };
  readonly outline: {
    readonly kind: string;
    readonly grammars: string | null;
    readonly missing: string | null;
    readonly unparsed: readonly { readonly file_path: string; readonly code: string }[];
  };
}

/** What `context.expand` answers. */
export interface Expanded {
  readonly run_id: string;
  readonly expansions: readonly {
    readonly expansion: Readonly<Record<string, string>>;
    readonly section: Section;
    readonly content: string;
    readonly bytes: number;
  }[];
  readonly budget: {
    readonly used: Readonly<Record<string, number>>;
    readonly limits: Readonly<Record<string, number>>;
  };
}

/** A small file with three headings. */
export const RULES = "# Rules\nBe kind.\n## Limits\nAt most five boats.\n## Tides\nLow at noon.\n";

/** Opens a workspace that the suite closes; with a configuration of its own if one is given. */
export type OpenWorkspace = (config?: unknown) => ContextWorkspace;

export interface LedgerEntry {
  readonly kind: string;
  readonly actor: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A folder with Markdown files and a workspace around it, used through the public operations only. */
export class ContextWorkspace {
  readonly root: string;
  readonly clock = new HandClock();
  readonly #env: NodeJS.ProcessEnv;
  #app: App;

  /** `env` names the database; files of `notes/` and the root are sources unless `config` says otherwise. */
  constructor(env: NodeJS.ProcessEnv = {}, config: unknown = { context: { sources: ["*.md", "notes/**/*"] } }) {
    this.root = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-context-")));
    this.#env = env;
    this.configure(config);
    this.#app = this.open();
  }

  /** Another process, as far as caches are concerned. */
  open(): App {
    return openApp({
      surface: "library",
      start: this.root,
      env: this.#env,
      platform: process.platform,
      clock: this.clock,
    });
  }

  async reopen(): Promise<void> {
    await this.#app.close();
    this.#app = this.open();
  }

  configure(config: unknown): void {
    writeFileSync(join(this.root, "verbatim.config.json"), JSON.stringify(config));
  }

  place(path: string): string {
    return join(this.root, path);
  }

  /** Writes a file; its times lie an hour back, so that its facts can be trusted at once. */
  write(path: string, content: string | Uint8Array): void {
    const place = this.place(path);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, content);
    const then = Date.now() / 1000 - 3600;
    utimesSync(place, then, then);
  }

  async call<T = unknown>(name: string, input: unknown = {}): Promise<T> {
    return (await this.#app.callUnknown(`context.${name}`, input)) as T;
  }

  build(options: { readonly full?: boolean; readonly with_search?: boolean } = {}): Promise<Built> {
    return this.call<Built>("index-build", options);
  }

  async lines(name: string, input: unknown = {}): Promise<string> {
    let text = "";
    for await (const line of this.#app.linesUnknown(`context.${name}`, input)) text += `${line}\n`;
    return text;
  }

  sections(path?: string): Promise<(Section & { readonly lines: number; readonly bytes: number })[]> {
    return this.call("section-list", path === undefined ? {} : { path });
  }

  /** The section with this heading path in a file. */
  async find(path: string, ...heading: string[]): Promise<Section> {
    const found = (await this.sections(path)).find((one) => one.heading_path.join("\n") === heading.join("\n"));
    expect(found, `${path} ${heading.join("/")}`).toBeDefined();
    const { lines: _lines, bytes: _bytes, ...section } = found!;
    return section;
  }

  /** The refusal of a call that must not succeed. */
  async refusal(name: string, input: unknown = {}): Promise<VerbatimError> {
    return refusal(this.call(name, input));
  }

  /** Everything in the stream `context`. */
  async ledger(): Promise<LedgerEntry[]> {
    const shown = (await this.#app.call("ledger.show", { stream: "context", limit: 1000 })) as {
      readonly entries: readonly LedgerEntry[];
    };
    return shown.entries.map(({ kind, actor, body }) => ({ kind, actor, body }));
  }

  /** The same without what was refused. */
  async changes(): Promise<LedgerEntry[]> {
    return (await this.ledger()).filter(({ kind }) => kind !== "REFUSED");
  }

  async close(): Promise<void> {
    await this.#app.close();
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** The refusal of a promise that must not succeed. */
export async function refusal(promise: Promise<unknown>): Promise<VerbatimError> {
  try {
    await promise;
  } catch (thrown) {
    if (isVerbatimError(thrown)) return thrown;
    throw thrown;
  }
  throw new Error("nothing was refused");
}
