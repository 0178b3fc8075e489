import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { dropControls } from "../../../core/text/index.ts";
import { AgentRecord, AT_WORK, type Run, toName } from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { type RecordedRange, readRecorded } from "../work/recorded-output.ts";
import type { AgentSummary } from "./agent-summary.ts";
import { readSummary } from "./read-summary.ts";

/** As much as one answer holds of a stream. */
const MOST = 256 * 1024;
const LOOK_MS = 100;
const WAIT_MS = 10_000;

const stream = z.strictObject({
  text: z.string().describe("What was printed, without control characters; with raw the bytes as base64."),
  next: z.int().describe("Where to go on reading."),
});

export const agentLogs = z.strictObject({
  run_id: z.string(),
  of: z.enum(["agent", "verify"]),
  ended: z.boolean().describe("Nothing more will come, and everything was given."),
  output: stream,
  errors: stream,
});

type AgentLogs = z.infer<typeof agentLogs>;

export interface LogsRequest {
  readonly verify: boolean;
  readonly raw: boolean;
  readonly follow: boolean;
  /** Bytes of each stream that the caller has already. */
  readonly from: { readonly output: number; readonly errors: number };
}

/** What the agent printed in its newest attempt, or the commands of the newest verification. */
export async function readLogs(
  outside: AgentPorts,
  run: Run,
  request: LogsRequest,
  signal: AbortSignal,
): Promise<AgentLogs> {
  const until = outside.clock.now() + WAIT_MS;
  for (;;) {
    // The state is asked first: what is printed after it may be missed otherwise.
    const isOver = !isAtWork(readSummary(outside, run));
    const found = readNow(outside, run, request, isOver);
    const isNew = found.output.next > request.from.output || found.errors.next > request.from.errors;
    if (!request.follow || isOver || isNew || signal.aborted || outside.clock.now() >= until) return found;
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}

function isAtWork(summary: AgentSummary | null): boolean {
  return summary !== null && AT_WORK.includes(summary.outcome);
}

function readNow(outside: AgentPorts, run: Run, { verify, raw, from }: LogsRequest, isOver: boolean): AgentLogs {
  const read = (stream: "stdout" | "stderr", at: number) =>
    toPart(readStream(outside, run, verify, stream, at), at, raw, isOver);
  const [output, errors] = [read("stdout", from.output), read("stderr", from.errors)];
  const ended = isOver && output.isWhole && errors.isWhole;
  const part = ({ text, next }: typeof output) => ({ text, next });
  return { run_id: run.id, of: verify ? "verify" : "agent", ended, output: part(output), errors: part(errors) };
}

/** Bytes of a stream of the newest attempt or verification from a place on; null: there is none. */
function readStream(
  outside: AgentPorts,
  run: Run,
  verify: boolean,
  stream: "stdout" | "stderr",
  from: number,
): RecordedRange | null {
  const record = AgentRecord.load(run);
  const plain = (file: string): RecordedRange | null => {
    const found = outside.readPart(run.folder.dir, file, from, MOST);
    return found === null ? null : { ...found, first: from };
  };
  // The first generation kept its verification in the logs of the workflow run.
  if (record === null) return verify ? plain(`logs/verify.${stream}.log`) : null;
  const { attempts, verifications } = record.now;
  if (verify) return verifications === 0 ? null : plain(`agent/verifications/${toName(verifications)}/${stream}.log`);
  return attempts === 0 ? null : readRecorded(outside, run, attempts, stream, from, MOST);
}

function toPart(
  found: RecordedRange | null,
  from: number,
  raw: boolean,
  isOver: boolean,
): { readonly text: string; readonly next: number; readonly isWhole: boolean } {
  if (found === null) return { text: "", next: from, isWhole: true };
  const { bytes, first, size } = found;
  const isLast = first + bytes.length >= size;
  if (raw) return { text: bytes.toString("base64"), next: first + bytes.length, isWhole: isLast };
  // A character or a control sequence that is not complete yet is left for the next time.
  const cut = isLast && isOver ? bytes.length : findCut(bytes);
  const left = first > from ? `\n[verbatim: ${first - from} bytes are not kept]\n` : "";
  const text = left + removeControls(bytes.subarray(0, cut).toString("utf8"));
  return { text, next: first + cut, isWhole: isLast && cut === bytes.length };
}

const ESCAPE = 0x1b;
const CR = 0x0d;
const LONGEST = 4096;

/** How much of some bytes can be shown without what follows. */
function findCut(bytes: Buffer): number {
  const start = Math.max(0, bytes.length - LONGEST);
  const begun = bytes.lastIndexOf(ESCAPE);
  if (begun >= start && !SEQUENCE.test(bytes.subarray(begun).toString("latin1"))) return begun;
  if (bytes.at(-1) === CR) return bytes.length - 1;
  // At most three bytes of a character can stand at the end without its last one.
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

const SEQUENCES =
  "\\u001b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)|[PX^_][^\\u001b]*\\u001b\\\\|[ -/]*[0-OQ-WYZ`-~])";
const SEQUENCE = new RegExp(`^${SEQUENCES}`);
const ALL = new RegExp(SEQUENCES, "g");

/** A text without colours, cursor movements and other control characters; lines and tabs stay. */
export function removeControls(text: string): string {
  return dropControls(text.replace(ALL, "").replace(/\r\n?/g, "\n"));
}
