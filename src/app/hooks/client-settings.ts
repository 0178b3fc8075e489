import { join } from "node:path";
import { HOOK_EVENTS, type HookClient, type HookEvent } from "./hook-call.ts";

/** A block of hooks as a client's settings file has them: moment to list of entries. */
export type HookBlock = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

export interface ClientSettings {
  /** Relative to the repository, or to the home folder. */
  readonly file: string;
  /** Members the file must have besides `hooks`, where it is made again. */
  readonly head: Readonly<Record<string, unknown>>;
  readonly hooks: HookBlock;
  /** How the client behaves when a hook itself fails, for the person who installs it. */
  readonly failure: string;
}

const SECONDS = 10;

const MOMENT: Readonly<Record<HookClient, Readonly<Record<HookEvent, string>>>> = {
  claude: { "pre-tool": "PreToolUse", "post-tool": "PostToolUse", stop: "Stop" },
  codex: { "pre-tool": "PreToolUse", "post-tool": "PostToolUse", stop: "Stop" },
  gemini: { "pre-tool": "BeforeTool", "post-tool": "AfterTool", stop: "AfterAgent" },
  cursor: { "pre-tool": "preToolUse", "post-tool": "postToolUse", stop: "stop" },
};

const FILES: Readonly<Record<HookClient, string>> = {
  claude: join(".claude", "settings.json"),
  codex: join(".codex", "hooks.json"),
  gemini: join(".gemini", "settings.json"),
  cursor: join(".cursor", "hooks.json"),
};

const FAILURES: Readonly<Record<HookClient, string>> = {
  claude: 'onFailure "block" makes Claude Code (2.1.295 or newer) block when the hook cannot start or takes too long',
  codex:
    "Codex has no option that blocks when a hook takes too long; a hook that fails or is missing blocks. Versions that keep hooks behind a flag need codex_hooks = true below [features] in config.toml",
  gemini: "Gemini CLI has no option that blocks when a hook takes too long; a hook that fails or is missing blocks",
  cursor: "failClosed makes Cursor block when the hook cannot start, fails or takes too long",
};

/** What belongs into the settings of a client. */
export function toClientSettings(client: HookClient): ClientSettings {
  const hooks = Object.fromEntries(HOOK_EVENTS.map((event) => [MOMENT[client][event], [toEntry(client, event)]]));
  return {
    file: FILES[client],
    head: client === "cursor" ? { version: 1 } : {},
    hooks,
    failure: FAILURES[client],
  };
}

/** The command of one moment. Before a tool runs, a program that is missing or ends differently must block as well. */
function toHookCommand(client: HookClient, event: HookEvent): string {
  const command = `verbatim hook ${event} --client ${client}`;
  return event === "pre-tool" ? `${command} || exit 2` : command;
}

function toEntry(client: HookClient, event: HookEvent): Readonly<Record<string, unknown>> {
  const command = toHookCommand(client, event);
  const isGate = event === "pre-tool";
  if (client === "cursor") return isGate ? { command, failClosed: true } : { command };
  const timeout = client === "gemini" ? SECONDS * 1000 : SECONDS;
  const block = client === "claude" && isGate ? { onFailure: "block" } : {};
  const hook = { type: "command", command, timeout, ...block };
  return client === "claude" && event !== "stop" ? { matcher: "*", hooks: [hook] } : { hooks: [hook] };
}
