import { appendFileSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { openApp } from "../../app/call.ts";
import type { ServeMcp } from "../../app/compose/compose.ts";
import { isVerbatimError, VerbatimError } from "../../core/errors/index.ts";
import { formatError } from "./error-text.ts";

/** The surroundings of a process that was started for one agent run. */
interface SupervisedEnvironment {
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  readonly serveMcp: ServeMcp;
}

const PLAIN = { bold: String, good: String, warn: String, bad: String, dim: String };
/** What a process of its own is made for. */
const OPERATIONS: readonly string[] = ["agent.run", "agent.race", "agent.continue"];
/** Whoever started this process talks to it here until the agent has started. */
const CHANNEL = 3;

/** Runs one agent with nobody at it. Whoever started this process is told that it has started; the rest goes to its log. */
export async function runSupervised({ env, platform, serveMcp }: SupervisedEnvironment): Promise<number> {
  const channel = new Socket({ fd: CHANNEL, readable: true, writable: true });
  // Whoever started the run may go away; the run goes on.
  channel.on("error", () => undefined);
  const log = new RunLog();
  let hasStarted = false;
  let race: object | null = null;
  const tell = (said: object) => void channel.write(`${JSON.stringify(said)}\n`);
  try {
    const { folder, operation, input } = await readRequest(channel);
    await using app = openApp({
      surface: "cli",
      start: folder,
      env,
      platform,
      terminal: null,
      background: {
        inRace(facts) {
          race = facts;
        },
        started(run_id, runDir) {
          log.open(runDir);
          if (hasStarted) return;
          hasStarted = true;
          tell({ run_id, race });
          channel.end();
        },
      },
      notify(text) {
        log.add(text);
        if (!hasStarted) tell({ note: text });
      },
      serveMcp,
    });
    if (!OPERATIONS.includes(operation)) throw forVerbatim();
    await app.callUnknown(operation, input);
    return 0;
  } catch (thrown) {
    const error = isVerbatimError(thrown)
      ? thrown
      : new VerbatimError("INTERNAL", {
          message: thrown instanceof Error ? thrown.message : String(thrown),
          cause: thrown,
        });
    for (const line of formatError(error, PLAIN)) log.add(line);
    const { code, message, where, fix, exit } = error;
    if (!hasStarted) tell({ error: { code, message, where, fix, exit } });
    return exit;
  } finally {
    channel.end();
  }
}

interface Request {
  readonly folder: string;
  readonly operation: string;
  readonly input: object;
}

function forVerbatim(): VerbatimError {
  return new VerbatimError("USAGE", { message: "--supervise is for Verbatim itself" });
}

async function readRequest(channel: Socket): Promise<Request> {
  let text = "";
  return await new Promise((resolve, reject) => {
    const add = (bytes: Buffer) => {
      text += bytes.toString();
      if (!text.endsWith("\n")) return;
      channel.off("data", add);
      resolve(JSON.parse(text) as Request);
    };
    channel.on("data", add);
    channel.once("end", () => reject(forVerbatim()));
  });
}

/** What would have gone to a terminal: kept until the folder of the run is known, then written beside its record. */
class RunLog {
  #place: string | null = null;
  #lines: string[] = [];

  open(runDir: string): void {
    this.#place = join(runDir, "agent", "supervisor.log");
    for (const line of this.#lines) this.add(line);
    this.#lines = [];
  }

  add(line: string): void {
    if (this.#place === null) this.#lines.push(line);
    else appendFileSync(this.#place, `${line}\n`, { mode: 0o600 });
  }
}
