// Whatever a client sends, a hook answers: pass or block, never an exception, and a block has a reason.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hookPorts } from "../../src/app/compose/hook-ports.ts";
import { answerHook } from "../../src/app/hooks/answer-hook.ts";
import { HOOK_CLIENTS, HOOK_EVENTS } from "../../src/app/hooks/hook-call.ts";
import { splitShell } from "../../src/app/hooks/shell-words.ts";

const encoder = new TextEncoder();
const MOMENTS = ["PreToolUse", "PostToolUse", "Stop", "BeforeTool", "AfterTool", "beforeShellExecution", "stop", "x"];
const TOOLS = ["Write", "Edit", "Bash", "apply_patch", "write_file", "run_shell_command", "Shell", "mcp__a__b", ""];
const WORDS = [
  "rm",
  "-rf",
  "src",
  ".git",
  "'",
  '"',
  "\\",
  "$(",
  ")",
  "`",
  ">",
  ">>",
  "&>",
  "<<<",
  "|",
  ";",
  "\n",
  "é",
  "#",
];

let root: string;

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-hooks-")));
  mkdirSync(join(root, ".git"));
  mkdirSync(join(root, "src", "deep"), { recursive: true });
  writeFileSync(join(root, "verbatim.config.json"), "{}\n");
  symlinkSync("../.git", join(root, "src", "shortcut"));
});

afterAll(() => {
  rmSync(root, { recursive: true });
});

const ask = (bytes: Uint8Array, event: string, client: string) =>
  answerHook(hookPorts, { event, client, bytes, start: root, env: {}, platform: "linux" });

const command = fc.array(fc.constantFrom(...WORDS), { maxLength: 30 }).map((words) => words.join(" "));
const call = fc.record(
  {
    hook_event_name: fc.constantFrom(...MOMENTS),
    tool_name: fc.oneof(fc.constantFrom(...TOOLS), fc.jsonValue()),
    tool_input: fc.oneof(
      fc.record({ file_path: fc.string({ unit: "binary" }), command, patch: fc.string() }, { requiredKeys: [] }),
      fc.jsonValue(),
    ),
    cwd: fc.oneof(fc.constant("src"), fc.string({ unit: "binary" }), fc.jsonValue()),
    session_id: fc.string({ unit: "binary" }),
  },
  { requiredKeys: [] },
);
const sent = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  call.map((value) => encoder.encode(JSON.stringify(value))),
  fc.jsonValue().map((value) => encoder.encode(JSON.stringify(value))),
);

describe("whatever a client sends", () => {
  it("a hook passes it with exit 0, or blocks it with a reason that has no control characters", async () => {
    const ends = { pass: 0, block: 0 };
    await fc.assert(
      fc.asyncProperty(sent, fc.constantFrom(...HOOK_EVENTS), fc.constantFrom(...HOOK_CLIENTS), async (...asked) => {
        const { exit, stdout, stderr } = await ask(...asked);
        expect([0, 2]).toContain(exit);
        if (exit === 2) expect(stderr.trim()).not.toBe("");
        expect(stderr.trimEnd()).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
        if (stdout !== "") expect(JSON.parse(stdout)).toBeTypeOf("object");
        ends[exit === 0 ? "pass" : "block"]++;
      }),
      { numRuns: 600 },
    );
    expect(Math.min(ends.pass, ends.block)).toBeGreaterThan(0);
  });

  it("a forbidden place stays forbidden however it is spelled", async () => {
    const detour = fc.array(fc.constantFrom("./", "src/../", "src/deep/../../", "./", "none/../"), { maxLength: 4 });
    const target = fc.constantFrom(".git/config", ".GIT/hooks/x", "src/shortcut/config", "verbatim.config.json");
    await fc.assert(
      fc.asyncProperty(detour, target, fc.boolean(), async (steps, path, absolute) => {
        const file_path = `${absolute ? `${root}/` : ""}${steps.join("")}${path}`;
        const body = { hook_event_name: "PreToolUse", tool_name: "Write", tool_input: { file_path }, cwd: root };
        const { exit, stdout } = await ask(encoder.encode(JSON.stringify(body)), "pre-tool", "claude");
        expect(`${exit} ${stdout}`).toMatch(/^2 |"deny"/);
      }),
      { numRuns: 100 },
    );
  });

  it("a writer is let through only when everything it calls a path is a text that leads inside", async () => {
    const value = fc.oneof(
      fc.constantFrom<unknown>("src/a.ts", `${root}/src/b.ts`, "../out", "/etc/hosts", ".git/x", "", null, 7, true),
      fc.constantFrom<unknown>(["src/a.ts", "/etc/hosts"], ["src/a.ts"], [7], { path: "src/a.ts" }, [["src/a.ts"]]),
    );
    const key = fc.constantFrom("file_path", "path", "paths", "notebook_path", "destination");
    const isInside = (one: unknown) => ["src/a.ts", `${root}/src/b.ts`].includes(one as string);
    const tool = fc.constantFrom("Write", "Edit", "MultiEdit", "NotebookEdit", "Delete");
    await fc.assert(
      fc.asyncProperty(fc.dictionary(key, value, { maxKeys: 3 }), tool, async (tool_input, tool_name) => {
        const body = { hook_event_name: "PreToolUse", tool_name, tool_input, cwd: root };
        const { exit, stdout } = await ask(encoder.encode(JSON.stringify(body)), "pre-tool", "claude");
        const named = Object.values(tool_input)
          .flatMap((one) => (Array.isArray(one) ? (one as unknown[]) : [one]))
          .filter((one) => one !== null && one !== "");
        const isGood = named.length > 0 && named.every(isInside) && !Object.values(tool_input).includes("");
        if (named.length === 0 || !named.every(isInside)) expect(`${exit} ${stdout}`).toMatch(/^2 |"deny"/);
        if (isGood) expect([exit, stdout]).toEqual([0, ""]);
      }),
      { numRuns: 200 },
    );
  });

  it("what cannot be a path is refused by its own code", async () => {
    for (const file_path of ["src/\u0000x", "a/".repeat(5_000), `${root}/${"n".repeat(300)}`]) {
      const body = { hook_event_name: "PreToolUse", tool_name: "Write", tool_input: { file_path }, cwd: root };
      const { exit, stderr } = await ask(encoder.encode(JSON.stringify(body)), "pre-tool", "claude");
      expect([exit, stderr]).toEqual([2, expect.stringContaining("[HOOK_INPUT_INVALID]")]);
      expect(stderr.length).toBeLessThan(300);
    }
  });

  it("a tool nobody knows is judged by the paths it names at any depth", async () => {
    for (const tool_name of ["mcp__files__batch", "Refactor"]) {
      const asked = (path: string) => ({ steps: [{ note: "x" }, { edit: { files: [{ path }] } }] });
      const body = { hook_event_name: "PreToolUse", tool_name, cwd: root };
      const answer = async (path: string) =>
        (await ask(encoder.encode(JSON.stringify({ ...body, tool_input: asked(path) })), "pre-tool", "claude")).stdout;
      expect([await answer("src/a.ts"), await answer("/etc/hosts")]).toEqual(["", expect.stringContaining('"deny"')]);
    }
  });

  it("a long command is split in one pass, whatever its signs", () => {
    for (const sign of WORDS) {
      const text = sign.repeat(300_000 / sign.length);
      const words = splitShell(text).flatMap((one) => [...one.words, ...one.redirects]);
      expect(words.reduce((sum, one) => sum + one.text.length, 0)).toBeLessThanOrEqual(text.length);
    }
  });
});
