import { z } from "zod";
import { VerbatimError } from "../../core/errors/index.ts";
import type { GateCommandResult, GateDone, GateWork, WrittenPath } from "../../rooms/workflow/ports.ts";

/** Kept of each stream of one command. */
const LOG_BYTES = 64 * 1024 * 1024;
/** Far more than any line of the runner: it tells output in the pieces in which a pipe gives it. */
const LINE_BYTES = 8 * 1024 * 1024;
const FORGED = "something else wrote in the name of the gate runner";

/** What the gate runner says, put together gate by gate. It may be asked before it has been said. */
export class GateReports {
  readonly #works: readonly GateWork[];
  readonly #done: GateDone[] = [];
  readonly #waiting: (() => void)[] = [];
  #taken = 0;
  #line: Buffer[] = [];
  #lineBytes = 0;
  #results: GateCommandResult[] = [];
  #logs = emptyLogs();
  #failure: { readonly thrown: unknown } | null = null;
  #finished = false;
  /** What the runner found where it wrote, until it has said that this is all. */
  #writing: boolean;
  readonly #written: WrittenPath[] = [];
  #unwritten: z.infer<typeof unwrittenMessage>["unwritten"] | null = null;
  /** Whether the first gate is still at work. */
  get isFirst(): boolean {
    return this.#done.length === 0 && !this.#finished;
  }

