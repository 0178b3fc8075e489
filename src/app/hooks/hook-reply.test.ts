import { expect, it } from "vitest";
import type { HookCall } from "./hook-call.ts";
import { formatFailure, formatReply, toPlainLine } from "./hook-reply.ts";

const say = (client: string, event: string, moment: string, allowed: boolean) => {
  const { exit, stdout, stderr } = formatReply({ client, event, moment } as HookCall, allowed, "no");
  expect([exit, stderr]).toEqual([0, ""]);
  expect(stdout).not.toBe("null\n");
  return stdout === "" ? null : (JSON.parse(stdout) as unknown);
};
const reason = "Verbatim: no";

it.each<[string, string, string, unknown, unknown]>([
  [
    "claude",
    "pre-tool",
    "PreToolUse",
    null,
    {
      hookSpecificOutput: {
        hookEventName: "PreToolUse",
        permissionDecision: "deny",
        permissionDecisionReason: reason,
      },
    },
  ],
  ["claude", "post-tool", "PostToolUse", null, { decision: "block", reason }],
  ["claude", "stop", "Stop", null, { decision: "block", reason }],
  ["codex", "post-tool", "PostToolUse", null, { decision: "block", reason }],
  ["gemini", "pre-tool", "BeforeTool", {}, { decision: "deny", reason }],
  ["gemini", "stop", "AfterAgent", {}, { decision: "deny", reason }],
  [
    "cursor",
    "pre-tool",
    "preToolUse",
    { permission: "allow" },
    { permission: "deny", user_message: reason, agent_message: reason },
  ],
  ["cursor", "post-tool", "postToolUse", {}, { additional_context: reason }],
  ["cursor", "post-tool", "afterFileEdit", {}, {}],
  ["cursor", "stop", "stop", {}, {}],
])("%s is answered at %s (%s) in its own words", (client, event, moment, pass, block) => {
  expect([say(client, event, moment, true), say(client, event, moment, false)]).toEqual([pass, block]);
});

it("a failure blocks on one plain line", () => {
  expect(formatFailure("INTERNAL", "a\u001b[31m\nb\u202ec\u2028", "cursor")).toEqual({
    exit: 2,
    stdout: "",
    stderr: "Verbatim: blocked, the hook failed (client cursor): [INTERNAL] a [31m b c\n",
  });
  expect(formatFailure("USAGE", "\n", null).stderr).toBe(
    "Verbatim: blocked, the hook failed: [USAGE] the hook failed\n",
  );
  expect(toPlainLine(" a\r\n\tb ")).toBe("a b");
});
