import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { App } from "../../src/app/call.ts";
import { openApp } from "../../src/app/call.ts";

const FILES: Readonly<Record<string, string>> = {
  "AGENTS.md": "Work in small steps.\n",
  "ai_context/00_AI_CONTRACT.md": "Quote, never invent.\n",
  "ai_context/CTCP_FAST_RULES.md": "Patch only.\n",
  "src/greet.js": 'export const greet = (name) => "Hello " + name;\n',
  "src/list.js": "export const names = [];\n",
  "check.mjs":
    'import { greet } from "./src/greet.js";\nif (greet("Ada") !== "Hello, Ada!") {\n  console.error("got " + greet("Ada"));\n  process.exit(1);\n}\nconsole.log("ok");\n',
  ".gitignore": "ignored/\n",
};

/** A patch that changes one line of src/greet.js. */
export function greetPatch(line: string): string {
  return `diff --git a/src/greet.js b/src/greet.js\n--- a/src/greet.js\n+++ b/src/greet.js\n@@ -1 +1 @@\n-export const greet = (name) => "Hello " + name;\n+${line}\n`;
}

export const GOOD_PATCH = greetPatch('export const greet = (name) => "Hello, " + name + "!";');
export const BAD_PATCH = greetPatch('export const greet = (name) => "Hello, " + name;');

export const GUARDRAILS = "find_mode: resolver_only\nmax_files: 20\nmax_total_bytes: 200000\nmax_iterations: 3\n";
export const REQUEST = `${JSON.stringify({
  schema_version: "ctcp-file-request-v1",
  goal: "greet politely",
  needs: [{ path: "src/greet.js", mode: "full" }],
  budget: { max_files: 10, max_total_bytes: 20_000 },
  reason: "planning",
})}\n`;
export const REASONS = "- R001: people like commas\n";
export const RESULTS =
  "R001: a polite greeting\nAcceptance: check.mjs passes\nEvidence: src/greet.js, artifacts/verify_report.json\nRelated-Gates: lite\n";

/** PLAN_draft.md with some lines replaced. */
export function makeDraft(changes: Readonly<Record<string, string>> = {}): string {
  const keys = {
    Status: "DRAFT",
    "Scope-Allow": "src/",
    "Scope-Deny": "none",
    Gates: "lite, plan_check, patch_check, behavior_catalog_check",
    Stop: "repeated_failure=9",
    Budgets: "max_iterations=3, max_files=5, max_total_bytes=100000",
    Behaviors: "none",
    Results: "R001",
    ...changes,
  };
  return `${Object.entries(keys)
    .map(([key, value]) => `${key}: ${value}`)
    .join("\n")}\n`;
}

export const COMMAND = [process.execPath, "check.mjs"];

type Json = Record<string, unknown>;

/** A real git repository in a temporary folder, with its runs beside it. */
export class SampleRepository {
  readonly folder = mkdtempSync(join(tmpdir(), "verbatim-sample-"));
  readonly root = join(this.folder, "sample");
  readonly runs = join(this.folder, "runs");
  readonly env: NodeJS.ProcessEnv;
  #app: App | null = null;

  constructor(
    workflow: Json = { verify: { gates: { lite: [{ argv: COMMAND }] } } },
    files: Readonly<Record<string, string>> = {},
  ) {
    this.env = { PATH: process.env["PATH"], HOME: this.folder, VERBATIM_RUNS_ROOT: this.runs };
    for (const [path, text] of Object.entries({ ...FILES, ...files })) this.write(path, text);
    // Unguarded copies are quick; the tests that are about isolation ask for it.
    const verify = { isolation: "worktree", ...(workflow["verify"] as object | undefined) };
    this.write("verbatim.config.json", JSON.stringify({ workflow: { ...workflow, verify } }, null, 2));
    this.git("init", "-q");
    this.git("add", "-A");
    this.commit("base");
  }

