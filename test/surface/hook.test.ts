import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hookPorts } from "../../src/app/compose/hook-ports.ts";
import { answerHook } from "../../src/app/hooks/answer-hook.ts";
import { ROOT } from "../../tools/stages.ts";
import { BIN, makeFolder, runCli } from "../support/cli.ts";
import { runHere } from "../support/cli-in-process.ts";

/** Hooks as coding agents call them. The calls of each client are in hook-calls/, written after its own documents. */

interface Case {
  readonly name: string;
  readonly event: string;
  readonly input: unknown;
  readonly expected: "allow" | "deny" | "told" | "fail";
  readonly says?: string;
}

const CLIENTS = ["claude", "codex", "gemini", "cursor"] as const;

function makeRepository(): string {
  const root = join(makeFolder(), "gull-rock");
  mkdirSync(join(root, "src"), { recursive: true });
  execFileSync("git", ["init", "-q", root]);
  writeFileSync(join(root, "src", "lamp.ts"), "off\n");
  return root;
}

function readCases(client: string, root: string): Case[] {
  const text = readFileSync(new URL(`./hook-calls/${client}.json`, import.meta.url), "utf8");
  return JSON.parse(text.replaceAll("$ROOT", root)) as Case[];
}

function answer(client: string, event: string, input: unknown, root: string, env: NodeJS.ProcessEnv = {}) {
  const bytes = typeof input === "string" ? Buffer.from(input) : Buffer.from(JSON.stringify(input));
  return answerHook(hookPorts, { client, event, bytes, start: root, env, platform: process.platform });
}

/** What each client must be sent, told apart by the client's own words. */
function isRefusal(client: string, event: string, stdout: string): boolean {
  if (stdout === "") return false;
  const said = JSON.parse(stdout) as Record<string, unknown>;
  if (client === "cursor") return said["permission"] === "deny";
  if (client === "gemini") return said["decision"] === "deny";
  if (event !== "pre-tool") return said["decision"] === "block";
  const { permissionDecision } = (said["hookSpecificOutput"] ?? {}) as Record<string, unknown>;
  return permissionDecision === "deny";
}

describe.each(CLIENTS)("hooks of %s", (client) => {
  it("answers every example in the client's own format", async () => {
    const root = makeRepository();
    for (const example of readCases(client, root)) {
      const reply = await answer(client, example.event, example.input, root);
      const label = `${client}: ${example.name}`;
      if (example.expected === "fail") {
        expect([label, reply.exit, reply.stdout]).toEqual([label, 2, ""]);
        expect(reply.stderr).toContain(example.says);
        continue;
      }
      expect([label, reply.exit, reply.stderr]).toEqual([label, 0, ""]);
      expect([label, isRefusal(client, example.event, reply.stdout)]).toEqual([label, example.expected === "deny"]);
      if (example.says !== undefined) expect(reply.stdout).toContain(example.says);
    }
  });

  it("blocks with exit 2 and a reason on anything that is not its JSON", async () => {
    const root = makeRepository();
    const bad = ["", "{", "[]", "null", '"x"', "{}", '{"hook_event_name":7}', '{"a":1,"a":2}', "\ud800", "\u0000"];
    for (const event of ["pre-tool", "post-tool", "stop"]) {
      for (const text of bad) {
        const reply = await answer(client, event, text, root);
        expect([event, text, reply.exit, reply.stdout]).toEqual([event, text, 2, ""]);
        expect(reply.stderr.trim().length).toBeGreaterThan(20);
      }
    }
  });
});

describe("the answer to a pass", () => {
  it("never skips a client's own questions, and says allow only where silence would block", async () => {
    const root = makeRepository();
    const sent = (client: string) => readCases(client, root)[0]!;
    for (const [client, stdout] of [
      ["claude", ""],
      ["codex", ""],
      ["gemini", "{}\n"],
      ["cursor", '{"permission":"allow"}\n'],
    ] as const) {
      const reply = await answer(client, "pre-tool", sent(client).input, root);
      expect([client, reply.stdout]).toEqual([client, stdout]);
    }
  });
});

