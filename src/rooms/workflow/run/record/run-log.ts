import {
  decodeUtf8,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  toJson,
} from "../../../../core/canonical/index.ts";
import type { EntryRecord } from "../../../../core/ports.ts";
import { EVENTS_FILE, formatEvent, formatTraceLine, type RunEvent, splitLines } from "../../artifacts/events.ts";
import { type NewWorkflowRecord, WORKFLOW_RECORDS } from "../../contracts/records.ts";
import type { Run } from "../run.ts";
import { appendToRun, streamOf } from "./agent-projection.ts";
import { BufferedRunFolder } from "./buffered-run-folder.ts";

export { streamOf };

const TRACE_FILE = "TRACE.md";
const PAGE = 500;

/** Writes the events of a run: the log, its trace, and the ledger. Only the holder of the lock has one. */
export class RunLog {
  readonly #run: Run;
  #count: number;

  private constructor(run: Run, count: number) {
    this.#run = run;
    this.#count = count;
  }

  /** Opens the log and repairs what an interrupted writer left: a torn line, a missing ledger entry or trace line. */
  static async open(run: Run): Promise<RunLog> {
    const bytes = run.read(EVENTS_FILE) ?? new Uint8Array();
    const { complete, torn } = splitLines(bytes);
    const lines = complete.map((line) => decodeUtf8(line as Uint8Array) ?? "");
    const log = new RunLog(run, lines.length);
    if (torn) {
      const kept = lines.reduce((length, _, i) => length + (complete[i] as Uint8Array).length + 1, 0);
      run.folder.write(`superseded/events.tail-${lines.length + 1}`, bytes.subarray(kept));
      run.folder.write(EVENTS_FILE, bytes.subarray(0, kept));
    }
    // What is held has not happened yet: the ledger hears of it when it is released.
    if (!isHeld(run)) await log.#syncLedger(lines);
    log.#syncTrace();
    if (torn) await log.add("orchestrator", "EVENTS_TAIL_REPAIRED", EVENTS_FILE);
    return log;
  }

  /** Appends one event everywhere. Extras are plain values. */
  async add(
    role: string,
    event: string,
    path: string,
    extras: Readonly<Record<string, JsonValue>> = {},
  ): Promise<void> {
    const run = this.#run;
    const entry: RunEvent = { ts: run.now(), role, event, path, ...extras, seq: this.#count + 1 };
    run.folder.append(EVENTS_FILE, `${formatEvent(entry)}\n`);
    this.#count++;
    run.folder.append(TRACE_FILE, `${formatTraceLine(entry)}\n`);
    if (!isHeld(run)) await this.#appendToLedger([entry]);
  }

  /** Releases what the folder of the run holds, and then tells the ledger. */
  async release(): Promise<void> {
    const { folder } = this.#run;
    if (!(folder instanceof BufferedRunFolder)) return;
    await folder.release();
    const { complete } = splitLines(folder.read(EVENTS_FILE) ?? new Uint8Array());
    await this.#syncLedger(complete.map((line) => decodeUtf8(line as Uint8Array) ?? ""));
  }

  async #appendToLedger(bodies: readonly NewWorkflowRecord<"WORKFLOW_EVENT">[]): Promise<void> {
    const entries = bodies.map((body) => WORKFLOW_RECORDS.make("WORKFLOW_EVENT", streamOf(this.#run.id), body));
    await appendToRun(this.#run.ports.store, this.#run.id, entries);
  }

  async #syncLedger(lines: readonly string[]): Promise<void> {
    const recorded = await readEventBodies(this.#run);
    if (recorded.length < lines.length) {
      const missing = lines.slice(recorded.length).map((line) => parseJson(line));
      await this.#appendToLedger(missing.filter((body) => isJsonObject(body)));
    }
    for (const body of recorded.slice(lines.length)) {
      this.#run.folder.append(EVENTS_FILE, `${formatEvent(toEvent(body))}\n`);
      this.#count++;
    }
  }

  #syncTrace(): void {
    const { folder } = this.#run;
    const events = readEvents(this.#run);
    const wanted = formatTrace(this.#run.state.goal, events);
    const trace = folder.read(TRACE_FILE);
    if (trace === null || decodeUtf8(trace) !== wanted) folder.write(TRACE_FILE, wanted);
  }
}

function isHeld({ folder }: Run): boolean {
  return folder instanceof BufferedRunFolder && folder.isHeld;
}

/** The whole of TRACE.md. */
function formatTrace(goal: string, events: readonly RunEvent[]): string {
  const title = goal.replace(/\s+/g, " ").trim();
  return [`# TRACE`, "", `Goal: ${title}`, "", ...events.map(formatTraceLine), ""].join("\n");
}

/** The events of a run that are complete, in order. */
export function readEvents(run: Run): RunEvent[] {
  const bytes = run.read(EVENTS_FILE);
  if (bytes === null) return [];
  return splitLines(bytes).complete.map((line) => toEvent(parseJson(line as Uint8Array)));
}

function toEvent(value: JsonValue): RunEvent {
  return JSON.parse(JSON.stringify(value)) as RunEvent;
}

/** The events of a run as the ledger has them. */
export async function readEventBodies(run: Run): Promise<JsonObject[]> {
  return await run.ports.store.read(async ({ ledger }) => {
    const bodies: JsonObject[] = [];
    for (let from = 0; ; ) {
      const page: EntryRecord[] = await ledger.readStream(streamOf(run.id), from, PAGE);
      for (const entry of page.filter(({ kind }) => kind === "WORKFLOW_EVENT")) {
        bodies.push(toJson(WORKFLOW_RECORDS.read(entry).body));
      }
      if (page.length < PAGE) return bodies;
      from += page.length;
    }
  });
}