  write(path: string, text: string | Uint8Array): string {
    const place = join(this.root, path);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, text);
    return place;
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), "utf8");
  }

  git(...args: string[]): string {
    const { status, stdout, stderr } = spawnSync("git", args, { cwd: this.root, encoding: "utf8" });
    if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
    return stdout;
  }

  commit(message: string): void {
    this.git("add", "-A");
    this.git(
      "-c",
      "user.name=Sample",
      "-c",
      "user.email=sample@example.invalid",
      "commit",
      "-q",
      "--allow-empty",
      "-m",
      message,
    );
  }

  /** A file outside the repository, for what is handed in. */
  file(name: string, text: string | Uint8Array): string {
    const place = join(this.folder, name);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, text);
    return place;
  }

  /** Writes a file of a run, whatever the folder of this repository is called among the runs. */
  runFile(run: string, name: string, text: string): string {
    const folder = readdirSync(this.runs).find((one) => existsSync(join(this.runs, one, run)));
    return this.file(join("runs", folder ?? "", run, name), text);
  }

  get app(): App {
    this.#app ??= openApp({ surface: "library", start: this.root, env: this.env, platform: process.platform });
    return this.#app;
  }

  async call(name: string, input: Json = {}): Promise<Json> {
    return (await this.app.callUnknown(`workflow.${name}`, input)) as Json;
  }

  async submit(artifact: string, text: string, run?: string): Promise<Json> {
    return await this.call("submit", {
      artifact,
      file: this.file("given", text),
      ...(run === undefined ? {} : { run }),
    });
  }

  /** Creates a run and brings it to the point where the patch is missing. */
  async plan(runId: string, draft = makeDraft()): Promise<string> {
    const created = await this.call("new", { goal: "greet politely", run_id: runId });
    const run = runId;
    await this.submit("guardrails.md", GUARDRAILS, run);
    await this.call("advance", { run });
    await this.submit("file_request.json", REQUEST, run);
    await this.call("advance", { run });
    await this.submit("PLAN_draft.md", draft, run);
    await this.submit("REASONS.md", REASONS, run);
    await this.submit("EXPECTED_RESULTS.md", RESULTS, run);
    await this.call("advance", { run });
    const hash = createHash("sha256").update(draft).digest("hex");
    await this.submit("review_cost.md", `Draft-SHA256: ${hash}\nVerdict: APPROVE\n`, run);
    await this.call("submit", { artifact: "PLAN.md", from_draft: true, run });
    return String(created["run_dir"]);
  }

  /** Kind, mode and hash of everything in the repository, the state of git and of other folders included. */
  manifest(skip: (path: string) => boolean = () => false): Record<string, string> {
    const found: Record<string, string> = {};
    const walk = (folder: string) => {
      for (const name of readdirSync(join(this.root, folder)).sort()) {
        const path = folder === "" ? name : `${folder}/${name}`;
        if (path === ".verbatim" || skip(path)) continue;
        const place = join(this.root, path);
        const facts = lstatSync(place);
        if (facts.isDirectory()) walk(path);
        else if (facts.isSymbolicLink()) found[path] = `link ${readlinkSync(place)}`;
        else
          found[path] = `${facts.mode.toString(8)} ${createHash("sha256").update(readFileSync(place)).digest("hex")}`;
      }
    };
    walk("");
    return found;
  }

  /** Living processes whose command line holds a word. */
  processes(word: string): number[] {
    return readdirSync("/proc").flatMap((name) => {
      if (!/^[0-9]+$/.test(name)) return [];
      try {
        const words = readFileSync(join("/proc", name, "cmdline"), "utf8").split("\0");
        return words.includes(word) ? [Number(name)] : [];
      } catch {
        return [];
      }
    });
  }

  executable(path: string, text: string): string {
    const place = this.file(path, text);
    chmodSync(place, 0o755);
    return place;
  }

  async remove(): Promise<void> {
    await this.#app?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
