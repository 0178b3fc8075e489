import { toPlainLine } from "./app/hooks/hook-reply.ts";
import { runHook } from "./surfaces/cli/hook-surface.ts";

export { leadsNowhere, NOWHERE } from "./surfaces/cli/hook-surface.ts";

/** The short way for hooks, built into one file of its own. Whatever breaks is a refusal with a reason. */
export async function startHook(argv: readonly string[]): Promise<void> {
  process.on("uncaughtException", failHook);
  try {
    const { env, platform } = process;
    process.exitCode = await runHook(argv, { cwd: process.cwd(), env, platform, streams: process });
  } catch (thrown) {
    failHook(thrown);
  }
}

/** Ends the process with the refusal that every client understands, whatever the reason holds. */
export function failHook(thrown: unknown): never {
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  process.stderr.write(`Verbatim: blocked, the hook failed: ${toPlainLine(why) || "no reason was given"}\n`);
  process.exit(2);
}