describe("paths that lead somewhere else", () => {
  const write = (root: string, path: string) => ({
    session_id: "s",
    cwd: root,
    hook_event_name: "PreToolUse",
    tool_name: "Write",
    tool_input: { file_path: path, content: "" },
  });

  it("follows links before it judges, also links to nothing", async () => {
    const root = makeRepository();
    symlinkSync("..", join(root, "up"));
    symlinkSync(join(root, ".git"), join(root, "src", "tools"));
    symlinkSync(join(root, "..", "not-there-yet"), join(root, "later"));
    for (const path of ["up/other.txt", "src/tools/config", "later", "src/tools/new/file"]) {
      const reply = await answer("claude", "pre-tool", write(root, join(root, path)), root);
      expect([path, isRefusal("claude", "pre-tool", reply.stdout)]).toEqual([path, true]);
    }
  });

  it("judges by the repository around it, not by a state folder above", async () => {
    const root = makeRepository();
    const above = join(root, "..");
    mkdirSync(join(above, ".verbatim"));
    mkdirSync(join(above, "other"));
    const reply = await answer("claude", "pre-tool", write(root, join(above, "other", "a.ts")), root);
    expect(isRefusal("claude", "pre-tool", reply.stdout)).toBe(true);
    expect([existsSync(join(root, ".verbatim/state")), existsSync(join(above, ".verbatim/state"))]).toEqual([
      true,
      false,
    ]);
  });

  it("judges outside a repository and makes no workspace there", async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, "verbatim.config.json"), "{}");
    for (const [path, refused] of [
      ["a.txt", false],
      ["verbatim.config.json", true],
      ["../b.txt", true],
    ] as const) {
      const reply = await answer("claude", "pre-tool", write(folder, join(folder, path)), folder);
      expect([path, reply.exit, isRefusal("claude", "pre-tool", reply.stdout)]).toEqual([path, 0, refused]);
    }
    expect(existsSync(join(folder, ".verbatim"))).toBe(false);
  });

  it("lets places outside be written that the configuration keeps, and refuses roots it forbids", async () => {
    const root = makeRepository();
    const kept = join(root, "..", "notes");
    mkdirSync(kept);
    writeFileSync(
      join(root, "verbatim.config.json"),
      JSON.stringify({ agent: { keep: [kept] }, catalytic: { forbidden_roots: ["migrations"] } }),
    );
    const judge = async (path: string) =>
      isRefusal("claude", "pre-tool", (await answer("claude", "pre-tool", write(root, path), root)).stdout);
    expect(await judge(join(kept, "a.md"))).toBe(false);
    expect(await judge(join(root, "..", "notes-2"))).toBe(true);
    expect(await judge(join(root, "Migrations", "1.sql"))).toBe(true);
    expect(await judge(join(root, "src", "migrations.ts"))).toBe(false);
  });

  it("blocks while the configuration is wrong anywhere", async () => {
    const root = makeRepository();
    writeFileSync(join(root, "verbatim.config.json"), '{"catalytic":{"forbiden_roots":["a"]}}');
    const reply = await answer("claude", "pre-tool", write(root, join(root, "src/a.ts")), root);
    expect([reply.exit, reply.stderr]).toEqual([2, expect.stringContaining("CONFIG_INVALID")]);
  });
});

describe("receipts", () => {
  it("are appended for every verdict, without contents or commands", async () => {
    const root = makeRepository();
    for (const example of readCases("claude", root)) await answer("claude", example.event, example.input, root);
    const { stdout, exit } = await runHere(["ledger", "export"], { cwd: root });
    expect(exit).toBe(0);
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { stream: string; kind: string; body: { targets: unknown[] } });
    const kinds = new Set(lines.map(({ kind }) => kind));
    expect(kinds).toEqual(new Set(["HOOK_ALLOWED", "HOOK_BLOCKED", "HOOK_SEEN", "HOOK_SEEN_REFUSED", "HOOK_STOPPED"]));
    expect(new Set(lines.map(({ stream }) => stream))).toEqual(new Set(["hook"]));
    expect(stdout).not.toContain("old_string");
    expect(stdout).not.toContain("[core]");
    expect(lines.find(({ kind }) => kind === "HOOK_BLOCKED")?.body.targets).toEqual([
      { path: ".git/hooks/pre-commit", access: "write", code: "HOOK_FORBIDDEN" },
    ]);
  });
});

