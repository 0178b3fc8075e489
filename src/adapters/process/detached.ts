import { spawn } from "node:child_process";
import type { Duplex } from "node:stream";
import { CODES, type Code, VerbatimError } from "../../core/errors/index.ts";

interface DetachedRequest {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Written to descriptor 3 of the process, as one line of JSON. */
  readonly request: object;
  onNote(text: string): void;
}

/** What kept a process from starting what it was made for. */
interface DetachedError {
  readonly code: Code;
  readonly message: string;
  readonly where?: string;
  readonly fix?: string;
  readonly exit?: number;
}

/** What was started: a run, or the members of a race. */
interface Started {
  readonly run_id: string;
  readonly pid: number;
  readonly race: { readonly race_id: string; readonly run_ids: readonly string[] } | null;
}

type Answer = Started | { readonly error: DetachedError };

/**
 * Starts a process that belongs to no terminal and outlives this one, and waits for its answer on descriptor 3: notes, then
 * that it has started, or why not.
 */
export async function askDetached({ argv, cwd, env, request, onNote }: DetachedRequest): Promise<Answer> {
  const [program, ...words] = argv as [string, ...string[]];
  const child = spawn(program, words, { cwd, env, detached: true, stdio: ["ignore", "ignore", "ignore", "pipe"] });
  const channel = child.stdio[3] as Duplex;
  const answer = await new Promise<Answer | null>((resolve, reject) => {
    let rest = "";
    child.once("error", reject);
    // Whether the process is gone shows when the channel closes.
    channel.on("error", () => undefined);
    channel.once("close", () => resolve(null));
    channel.on("data", (bytes: Buffer) => {
      rest += bytes.toString();
      for (let end = rest.indexOf("\n"); end !== -1; end = rest.indexOf("\n")) {
        const said = JSON.parse(rest.slice(0, end)) as Record<string, unknown>;
        rest = rest.slice(end + 1);
        if (typeof said["note"] === "string") onNote(said["note"]);
        else resolve(toAnswer(said, child.pid!));
      }
    });
    channel.write(`${JSON.stringify(request)}\n`);
  });
  channel.destroy();
  child.unref();
  if (answer !== null) return answer;
  throw new VerbatimError("INTERNAL", { message: "the process in the background ended before the agent had started" });
}

function toAnswer(said: Record<string, unknown>, pid: number): Answer {
  if (typeof said["run_id"] === "string") {
    return { run_id: said["run_id"], pid, race: (said["race"] as Started["race"] | undefined) ?? null };
  }
  const { code, message, where, fix, exit } = (said["error"] ?? {}) as Record<string, unknown>;
  return {
    error: {
      code: typeof code === "string" && Object.hasOwn(CODES, code) ? (code as Code) : "INTERNAL",
      message: String(message),
      ...(typeof where === "string" ? { where } : {}),
      ...(typeof fix === "string" ? { fix } : {}),
      ...(typeof exit === "number" ? { exit } : {}),
    },
  };
}
