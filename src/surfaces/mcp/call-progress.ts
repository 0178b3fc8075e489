import type { ServerContext } from "@modelcontextprotocol/server";
import type { Progress } from "../../core/ports.ts";

const PAUSE_MS = 100;

/** Progress of one call as notifications, where the client asked for them. Numbers only grow, whatever is counted. */
export function toNotifications({ mcpReq }: ServerContext, onError: (thrown: unknown) => void): Progress | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let label = "";
  let before = 0;
  let counted = 0;
  let sent = 0;
  let sentAt = Number.NEGATIVE_INFINITY;
  return {
    report(step) {
      if (step.label !== label) {
        label = step.label;
        before += counted;
      }
      counted = step.done;
      const progress = before + counted;
      const now = performance.now();
      if (progress <= sent || (now - sentAt < PAUSE_MS && step.done !== step.total)) return;
      sent = progress;
      sentAt = now;
      const total = step.total === undefined ? {} : { total: before + step.total };
      const params = { progressToken, progress, ...total, message: step.label };
      mcpReq.notify({ method: "notifications/progress", params }).catch(onError);
    },
  };
}
