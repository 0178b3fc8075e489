import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nodeCrypto } from "../../adapters/crypto/node-crypto.ts";
import { openApp } from "../call.ts";
import { hookPorts } from "../compose/hook-ports.ts";
import { findWorkspace } from "../compose/store/workspace.ts";
import { answerHook } from "./answer-hook.ts";
import { readHookRules } from "./hook-rules.ts";

let base: string;
let root: string;
let env: NodeJS.ProcessEnv;
let runDir: string;
const platform = process.platform;

// A repository with a run that may change src but not src/private.
beforeAll(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-answer-")));
  root = join(base, "gull-rock");
  env = {
    PATH: process.env["PATH"],
    HOME: base,
    XDG_STATE_HOME: join(base, "state"),
    VERBATIM_RUNS_ROOT: join(base, "runs"),
  };
  mkdirSync(join(root, "src"), { recursive: true });
  writeFileSync(join(root, "src", "lamp.ts"), "off\n");
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=Mira", "-c", "user.email=mira@example.org", ...args], { cwd: root });
  git("init", "-q");
  git("add", "-A");
  git("commit", "-q", "-m", "base");
  const app = openApp({ surface: "library", start: root, env, platform });
  const made = (await app.call("workflow.new", {
    goal: "light it",
    run_id: "mine",
    direct: true,
    verify: ["true"],
  })) as {
    run_dir: string;
  };
  await app.close();
  runDir = made.run_dir;
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

const sent = (path: string, more: object = {}) => ({
  session_id: "s1",
  cwd: root,
  hook_event_name: "PreToolUse",
  tool_name: "Write",
  tool_input: { file_path: join(root, path), content: "secret words" },
  ...more,
});
const ask = (value: object, more: NodeJS.ProcessEnv = {}, event = "pre-tool", start = root, client = "claude") =>
  answerHook(hookPorts, {
    client,
    event,
    bytes: Buffer.from(JSON.stringify(value)),
    start,
    env: { ...env, ...more },
    platform,
  });

async function readStream(stream: string): Promise<{ kind: string; actor: string; body: Record<string, unknown> }[]> {
  const app = openApp({ surface: "library", start: root, env, platform });
  try {
    const { entries } = (await app.call("ledger.show", { stream })) as never;
    return entries;
  } finally {
    await app.close();
  }
}

/** The run with something changed in its record, as long as a call takes. */
async function withRecord<T>(change: (record: Record<string, unknown>) => unknown, run: () => Promise<T>): Promise<T> {
  const file = join(runDir, "RUN.json");
  const text = readFileSync(file, "utf8");
  const value = JSON.parse(text) as Record<string, unknown>;
  writeFileSync(file, JSON.stringify(change(value) ?? value));
  try {
    return await run();
  } finally {
    writeFileSync(file, text);
  }
}

describe("the rules of a hook", () => {
  it("are the forbidden roots, whatever is configured, and the places that are kept", async () => {
    const workspace = findWorkspace(root);
    expect(await readHookRules(hookPorts, workspace, env, platform)).toEqual({
      root,
      forbidden: [".git", ".verbatim", "verbatim.config.json"],
      keep: [],
      run: null,
    });
    const config = { agent: { keep: ["~/notes", "/srv/x"] }, catalytic: { forbidden_roots: ["migrations/", "a"] } };
    writeFileSync(join(root, "verbatim.config.json"), JSON.stringify(config));
    for (let time = 0; time < 2; time++) {
      expect(await readHookRules(hookPorts, workspace, { ...env, VERBATIM_RUN: "" }, platform)).toEqual({
        root,
        forbidden: [".git", ".verbatim", "verbatim.config.json", "migrations", "a"],
        keep: [join(homedir(), "notes"), "/srv/x"],
        run: null,
      });
    }
    expect(readdirSync(workspace.state).filter((name) => name.startsWith("config-"))).toEqual([
      `config-${nodeCrypto.sha256(JSON.stringify(config))}`,
    ]);
    rmSync(join(root, "verbatim.config.json"));
  });

  it("are none where the configuration is wrong", async () => {
    writeFileSync(join(root, "verbatim.config.json"), '{"agent":{"keep":"x"}}');
    try {
      for (let time = 0; time < 2; time++) {
        await expect(readHookRules(hookPorts, findWorkspace(root), env, platform)).rejects.toMatchObject({
          code: "CONFIG_INVALID",
        });
      }
    } finally {
      rmSync(join(root, "verbatim.config.json"));
    }
  });

  it("of a run are those of its signed plan and its policy", async () => {
    const { run } = await readHookRules(hookPorts, findWorkspace(root), { ...env, VERBATIM_RUN: "mine" }, platform);
    const { policy } = JSON.parse(readFileSync(join(runDir, "RUN.json"), "utf8")) as {
      policy: Record<string, unknown>;
    };
    expect(run).toMatchObject({ id: "mine", dir: runDir });
    expect(run).toMatchObject({
      allow_roots: policy["allow_roots"],
      deny_prefixes: policy["deny_prefixes"],
      deny_suffixes: policy["deny_suffixes"],
    });
    expect(run?.allow.length).toBeGreaterThan(0);
  });

  it.each<[string, (record: Record<string, unknown>) => unknown]>([
    ["is a list", () => []],
    ["is another one's", (record) => void (record["run_id"] = "other")],
    ["has stopped", (record) => void (record["stop_reason"] = "ABORTED")],
    ["says nothing about its end", (record) => void delete record["stop_reason"]],
    ["has passed", (record) => void (record["status"] = "pass")],
    ["has no policy", (record) => void (record["policy"] = null)],
    ["has no list of roots", (record) => void ((record["policy"] as Record<string, unknown>)["allow_roots"] = "src")],
    [
      "has a number among its roots",
      (record) => void ((record["policy"] as Record<string, unknown>)["allow_roots"] = [1]),
    ],
    ["has no list of prefixes", (record) => void delete (record["policy"] as Record<string, unknown>)["deny_prefixes"]],
    ["has no list of suffixes", (record) => void delete (record["policy"] as Record<string, unknown>)["deny_suffixes"]],
  ])("are none where the record of the run %s", async (_what, change) => {
    await withRecord(change, async () => {
      await expect(
        readHookRules(hookPorts, findWorkspace(root), { ...env, VERBATIM_RUN: "mine" }, platform),
      ).rejects.toMatchObject({ code: "HOOK_RUN_INVALID", where: "VERBATIM_RUN" });
    });
  });

  it.each<[string, unknown, boolean]>([
    ["lets it change what it was permitted", { run_id: "mine", request: { permit: ["CI.yml"] } }, true],
    ["is a list", [], false],
    ["is another one's", { run_id: "other", request: { permit: [] } }, false],
    ["has no request", { run_id: "mine" }, false],
    ["permits a text", { run_id: "mine", request: { permit: "CI.yml" } }, false],
    ["permits nothing that could be read", { run_id: "mine", request: {} }, false],
  ])(
    "of an agent's run are none unless its own record can be believed: where it %s",
    async (_what, record, isBelieved) => {
      const place = join(runDir, "agent", "run.json");
      mkdirSync(dirname(place), { recursive: true });
      writeFileSync(place, JSON.stringify(record));
      try {
        const rules = readHookRules(hookPorts, findWorkspace(root), { ...env, VERBATIM_RUN: "mine" }, platform);
        if (isBelieved) {
          const { policy } = (await rules).run!;
          expect(["CI.yml", "other.yml"].filter((path) => policy!.isPermitted(path))).toEqual(["CI.yml"]);
        } else await expect(rules).rejects.toMatchObject({ code: "HOOK_RUN_INVALID", where: "VERBATIM_RUN" });
      } finally {
        rmSync(place);
      }
    },
  );

  it.each(["other", "../mine", "", " "])("are none for a run %j that is not there", async (id) => {
    const rules = readHookRules(hookPorts, findWorkspace(root), { ...env, VERBATIM_RUN: id }, platform);
    if (id === "") expect((await rules).run).toBe(null);
    else await expect(rules).rejects.toMatchObject({ code: "HOOK_RUN_INVALID", where: "VERBATIM_RUN" });
  });

  it("are none for a run whose plan is not signed", async () => {
    const plan = join(runDir, "artifacts", "PLAN.md");
    const text = readFileSync(plan);
    writeFileSync(plan, "# Plan\n");
    try {
      await expect(
        readHookRules(hookPorts, findWorkspace(root), { ...env, VERBATIM_RUN: "mine" }, platform),
      ).rejects.toMatchObject({ code: "HOOK_RUN_INVALID" });
    } finally {
      writeFileSync(plan, text);
    }
  });
});

describe("receipts", () => {
  it("say what was decided, and nothing of what was sent but its hash", async () => {
    const before = existsSync(join(root, ".verbatim", "state", "store.db")) ? (await readStream("hook")).length : 0;
    const allowed = sent("src/lamp.ts");
    await ask(allowed);
    await ask(sent(".git/config"));
    await ask(sent("src/lamp.ts", { hook_event_name: "PostToolUse" }), {}, "post-tool");
    await ask(sent(".git/config", { hook_event_name: "PostToolUse" }), {}, "post-tool");
    await ask({ hook_event_name: "Stop" }, {}, "stop");
    const entries = (await readStream("hook")).slice(before);
    expect(entries.map(({ kind }) => kind)).toEqual([
      "HOOK_ALLOWED",
      "HOOK_BLOCKED",
      "HOOK_SEEN",
      "HOOK_SEEN_REFUSED",
      "HOOK_STOPPED",
    ]);
    expect(entries[0]).toMatchObject({
      actor: "hook",
      body: {
        client: "claude",
        event: "pre-tool",
        moment: "PreToolUse",
        tool: "Write",
        session: "s1",
        input_sha256: nodeCrypto.sha256(JSON.stringify(allowed)),
        targets: [{ path: "src/lamp.ts", access: "write", code: null }],
      },
    });
    expect(JSON.stringify(entries)).not.toContain("secret words");
  });

  it("go into the database that the environment names, and into no other", async () => {
    const before = (await readStream("hook")).length;
    expect(await ask(sent("src/lamp.ts"), { VERBATIM_DATABASE_URL: "" })).toMatchObject({ exit: 0 });
    expect(await readStream("hook")).toHaveLength(before + 1);
    const refused = await ask(sent("src/lamp.ts"), { VERBATIM_DATABASE_URL: "postgres://127.0.0.1:1/none" });
    expect(refused).toMatchObject({ exit: 2, stdout: "" });
    expect(await readStream("hook")).toHaveLength(before + 1);
  });

  it("of a run are in the stream of the run", async () => {
    expect(await ask(sent("src/lamp.ts"), { VERBATIM_RUN: "mine" })).toMatchObject({ exit: 0, stdout: "" });
    expect((await readStream("workflow/mine")).at(-1)).toMatchObject({ kind: "HOOK_ALLOWED", actor: "hook" });
  });

  it("from the view of an agent go into the folder of the run, which must be there", async () => {
    const view = { VERBATIM_RUN: "mine", VERBATIM_RUN_ID: "cat-1" };
    expect(await ask(sent("src/lamp.ts"), view)).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("HOOK_RUN_INVALID"),
    });
    mkdirSync(join(runDir, "hooks"));
    const before = (await readStream("workflow/mine")).length;
    expect(await ask(sent("src/lamp.ts"), view)).toMatchObject({ exit: 0, stdout: "" });
    expect(await ask(sent(".git/x"), view)).toMatchObject({ exit: 0, stdout: expect.stringContaining("deny") });
    const lines = readFileSync(join(runDir, "hooks", "receipts.jsonl"), "utf8")
      .trimEnd()
      .split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { kind: string }).kind)).toEqual(["HOOK_ALLOWED", "HOOK_BLOCKED"]);
    expect(await readStream("workflow/mine")).toHaveLength(before);
    rmSync(join(runDir, "hooks"), { recursive: true });
  });

  it("outside a repository are kept nowhere, unless there is a workspace", async () => {
    const folder = join(base, "loose");
    mkdirSync(folder);
    expect(await ask({ hook_event_name: "Stop" }, {}, "stop", folder)).toMatchObject({ exit: 0 });
    expect(readdirSync(folder)).toEqual([]);
    cpSync(join(root, ".verbatim"), join(folder, ".verbatim"), { recursive: true });
    rmSync(join(folder, ".verbatim", "state", "store.db"));
    expect(await ask({ hook_event_name: "Stop" }, {}, "stop", folder)).toMatchObject({ exit: 0 });
    expect(existsSync(join(folder, ".verbatim", "state", "store.db"))).toBe(true);
  });
});

