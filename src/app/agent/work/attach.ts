import { z } from "zod";
import { AGENT_STATES, AgentRecord, AT_WORK } from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { readSummary } from "../report/read-summary.ts";
import { findAgentRun } from "../runs/find-agent-run.ts";
import { readControl } from "./agent-process.ts";
import type { ControlLine } from "./control-ports.ts";
import { notRunning } from "./not-running.ts";

export const attached = z.strictObject({
  run_id: z.string(),
  left: z.boolean().describe("The caller left, or the connection was lost; the run goes on."),
  outcome: z.enum(AGENT_STATES),
  reason: z.string().nullable(),
});

/** Joins what an agent prints, and where there is a terminal on both sides what it reads. RUN_NOT_RUNNING. */
export async function attach(outside: AgentPorts, name: string, readOnly: boolean): Promise<z.infer<typeof attached>> {
  const run = await findAgentRun(outside, await outside.workflow("read"), name);
  const summary = readSummary(outside, run);
  const place = readControl(run, outside);
  if (summary === null || !AT_WORK.includes(summary.outcome) || place === null) throw notRunning(run, summary?.outcome);
  const { terminal } = outside;
  const mayType = terminal !== null && !readOnly;
  const line = new Promise<boolean>((resolve, reject) => {
    let joined: ControlLine | null = null;
    let leave: (onOtherScreen: boolean) => void = () => undefined;
    let isOver = false;
    const end = (left: boolean) => {
      if (isOver) return;
      isOver = true;
      leave(screen.isOther);
      stopListening();
      joined?.close();
      resolve(left);
    };
    const stopListening = outside.interrupts.listen(() => end(true));
    const screen = new ScreenWatch();
    const { onOutput } = outside.catalytic();
    const listener = {
      onBytes(bytes: Uint8Array) {
        if (isOver) return;
        screen.see(bytes);
        onOutput("stdout", bytes);
      },
      onEnd: (told: object | null) => end(told === null),
    };
    const hello = { token: place.token, read_only: !mayType, ...(mayType ? { size: terminal.size() } : {}) };
    outside.control.join(place.socket, hello, listener).then((found) => {
      joined = found;
      if (found === null) {
        stopListening();
        reject(notRunning(run, summary.outcome));
      } else if (mayType && !isOver) {
        outside.notify("attached; leave with Ctrl-] d");
        const keys = new Keys();
        leave = terminal.connect(
          (bytes) => {
            const { typed, leaves } = keys.take(bytes);
            if (typed.length > 0) found.type(typed);
            if (leaves) end(true);
          },
          () => found.resize(terminal.size()),
        );
      } else if (!isOver) outside.notify("watching; leave with Ctrl-C");
    }, reject);
  });
  const left = await line;
  // What the run says of itself is read from its record, not from whoever answers at the socket.
  const record = AgentRecord.load(run);
  const now = readSummary(outside, run) ?? summary;
  return { run_id: run.id, left, outcome: now.outcome, reason: record === null ? null : now.reason };
}

/** Ctrl-], as a byte and as terminals with newer keyboards send it. */
const LEAVE_KEYS = ["\u001d", "\u001b[93;5u"];
const SAYS_LEAVE = ["d", "\u001b[100u"];

/** Finds Ctrl-] d among what is typed; Ctrl-] twice is one for the agent, and anything else is all for the agent. */
class Keys {
  #held: Buffer | null = null;

  take(bytes: Uint8Array): { readonly typed: Uint8Array; readonly leaves: boolean } {
    let rest = Buffer.from(bytes).toString("latin1");
    let typed = "";
    while (rest !== "") {
      if (this.#held !== null) {
        const said = SAYS_LEAVE.find((one) => rest.startsWith(one));
        if (said !== undefined) return { typed: Buffer.from(typed, "latin1"), leaves: true };
        const again = LEAVE_KEYS.find((one) => rest.startsWith(one));
        typed += this.#held.toString("latin1");
        this.#held = null;
        if (again !== undefined) rest = rest.slice(again.length);
        continue;
      }
      const found = LEAVE_KEYS.map((key) => ({ key, at: rest.indexOf(key) })).filter(({ at }) => at !== -1);
      const first = found.sort((a, b) => a.at - b.at)[0];
      if (first === undefined) {
        typed += rest;
        break;
      }
      typed += rest.slice(0, first.at);
      this.#held = Buffer.from(first.key, "latin1");
      rest = rest.slice(first.at + first.key.length);
    }
    return { typed: Buffer.from(typed, "latin1"), leaves: false };
  }
}

const SCREEN = /\u001b\[\?(?:1049|1047|47)([hl])/g;

/** Whether a terminal was left on its other screen. */
class ScreenWatch {
  isOther = false;

  see(bytes: Uint8Array): void {
    for (const [, way] of Buffer.from(bytes).toString("latin1").matchAll(SCREEN)) this.isOther = way === "h";
  }
}
