import type { HookCall, HookClient } from "./hook-call.ts";

/** What the hook leaves for its client: an exit code and two texts. */
export interface HookReply {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

const PREFIX = "Verbatim:";

/** The verdict in the words of the client. Silence means "as you would without me", never "skip your own questions". */
export function formatReply(call: HookCall, allowed: boolean, reason: string): HookReply {
  const body = allowed ? formatPass(call) : formatBlock(call, `${PREFIX} ${reason}`);
  return { exit: 0, stdout: body === null ? "" : `${JSON.stringify(body)}\n`, stderr: "" };
}

function formatPass({ client, event }: HookCall): object | null {
  if (client === "cursor") return event === "pre-tool" ? { permission: "allow" } : {};
  return client === "gemini" ? {} : null;
}

function formatBlock({ client, event, moment }: HookCall, reason: string): object {
  if (client === "cursor") {
    if (event === "pre-tool") return { permission: "deny", user_message: reason, agent_message: reason };
    return moment === "postToolUse" ? { additional_context: reason } : {};
  }
  if (client === "gemini") return { decision: "deny", reason };
  if (event !== "pre-tool") return { decision: "block", reason };
  return {
    hookSpecificOutput: {
      hookEventName: moment,
      permissionDecision: "deny",
      permissionDecisionReason: reason,
    },
  };
}

/** A text on one line without anything that moves the cursor, colours the terminal or hides what is said. */
export function toPlainLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ").trim();
}

/** The answer when anything failed: every client reads exit 2 as a refusal and shows standard error. */
export function formatFailure(code: string, message: string, client: HookClient | null): HookReply {
  const who = client === null ? "" : ` (client ${client})`;
  const what = toPlainLine(message) || "the hook failed";
  return { exit: 2, stdout: "", stderr: `${PREFIX} blocked, the hook failed${who}: [${code}] ${what}\n` };
}