describe("an answer", () => {
  it("refuses the forbidden roots and everything outside", async () => {
    for (const [path, says] of [
      [".git/config", "is in the forbidden root"],
      ["../elsewhere", "is outside the repository"],
    ] as const) {
      expect(await ask(sent(path))).toMatchObject({ exit: 0, stdout: expect.stringContaining(says) });
    }
  });

  it("to a client or an event that nobody knows is a refusal", async () => {
    for (const [event, client] of [
      ["pre-tools", "claude"],
      ["pre-tool", "vim"],
    ] as const) {
      expect(await ask(sent("src/lamp.ts"), {}, event, root, client)).toEqual({
        exit: 2,
        stdout: "",
        stderr: `Verbatim: blocked, the hook failed: [USAGE] there is no hook ${event} for the client ${client}\n`,
      });
    }
  });

  it("to what cannot be judged is a refusal with its code, and so is what nobody expected", async () => {
    expect(await ask({ hook_event_name: "PreToolUse" })).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("(client claude): [HOOK_INPUT_INVALID]"),
    });
    expect(await ask(sent("src/lamp.ts"), {}, "pre-tool", join(base, "none"))).toMatchObject({ exit: 2, stdout: "" });
    const broken = { hook_event_name: "Stop", stop_hook_active: true };
    const env = { VERBATIM_RUN: "other" };
    expect((await ask(broken, env, "stop")).exit).toBe(0);
    expect((await ask({ ...broken, stop_hook_active: false }, env, "stop")).exit).toBe(2);
    expect((await ask(sent("src/lamp.ts", { stop_hook_active: true }), env)).exit).toBe(2);
  });
});
