import { z } from "zod";
import { count } from "../shapes.ts";

const patterns = z.array(z.string().min(1)).optional();

/** `agent.policy`: lists add to the defaults, and `"!pattern"` takes something out of them. */
export const agentPolicyConfig = z.strictObject({
  permit: patterns,
  protect: patterns,
  secret: patterns,
  max_files: count.optional(),
  max_added_lines: count.optional(),
  max_binary_bytes: count.optional(),
  max_carried_bytes: count.optional(),
});

export type AgentPolicyConfig = z.infer<typeof agentPolicyConfig>;
