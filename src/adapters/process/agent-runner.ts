import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AgentRunner, Isolation, Isolations } from "../../rooms/workflow/ports.ts";
import { runCommand } from "./command.ts";

/** Starts agents that are commands: no shell, a short environment, the prompt on standard input. */
export const agentRunner: AgentRunner = {
  async run({ argv, cwd, stdin, timeout_s, env, most_bytes }, signal) {
    const answer = await runCommand({ argv, cwd, stdin, env, most_bytes, timeout_ms: timeout_s * 1000, signal });
    return { ...answer, ending: answer.ending === "aborted" ? "exited" : answer.ending };
  },
};

/** Runs gate commands as plain processes in the isolated copy: separate files, but the user's rights. */
export const worktreeIsolation: Isolation = {
  kind: "worktree",
  async open(copy, signal) {
    return {
      async run({ argv, cwd, timeout_s, env }) {
        const answer = await runCommand({ argv, cwd: join(copy, cwd), env, timeout_ms: timeout_s * 1000, signal });
        const ending = answer.ending === "timeout" || answer.ending === "not_found" ? answer.ending : "exited";
        return { ...answer, ending };
      },
      exists: async (path) => existsSync(join(copy, path)),
      close: async () => ({}),
    };
  },
};

/** What can be chosen where no catalytic isolation was handed in. */
export function createIsolations(catalytic: (() => Promise<Isolation | null>) | null): Isolations {
  return {
    async choose(wanted) {
      if (wanted === "worktree" || catalytic === null) return worktreeIsolation;
      return (await catalytic()) ?? worktreeIsolation;
    },
  };
}
