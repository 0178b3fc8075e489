import type { JsonObject } from "../../core/canonical/index.ts";
import { isVerbatimError } from "../../core/errors/index.ts";
import {
  HOOK_CLIENTS,
  HOOK_EVENTS,
  type HookCall,
  type HookClient,
  type HookEvent,
  parseHookCall,
} from "./hook-call.ts";
import { recordReceipt } from "./hook-receipt.ts";
import { formatFailure, formatReply, type HookReply } from "./hook-reply.ts";
import { readHookRules } from "./hook-rules.ts";
import { type HookVerdict, judgeCall } from "./hook-verdict.ts";
import type { HookPorts } from "./ports.ts";

interface HookRequest {
  readonly event: string;
  readonly client: string;
  readonly bytes: Uint8Array;
  readonly start: string;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
}

const ALL_CLEAR: HookVerdict = { allowed: true, reason: "", targets: [] };

/**
 * Judges one hook call, records it and answers in the client's format. Never throws: whatever goes wrong is exit 2
 * with a reason, because every other exit lets the agent go on.
 */
export async function answerHook(ports: HookPorts, request: HookRequest): Promise<HookReply> {
  const event = HOOK_EVENTS.find((one) => one === request.event);
  const client = HOOK_CLIENTS.find((one) => one === request.client);
  if (event === undefined || client === undefined) {
    return formatFailure("USAGE", `there is no hook ${request.event} for the client ${request.client}`, null);
  }
  let call: HookCall | null = null;
  try {
    call = parseHookCall(request.bytes, event, client);
    return await decide(ports, request, call);
  } catch (thrown) {
    const code = isVerbatimError(thrown) ? thrown.code : "INTERNAL";
    const reply = formatFailure(code, thrown instanceof Error ? thrown.message : String(thrown), client);
    // An agent that was held back from stopping once already would never end; nothing is open when it stops.
    return call?.again === true && event === "stop" ? { ...reply, exit: 0 } : reply;
  }
}

async function decide(ports: HookPorts, request: HookRequest, call: HookCall): Promise<HookReply> {
  const { env, platform } = request;
  const workspace = ports.findWorkspace(request.start);
  const rules = await readHookRules(ports, workspace, env, platform);
  const verdict = call.event === "stop" ? ALL_CLEAR : judgeCall(call, rules);
  const kind = toKind(call.event, verdict.allowed);
  await recordReceipt(ports, { workspace, env, run: rules.run }, kind, toBody(ports, request, call, verdict));
  return formatReply(call, verdict.allowed, verdict.reason);
}

function toKind(event: HookEvent, allowed: boolean): string {
  if (event === "stop") return "HOOK_STOPPED";
  if (event === "post-tool") return allowed ? "HOOK_SEEN" : "HOOK_SEEN_REFUSED";
  return allowed ? "HOOK_ALLOWED" : "HOOK_BLOCKED";
}

/** Contents and commands stay out of the ledger; their hash binds the receipt to what was sent. */
function toBody(ports: HookPorts, request: HookRequest, call: HookCall, verdict: HookVerdict): JsonObject {
  const { client, event, moment, tool, session } = call;
  return {
    client: client satisfies HookClient,
    event,
    moment,
    tool,
    session,
    input_sha256: ports.sha256(request.bytes),
    targets: verdict.targets.map(({ path, access, code }) => ({ path: path.toWellFormed(), access, code })),
  };
}
