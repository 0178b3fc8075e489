import { describe, expect, it } from "vitest";
import { HOOK_CLIENTS, HOOK_EVENTS, parseHookCall } from "./hook-call.ts";

const parse = (value: unknown, event: (typeof HOOK_EVENTS)[number], client: (typeof HOOK_CLIENTS)[number]) =>
  parseHookCall(new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value)), event, client);
const refusedAt = (where: string) => expect.objectContaining({ code: "HOOK_INPUT_INVALID", where });

const MOMENTS = {
  claude: {
    "pre-tool": ["PreToolUse"],
    "post-tool": ["PostToolUse", "PostToolUseFailure"],
    stop: ["Stop", "SubagentStop"],
  },
  codex: { "pre-tool": ["PreToolUse"], "post-tool": ["PostToolUse"], stop: ["Stop", "SubagentStop"] },
  gemini: { "pre-tool": ["BeforeTool"], "post-tool": ["AfterTool"], stop: ["AfterAgent"] },
  cursor: {
    "pre-tool": ["preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile"],
    "post-tool": ["postToolUse", "postToolUseFailure", "afterFileEdit", "afterShellExecution", "afterMCPExecution"],
    stop: ["stop", "subagentStop"],
  },
} as const;
const ALL = Object.values(MOMENTS).flatMap((one) => Object.values(one).flat());

describe("the moment", () => {
  it("is one that the client has for this event, and no other", () => {
    for (const client of HOOK_CLIENTS) {
      for (const event of HOOK_EVENTS) {
        for (const moment of [...ALL, "", "constructor"]) {
          const sent = { hook_event_name: moment, tool_name: "Read", tool_input: {}, command: "ls", path: "a" };
          const isKnown = (MOMENTS[client][event] as readonly string[]).includes(moment);
          if (isKnown) expect(parse(sent, event, client)).toMatchObject({ client, event, moment });
          else expect(() => parse(sent, event, client)).toThrow(refusedAt("/hook_event_name"));
        }
      }
    }
  });
});

describe("the tool", () => {
  const pre = { hook_event_name: "PreToolUse", session_id: "s1", cwd: "/r" };

  it("is named, with its arguments as an object or as JSON in a text", () => {
    const sent = { ...pre, tool_name: "Write", tool_input: { file_path: "a" } };
    const expected = {
      client: "claude",
      event: "pre-tool",
      moment: "PreToolUse",
      session: "s1",
      again: false,
      tool: "Write",
      cwd: "/r",
      writes: ["a"],
      reads: [],
      commands: [],
    };
    expect(parse(sent, "pre-tool", "claude")).toEqual(expected);
    expect(parse({ ...sent, tool_input: '{"file_path":"a"}' }, "pre-tool", "claude")).toEqual(expected);
    expect(parse(`\ufeff${JSON.stringify(sent)}`, "pre-tool", "claude")).toEqual(expected);
  });

  it("must have a name and arguments", () => {
    for (const name of [undefined, "", 7]) {
      expect(() => parse({ ...pre, tool_name: name, tool_input: {} }, "pre-tool", "claude")).toThrow(
        refusedAt("/tool_name"),
      );
    }
    for (const input of [undefined, null, [], 7, "[]", "7"]) {
      expect(() => parse({ ...pre, tool_name: "Read", tool_input: input }, "pre-tool", "claude")).toThrow(
        refusedAt("/tool_input"),
      );
    }
    for (const text of ["[]", "null", '"x"']) {
      expect(() => parse(text, "pre-tool", "claude")).toThrow(expect.objectContaining({ code: "HOOK_INPUT_INVALID" }));
    }
    expect(() => parseHookCall(new Uint8Array([0xff]), "pre-tool", "claude")).toThrow(
      expect.objectContaining({ code: "HOOK_INPUT_INVALID" }),
    );
  });

  it("follows from the moment where Cursor names none", () => {
    const cursor = (hook_event_name: string, more: object, event: "pre-tool" | "post-tool") =>
      parse({ hook_event_name, conversation_id: "c1", session_id: "s1", ...more }, event, "cursor");
    expect(cursor("beforeShellExecution", { command: "rm a", cwd: "/r" }, "pre-tool")).toMatchObject({
      tool: "Shell",
      commands: ["rm a"],
      cwd: "/r",
      session: "c1",
    });
    expect(cursor("afterShellExecution", { command: "rm a" }, "post-tool")).toMatchObject({ tool: "Shell" });
    expect(cursor("beforeReadFile", { file_path: "a" }, "pre-tool")).toMatchObject({ tool: "Read", reads: ["a"] });
    expect(cursor("afterFileEdit", { file_path: "a" }, "post-tool")).toMatchObject({ tool: "Write", writes: ["a"] });
  });

  it("of another server counts as unknown, whatever its name", () => {
    const sent = { hook_event_name: "beforeMCPExecution", tool_name: "Read", tool_input: { path: "a" } };
    expect(parse(sent, "pre-tool", "cursor")).toMatchObject({ writes: ["a"], reads: [] });
  });
});

describe("relative paths are meant", () => {
  const sent = { hook_event_name: "preToolUse", tool_name: "Read", tool_input: {} };
  it.each<[object, string | null]>([
    [{ tool_input: { working_directory: "/w" }, cwd: "/c", workspace_roots: ["/a"] }, "/w"],
    [{ cwd: "/c", workspace_roots: ["/a"] }, "/c"],
    [{ cwd: "", workspace_roots: ["/a", "/b"] }, "/a"],
    [{ workspace_roots: [7] }, null],
    [{ workspace_roots: "/a" }, null],
    [{}, null],
  ])("with %j from %s", (more, cwd) => {
    expect(parse({ ...sent, ...more }, "pre-tool", "cursor").cwd).toBe(cwd);
  });
});

describe("a stop", () => {
  it("names no tool, and says whether a hook made the agent go on before", () => {
    const stop = (more: object) => parse({ hook_event_name: "Stop", cwd: "/r", ...more }, "stop", "claude");
    const none = { tool: "", cwd: null, session: "", writes: [], reads: [], commands: [] };
    expect(stop({ stop_hook_active: true })).toMatchObject({ ...none, again: true });
    for (const active of [false, undefined, "true", 1]) expect(stop({ stop_hook_active: active }).again).toBe(false);
  });
});
