import { realpathSync } from "node:fs";
import { join, sep } from "node:path";
import { errnoCode } from "../../core/errors/system.ts";
import type { GateCommandResult, GateScript, GateWork, Isolation } from "../../rooms/workflow/ports.ts";
import { runCommand } from "./command.ts";

/** Runs gate commands as plain processes in the isolated copy: separate files, but the user's rights. */
export const worktreeIsolation: Isolation = {
  kind: "worktree",
  async open(script, signal) {
    const works = script.works.values();
    return {
      async next() {
        const work = works.next().value;
        if (work === undefined) return { results: [], present: [] };
        const results = await runWork(script, work, signal);
        return { results, present: work.looks.map((path) => isInside(script.copy, path)) };
      },
      close: async () => ({}),
    };
  },
};

async function runWork({ copy, env }: GateScript, work: GateWork, signal: AbortSignal): Promise<GateCommandResult[]> {
  const results: GateCommandResult[] = [];
  for (const { argv, cwd, timeout_s } of work.commands) {
    const own = { ...env, VERBATIM_GATE: work.gate };
    const answer = await runCommand({ argv, cwd: join(copy, cwd), env: own, timeout_ms: timeout_s * 1000, signal });
    const ending = answer.ending === "timeout" || answer.ending === "not_found" ? answer.ending : "exited";
    results.push({ ...answer, ending });
    if (answer.exit_code !== 0 || signal.aborted) break;
  }
  return results;
}

/** Whether a path is there, reached without leaving the copy through links. */
function isInside(copy: string, path: string): boolean {
  try {
    const real = realpathSync.native(join(copy, path));
    return real === copy || real.startsWith(copy + sep);
  } catch (thrown) {
    if (["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG", "EACCES"].includes(errnoCode(thrown) ?? "")) return false;
    throw thrown;
  }
}