describe("failing closed", () => {
  const call = (root: string) => JSON.stringify(readCases("claude", root)[0]!.input);

  it("blocks when the store cannot be written", async () => {
    const root = makeRepository();
    mkdirSync(join(root, ".verbatim", "state", "store.db"), { recursive: true });
    const { exit, stdout, stderr } = await runCli(["hook", "pre-tool"], { cwd: root, stdin: call(root) });
    expect([exit, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("blocked");
  });

  it("blocks when the program itself breaks, wherever it does", async () => {
    const root = makeRepository();
    const breakers = [
      "JSON.stringify=()=>{throw new Error('lamp out')}",
      "Map.prototype.get=()=>{throw new Error('lamp out')}",
      "process.stdin.__proto__;process.emitWarning=0;globalThis.TextDecoder=undefined",
    ];
    for (const code of breakers) {
      const node = ["--import", `data:text/javascript,${encodeURIComponent(code)}`];
      const { exit, stderr } = await runCli(["hook", "pre-tool"], { cwd: root, stdin: call(root), node });
      expect([code, exit]).toEqual([code, 2]);
      expect(stderr.trim()).not.toBe("");
    }
  });

  it("blocks in a folder that is gone, with a run that is not there, and with a client nobody knows", async () => {
    const root = makeRepository();
    const stdin = call(root);
    const run = await runCli(["hook", "pre-tool"], {
      cwd: root,
      stdin,
      env: { VERBATIM_RUN: "20250102-030405-abcdef" },
    });
    expect([run.exit, run.stderr]).toEqual([2, expect.stringContaining("HOOK_RUN_INVALID")]);
    const client = await runCli(["hook", "pre-tool", "--client", "vim\u001b[2J\u202e"], { cwd: root, stdin });
    expect([client.exit, client.stderr]).toEqual([2, expect.stringContaining("vim")]);
    expect(client.stderr.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    const flag = await runCli(["hook", "pre-tool", "--no-such-flag"], { cwd: root, stdin });
    expect([flag.exit, flag.stderr]).toEqual([2, expect.stringContaining("USAGE")]);
  });

  it.each([
    ["the short way", ["hook", "pre-tool"]],
    ["flags", ["hook", "pre-tool", "--client=claude"]],
    ["--json", ["hook", "pre-tool", "--json"]],
    ["a folder before the verb", ["-C", ".", "hook", "pre-tool"]],
    ["flags before the verb", ["--quiet", "-C", ".", "hook", "pre-tool", "--client", "claude"]],
  ])("blocks when its verdict reaches nobody, called by %s", (_, words) => {
    const root = makeRepository();
    const input = JSON.stringify({
      session_id: "s",
      cwd: root,
      hook_event_name: "PreToolUse",
      tool_name: "Write",
      tool_input: { file_path: "/etc/hosts", content: "" },
    });
    const ask = (redirected: string) =>
      spawnSync(
        "bash",
        ["-c", `exec 3> >(exec true); wait $!; "$@" ${redirected}`, "bash", process.execPath, BIN, ...words],
        {
          cwd: root,
          input,
          encoding: "utf8",
          env: { PATH: process.env["PATH"], HOME: join(root, "..", "home") },
        },
      );
    expect(ask("").status).toBe(0);
    // A pipe whose reader is gone, a descriptor that is closed, the null device, a full disk.
    for (const redirected of [">&3", ">&-", ">/dev/null", ">/dev/full"]) {
      const { status, stderr } = ask(redirected);
      expect([redirected, status]).toEqual([redirected, 2]);
      expect(stderr).toContain("blocked, the hook failed");
    }
  });

  it("lets an agent go on in silence where nobody reads the silence", () => {
    const root = makeRepository();
    const { status } = spawnSync("sh", ["-c", '"$@" >/dev/null', "sh", process.execPath, BIN, "hook", "pre-tool"], {
      cwd: root,
      input: call(root),
      env: { PATH: process.env["PATH"], HOME: join(root, "..", "home") },
    });
    expect(status).toBe(0);
  });

  it("needs no package but the database's for an ordinary call, and no part of a room that judges nothing", () => {
    const core = readFileSync(join(ROOT, "dist/hook/core.cjs"), "utf8");
    const packages = [...core.matchAll(/\brequire\("([^"]+)"\)/g)].map((match) => match[1]!);
    expect(new Set(packages.filter((name) => !/^(?:node:|\.\/)/.test(name)))).toEqual(
      new Set(["@photostructure/sqlite"]),
    );
    // Whoever takes one thing through the front door of a room gets that thing only.
    for (const name of ["advanceRun", "bundleFailure", "takeSnapshot"]) expect(core).not.toContain(`function ${name}(`);
  });

  it("believes compiled code only when it is whole and of exactly this source", async () => {
    const root = makeRepository();
    const copy = join(makeFolder(), "copy");
    for (const part of ["bin", "dist/hook", "package.json"])
      cpSync(join(ROOT, part), join(copy, part), { recursive: true });
    symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
    const core = join(copy, "dist/hook/core.cjs");
    const kept = join(copy, "dist/hook", `core-${process.version}-${process.arch}.bin`);
    const [source, whole] = [readFileSync(core), readFileSync(kept)];
    const stdin = JSON.stringify({
      session_id: "s",
      cwd: root,
      hook_event_name: "PreToolUse",
      tool_name: "Write",
      tool_input: { file_path: "/etc/hosts", content: "" },
    });
    const ask = () => runCli(["hook", "pre-tool"], { cwd: root, stdin, bin: join(copy, "bin/verbatim.js") });
    const refused = { exit: 0, stdout: expect.stringContaining("is outside the repository"), stderr: "" };
    expect(await ask()).toEqual(refused);
    for (const part of [0, 0.01, 0.25, 0.5, 0.75, 0.99]) {
      const damaged = Buffer.from(whole);
      damaged[Math.floor(whole.length * part)]! ^= 0x5a;
      writeFileSync(kept, damaged);
      expect(await ask(), `damaged at ${part}`).toEqual(refused);
    }
    writeFileSync(kept, whole.subarray(0, -2));
    expect(await ask()).toEqual(refused);
    writeFileSync(kept, whole);
    writeFileSync(core, source.toString().replaceAll("is outside the repository", "IS OUTSIDE THE repository"));
    expect((await ask()).stdout).toContain("IS OUTSIDE THE repository");
    rmSync(kept);
    expect((await ask()).stdout).toContain("IS OUTSIDE THE repository");
  });

  it("lets an agent stop that was held back once already", async () => {
    const root = makeRepository();
    const sent = { session_id: "s", cwd: root, hook_event_name: "Stop", stop_hook_active: true };
    const broken = { VERBATIM_RUN: "no-such-run" };
    expect((await answer("claude", "stop", sent, root, broken)).exit).toBe(0);
    expect((await answer("claude", "stop", { ...sent, stop_hook_active: false }, root, broken)).exit).toBe(2);
  });
});

describe("hook install", () => {
  const FILES = {
    claude: ".claude/settings.json",
    codex: ".codex/hooks.json",
    gemini: ".gemini/settings.json",
    cursor: ".cursor/hooks.json",
  } as const;

  it.each(CLIENTS)("shows the block of %s first and writes it only when told", async (client) => {
    const root = makeRepository();
    const file = join(root, FILES[client]);
    const shown = await runHere(["hook", "install", "--client", client], { cwd: root });
    expect([shown.exit, existsSync(file)]).toEqual([0, false]);
    expect(shown.stdout).toContain(`verbatim hook pre-tool --client ${client} || exit 2`);
    const written = await runHere(["hook", "install", "--client", client, "--yes"], { cwd: root });
    expect(written.stdout).toContain("created");
    const text = readFileSync(file, "utf8");
    if (client === "claude") expect(text).toContain('"onFailure": "block"');
    if (client === "cursor") expect(text).toContain('"failClosed": true');
    const again = await runHere(["hook", "install", "--client", client, "--yes"], { cwd: root });
    expect(again.stdout).toContain("already");
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  it("keeps everything that is in the file, in its order and with its indentation", async () => {
    const root = makeRepository();
    const file = join(root, FILES.claude);
    mkdirSync(join(root, ".claude"));
    const own = { matcher: "Bash", hooks: [{ type: "command", command: "./lint.sh" }] };
    writeFileSync(
      file,
      JSON.stringify({ zebra: 1.5, hooks: { PreToolUse: [own], Notification: [] }, apple: true }, null, 4),
    );
    await runHere(["hook", "install", "--client", "claude", "--yes"], { cwd: root });
    const text = readFileSync(file, "utf8");
    const value = JSON.parse(text) as { hooks: Record<string, unknown[]> };
    expect(Object.keys(value)).toEqual(["zebra", "hooks", "apple"]);
    expect(Object.keys(value.hooks)).toEqual(["PreToolUse", "Notification", "PostToolUse", "Stop"]);
    expect(value.hooks["PreToolUse"]).toHaveLength(2);
    expect(value.hooks["PreToolUse"]?.[0]).toEqual(own);
    expect(text).toContain('\n    "zebra": 1.5');
  });

  it.each([
    ["not JSON", "{ // a comment\n}"],
    ["a list", "[]"],
    ["hooks that are a list", '{"hooks":[]}'],
    ["a moment that is no list", '{"hooks":{"PreToolUse":{}}}'],
    ["a number that would change", '{"limit":12345678901234567890}'],
  ])("refuses a file with %s and leaves it as it is", async (_, text) => {
    const root = makeRepository();
    const file = join(root, FILES.claude);
    mkdirSync(join(root, ".claude"));
    writeFileSync(file, text);
    const { exit, stderr } = await runHere(["hook", "install", "--client", "claude", "--yes"], { cwd: root });
    expect([exit, readFileSync(file, "utf8")]).toEqual([2, text]);
    expect(stderr).toContain("error[HOOK_SETTINGS_INVALID]");
  });

  it("refuses a settings file that is a link", async () => {
    const root = makeRepository();
    mkdirSync(join(root, ".claude"));
    symlinkSync("../elsewhere.json", join(root, FILES.claude));
    const { exit } = await runHere(["hook", "install", "--client", "claude", "--yes"], { cwd: root });
    expect([exit, existsSync(join(root, "elsewhere.json"))]).toEqual([2, false]);
    rmSync(join(root, ".claude"), { recursive: true });
  });
});
