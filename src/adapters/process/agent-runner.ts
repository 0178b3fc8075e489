import type { AgentRunner } from "../../rooms/workflow/ports.ts";
import { runCommand } from "./command.ts";

/** Starts agents that are commands: no shell, a short environment, the prompt on standard input. */
export const agentRunner: AgentRunner = {
  async run({ argv, cwd, stdin, timeout_s, env, most_bytes }, signal) {
    const answer = await runCommand({ argv, cwd, stdin, env, most_bytes, timeout_ms: timeout_s * 1000, signal });
    return { ...answer, ending: answer.ending === "aborted" ? "exited" : answer.ending };
  },
};
