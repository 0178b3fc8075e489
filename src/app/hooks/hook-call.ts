import { decodeUtf8, isJsonObject, type JsonObject, type JsonValue, parseJson } from "../../core/canonical/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import { listToolTargets, type ToolTargets } from "./tool-targets.ts";

/** Coding agents whose hooks are understood. */
export const HOOK_CLIENTS = ["claude", "codex", "gemini", "cursor"] as const;
export type HookClient = (typeof HOOK_CLIENTS)[number];

/** The three moments of a tool call that matter here. */
export const HOOK_EVENTS = ["pre-tool", "post-tool", "stop"] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** What a client sent, in one shape for all of them. */
export interface HookCall extends ToolTargets {
  readonly client: HookClient;
  readonly event: HookEvent;
  /** The client's own name of the moment. */
  readonly moment: string;
  /** The client's own name of the tool; empty at a stop. */
  readonly tool: string;
  /** Folder that relative paths are meant from, or null. */
  readonly cwd: string | null;
  readonly session: string;
  /** Whether the client says that a stop hook made it go on already. */
  readonly again: boolean;
}

/** How each client calls the moments. */
const MOMENTS: Readonly<Record<HookClient, Readonly<Record<HookEvent, readonly string[]>>>> = {
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
};

/** Moments of Cursor that stand for one tool and name none. */
const TOOL_OF_MOMENT: Readonly<Record<string, string>> = {
  beforeShellExecution: "Shell",
  afterShellExecution: "Shell",
  beforeReadFile: "Read",
  afterFileEdit: "Write",
};

/** Reads the JSON of a hook. Anything that is not exactly understood is HOOK_INPUT_INVALID, so that it blocks. */
export function parseHookCall(bytes: Uint8Array, event: HookEvent, client: HookClient): HookCall {
  const sent = parseSent(bytes);
  const moment = requireText(sent, "hook_event_name");
  if (!MOMENTS[client][event].includes(moment)) {
    throw new VerbatimError("HOOK_INPUT_INVALID", {
      message: `${client} sent ${JSON.stringify(moment)}, but ${event} expects ${MOMENTS[client][event].join(" or ")}`,
      where: "/hook_event_name",
    });
  }
  const facts = {
    client,
    event,
    moment,
    session: readText(sent, client === "cursor" ? "conversation_id" : "session_id") ?? "",
    again: sent["stop_hook_active"] === true,
  };
  if (event === "stop") return { ...facts, tool: "", cwd: null, writes: [], reads: [], commands: [] };
  const fixed = TOOL_OF_MOMENT[moment];
  const tool = fixed ?? requireText(sent, "tool_name");
  const input = fixed === undefined ? readInput(sent) : sent;
  const cwd = readText(input, "working_directory") ?? readText(sent, "cwd") ?? readRoot(sent);
  return { ...facts, tool, cwd, ...listToolTargets(tool, input, moment.includes("MCP")) };
}

function parseSent(bytes: Uint8Array): JsonObject {
  const text = decodeUtf8(bytes);
  // One client puts a byte order mark in front on Windows; it says nothing.
  const value = text === null ? null : parseJson(text.startsWith("\ufeff") ? text.slice(1) : text, { file: "stdin" });
  if (isJsonObject(value)) return value;
  throw new VerbatimError("HOOK_INPUT_INVALID", { message: "standard input must be one JSON object in UTF-8" });
}

/** Some clients send the arguments of a tool as JSON inside a text. */
function readInput(sent: JsonObject): JsonObject {
  const given = sent["tool_input"];
  const value: JsonValue | undefined = typeof given === "string" ? parseJson(given, { file: "tool_input" }) : given;
  if (isJsonObject(value)) return value;
  throw new VerbatimError("HOOK_INPUT_INVALID", { message: "tool_input must be an object", where: "/tool_input" });
}

function readRoot(sent: JsonObject): string | null {
  const roots = sent["workspace_roots"];
  const first = Array.isArray(roots) ? roots[0] : undefined;
  return typeof first === "string" ? first : null;
}

function readText(object: JsonObject, key: string): string | null {
  const value = object[key];
  return typeof value === "string" && value !== "" ? value : null;
}

function requireText(object: JsonObject, key: string): string {
  const text = readText(object, key);
  if (text !== null) return text;
  throw new VerbatimError("HOOK_INPUT_INVALID", {
    message: `${key} must be a non-empty text`,
    where: `/${key}`,
  });
}
