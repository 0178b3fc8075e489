import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { writeDurably } from "../../adapters/disk/durable/durable-write.ts";
import { toClientSettings } from "./client-settings.ts";
import { installHook } from "./install-hook.ts";

function makeRoot(): string {
  const root = mkdtempSync(join(tmpdir(), "verbatim-install-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return root;
}

const install = (root: string, write = true) =>
  installHook(writeDurably, { client: "claude", root, user: false, write });

function makeSettings(text: string | Uint8Array): { readonly root: string; readonly file: string } {
  const root = makeRoot();
  const file = join(root, ".claude", "settings.json");
  mkdirSync(dirname(file));
  writeFileSync(file, text);
  return { root, file };
}

const hook = (event: string, more: object = {}) => {
  const command = `verbatim hook ${event} --client claude${event === "pre-tool" ? " || exit 2" : ""}`;
  return { type: "command", command, timeout: 10, ...more };
};
const BLOCK = {
  PreToolUse: [{ matcher: "*", hooks: [hook("pre-tool", { onFailure: "block" })] }],
  PostToolUse: [{ matcher: "*", hooks: [hook("post-tool")] }],
  Stop: [{ hooks: [hook("stop")] }],
};

describe("the block of a client", () => {
  it("of Claude Code blocks where the gate fails", () => {
    expect(toClientSettings("claude")).toMatchObject({ file: ".claude/settings.json", head: {}, hooks: BLOCK });
  });

  it.each([
    ["codex", ".codex/hooks.json", ["PreToolUse", "PostToolUse", "Stop"], 10],
    ["gemini", ".gemini/settings.json", ["BeforeTool", "AfterTool", "AfterAgent"], 10_000],
  ] as const)("of %s has a gate that ends with 2 where the program fails", (client, file, moments, timeout) => {
    const [pre, post, stop] = moments;
    const entry = (command: string) => [{ hooks: [{ type: "command", command, timeout }] }];
    expect(toClientSettings(client)).toMatchObject({ file, head: {} });
    expect(toClientSettings(client).hooks).toEqual({
      [pre]: entry(`verbatim hook pre-tool --client ${client} || exit 2`),
      [post]: entry(`verbatim hook post-tool --client ${client}`),
      [stop]: entry(`verbatim hook stop --client ${client}`),
    });
  });

  it("of Cursor fails closed at the gate and nowhere else", () => {
    expect(toClientSettings("cursor")).toMatchObject({ file: ".cursor/hooks.json", head: { version: 1 } });
    expect(toClientSettings("cursor").hooks).toEqual({
      preToolUse: [{ command: "verbatim hook pre-tool --client cursor || exit 2", failClosed: true }],
      postToolUse: [{ command: "verbatim hook post-tool --client cursor" }],
      stop: [{ command: "verbatim hook stop --client cursor" }],
    });
  });
});

describe("installing", () => {
  it("only proposes until it is told to write", () => {
    const root = makeRoot();
    const proposed = install(root, false);
    expect(proposed).toMatchObject({ state: "proposed", file: join(root, ".claude", "settings.json") });
    expect(existsSync(proposed.file)).toBe(false);
    expect(JSON.parse(proposed.text)).toEqual({ hooks: BLOCK });
    expect(proposed.block).toEqual({ hooks: BLOCK });
    expect(proposed.notes).toEqual([
      'onFailure "block" makes Claude Code (2.1.295 or newer) block when the hook cannot start or takes too long',
      expect.stringContaining("must be on the PATH of the client"),
    ]);
  });

  it("makes the file, and leaves it alone the second time", () => {
    const root = makeRoot();
    const { file, state, text } = install(root);
    expect([state, readFileSync(file, "utf8")]).toEqual(["created", text]);
    expect(statSync(file).mode & 0o777).toBe(0o644 & ~process.umask());
    expect(install(root)).toMatchObject({ state: "unchanged", text });
    expect(install(root, false)).toMatchObject({ state: "unchanged", text });
  });

  it("keeps what is in the file, in its order, its indent and its mode", () => {
    const { root, file } = makeSettings(
      '{\n\t"z": 1,\n\t"hooks": { "Stop": [{ "hooks": [] }], "Other": [1] },\n\t"a": [1.5]\n}\n',
    );
    chmodSync(file, 0o600);
    expect(install(root).state).toBe("merged");
    const text = readFileSync(file, "utf8");
    expect(Object.keys(JSON.parse(text) as object)).toEqual(["z", "hooks", "a"]);
    expect(JSON.parse(text)).toEqual({
      z: 1,
      hooks: { ...BLOCK, Stop: [{ hooks: [] }, ...BLOCK.Stop], Other: [1] },
      a: [1.5],
    });
    expect([text.split("\n")[1], text.at(-1)]).toEqual(['\t"z": 1,', "\n"]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(install(root).state).toBe("unchanged");
  });

  it("leaves an entry alone that its owner adjusted", () => {
    const mine = [{ hooks: [{ command: "nice verbatim hook pre-tool --client claude --x" }] }];
    const { root, file } = makeSettings(JSON.stringify({ hooks: { PreToolUse: mine } }));
    install(root);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ hooks: { ...BLOCK, PreToolUse: mine } });
  });

  it("leaves a file as it is written when everything is there, and adds a single hook that is missing", () => {
    const text = JSON.stringify({ hooks: BLOCK });
    const { root, file } = makeSettings(text);
    expect(install(root)).toMatchObject({ state: "unchanged", text });
    expect(readFileSync(file, "utf8")).toBe(text);
    const { Stop: _, ...others } = BLOCK;
    writeFileSync(file, JSON.stringify({ hooks: others }));
    expect(install(root)).toMatchObject({ state: "merged", text: `${JSON.stringify({ hooks: BLOCK }, null, 2)}\n` });
  });

  it("is for the repository, or for everything its user does", () => {
    const root = makeRoot();
    const user = installHook(writeDurably, { client: "codex", root, user: true, write: false });
    expect(user.file).toBe(join(homedir(), ".codex", "hooks.json"));
  });

  it("takes an empty file for none, and gives Cursor its version", () => {
    const { root, file } = makeSettings(" \n");
    chmodSync(file, 0o600);
    expect(install(root)).toMatchObject({ state: "merged" });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const other = makeRoot();
    mkdirSync(join(other, ".cursor"));
    writeFileSync(join(other, ".cursor", "hooks.json"), '{"version":2}');
    const request = { client: "cursor", user: false, write: false } as const;
    expect(JSON.parse(installHook(writeDurably, { ...request, root: other }).text)).toMatchObject({ version: 2 });
    expect(JSON.parse(installHook(writeDurably, { ...request, root: makeRoot() }).text)).toMatchObject({ version: 1 });
  });

  it.each<[string, string | Uint8Array]>([
    ["not UTF-8", new Uint8Array([0xff])],
    ["not JSON", "{ // mine\n}"],
    ["a list", "[]"],
    ["a member twice", '{"a":1,"a":2}'],
    ["a number that would change", '{"a":12345678901234567890}'],
    ["hooks that are a list", '{"hooks":[]}'],
    ["hooks that are a text", '{"hooks":"x"}'],
    ["a moment that is no list", '{"hooks":{"Stop":{}}}'],
  ])("refuses a file that is %s, and leaves it as it is", (_what, text) => {
    const { root, file } = makeSettings(text);
    expect(() => install(root)).toThrow(expect.objectContaining({ code: "HOOK_SETTINGS_INVALID", where: file }));
    expect(readFileSync(file)).toEqual(Buffer.from(text));
  });

  it("keeps why a file is not JSON", () => {
    const { root, file } = makeSettings("{ // mine\n}");
    expect(() => install(root)).toThrow(
      expect.objectContaining({ where: file, cause: expect.objectContaining({ code: "JSON_SYNTAX" }) }),
    );
  });

  it("refuses what is no file, also a link to one", () => {
    const { root, file } = makeSettings("{}");
    rmSync(file);
    writeFileSync(join(root, "elsewhere.json"), "{}");
    symlinkSync("../elsewhere.json", file);
    expect(() => install(root)).toThrow(expect.objectContaining({ code: "HOOK_SETTINGS_INVALID", where: file }));
    expect(readFileSync(join(root, "elsewhere.json"), "utf8")).toBe("{}");
  });
});