  /** Resolves when the first gate has ended, whatever became of it. */
  async first(): Promise<void> {
    while (this.isFirst) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Why what the runner says cannot be believed any more. */
  problem: string | null = null;

  /** `writes`: the runner was given a list of writes and tells of it before the first gate. */
  constructor(works: readonly GateWork[], writes = false) {
    this.#works = works;
    this.#writing = writes;
  }

  /** Bytes of the runner's standard output, cut anywhere. */
  hear(bytes: Uint8Array): void {
    if (this.problem !== null) return;
    let rest = Buffer.from(bytes);
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      this.#line.push(rest.subarray(0, end));
      rest = rest.subarray(end + 1);
      const message = parse(Buffer.concat(this.#line).toString("utf8"));
      this.#line = [];
      if (message === null || !this.#take(message)) {
        // A gate command can reach the runner's pipe; one that speaks in its name has failed.
        this.problem = FORGED;
        return;
      }
      this.#lineBytes = 0;
    }
    this.#lineBytes += rest.length;
    if (this.#lineBytes <= LINE_BYTES) this.#line.push(rest);
    else {
      // A line without an end would fill the memory of who listens.
      this.problem = FORGED;
      this.#line = [];
    }
  }

  /** The runner is gone: what it has not told counts as failed, with the reason in place of output. */
  finish(exitCode: number | null, reason: string): void {
    this.#finished = true;
    while (this.#done.length < this.#works.length) this.#giveUp(this.#works[this.#done.length]!, exitCode || 1, reason);
    this.#wake();
  }

  fail(thrown: unknown): void {
    this.#failure = { thrown };
    this.#finished = true;
    this.#wake();
  }

  async next(): Promise<GateDone> {
    while (this.#taken >= this.#done.length && !this.#finished) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    if (this.#failure !== null) throw this.#failure.thrown;
    return this.#done[this.#taken++] ?? { results: [], present: [] };
  }

  /** What is where the runner wrote, as it read it back; VERIFY_VIEW_MISMATCH when it could not write. */
  async written(): Promise<readonly WrittenPath[]> {
    while (this.#writing && !this.#finished) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#failure !== null) throw this.#failure.thrown;
    if (!this.#writing) return this.#written;
    const { path, why } = this.#unwritten ?? { path: ".", why: this.problem ?? "the gate runner ended early" };
    throw new VerbatimError("VERIFY_VIEW_MISMATCH", {
      message: `the verification view could not be written at ${path}: ${why}`,
      where: path,
      details: { path, why },
    });
  }

  /** False when the runner cannot have said this now. */
  #take(message: Message): boolean {
    if ("wrote" in message || "written" in message || "unwritten" in message) return this.#takeWritten(message);
    if (this.#writing) return false;
    const work = this.#works[this.#done.length];
    if (work === undefined) return false;
    if ("output" in message) this.#logs[message.output].add(Buffer.from(message.bytes, "base64"));
    else if ("result" in message) {
      if (this.#results.length >= work.commands.length) return false;
      this.#results.push({ ...message.result, ...this.#takeLogs() });
    } else {
      const failed = this.#results.some(({ exit_code }) => exit_code !== 0);
      const whole = failed || this.#results.length === work.commands.length;
      if (message.gate !== work.gate || message.present.length !== work.looks.length || !whole) return false;
      this.#done.push({ results: this.#results, present: message.present });
      this.#results = [];
      this.#wake();
    }
    return true;
  }

  #takeWritten(message: WritingMessage): boolean {
    if (!this.#writing) return false;
    if ("wrote" in message) this.#written.push(message.wrote);
    else if ("unwritten" in message) this.#unwritten = message.unwritten;
    else {
      if (message.written !== this.#written.length) return false;
      this.#writing = false;
      this.#wake();
    }
    return true;
  }

  #takeLogs(): { readonly stdout: Uint8Array; readonly stderr: Uint8Array } {
    const { stdout, stderr } = this.#logs;
    this.#logs = emptyLogs();
    return { stdout: stdout.bytes(), stderr: stderr.bytes() };
  }

  #giveUp(work: GateWork, exit_code: number, reason: string): void {
    const results = this.#results;
    this.#results = [];
    const failed = results.some((one) => one.exit_code !== 0);
    if (!failed && results.length < work.commands.length) {
      this.#logs.stderr.add(Buffer.from(`${reason}\n`));
      results.push({ exit_code, ending: "exited", duration_ms: 0, ...this.#takeLogs() });
    }
    this.#done.push({ results, present: work.looks.map(() => false) });
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

const outputMessage = z.strictObject({ output: z.enum(["stdout", "stderr"]), bytes: z.string() });
const resultMessage = z.strictObject({
  result: z.strictObject({
    exit_code: z.int().min(0).max(255),
    ending: z.enum(["exited", "timeout", "not_found"]),
    duration_ms: z.int().min(0),
  }),
});
const gateMessage = z.strictObject({ gate: z.string(), present: z.array(z.boolean()) });
const wroteMessage = z.strictObject({
  wrote: z.union([
    z.strictObject({ path: z.string(), mode: z.enum(["100644", "100755"]), sha256: z.string() }),
    z.strictObject({ path: z.string(), mode: z.literal("120000"), target: z.string() }),
    z.strictObject({ path: z.string(), mode: z.literal("other") }),
    z.strictObject({ path: z.string(), mode: z.null() }),
  ]),
});
const writtenMessage = z.strictObject({ written: z.int().min(0) });
const unwrittenMessage = z.strictObject({ unwritten: z.strictObject({ path: z.string(), why: z.string() }) });
const writingMessage = z.union([wroteMessage, writtenMessage, unwrittenMessage]);
type WritingMessage = z.infer<typeof writingMessage>;
const message = z.union([outputMessage, resultMessage, gateMessage, writingMessage]);
type Message = z.infer<typeof message>;

function parse(line: string): Message | null {
  try {
    return message.safeParse(JSON.parse(line)).data ?? null;
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return null;
    throw thrown;
  }
}

function emptyLogs(): { readonly stdout: Log; readonly stderr: Log } {
  return { stdout: new Log(), stderr: new Log() };
}

/** The first bytes of a stream. */
class Log {
  readonly #chunks: Buffer[] = [];
  #left = LOG_BYTES;

  add(chunk: Buffer): void {
    const kept = chunk.subarray(0, this.#left);
    this.#left -= kept.length;
    if (kept.length > 0) this.#chunks.push(kept);
  }

  bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}
