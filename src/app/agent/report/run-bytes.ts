import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { compareCodePoints } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { isRepoPath, showPath } from "../../../core/paths/index.ts";
import { readPieces, readWholeFile } from "../../../rooms/catalytic/index.ts";
import { AgentRecord, AT_WORK, type Run, toName } from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { type RecordedRange, readRecorded } from "../work/recorded-output.ts";
import { readSummary } from "./read-summary.ts";

/** As much as one answer holds. */
const MOST = 256 * 1024;
const LOOK_MS = 100;

export const RECORDED = ["output", "errors", "verify", "verify_errors"] as const;

export const recordedBytes = z.strictObject({
  base64: z.string(),
  first: z.int().describe("Where these bytes begin; later than was asked for where those are no longer kept."),
  next: z.int().describe("Where to go on reading."),
  size: z.int().describe("Bytes of the whole file as it is now."),
  ended: z.boolean().describe("Nothing more will come, and everything was given."),
});

interface OutputRequest {
  readonly of: (typeof RECORDED)[number];
  /** Number of the attempt or verification; absent: the newest. */
  readonly n?: number | undefined;
  readonly from: number;
  readonly wait: number;
}

/** What an attempt or a verification printed, byte by byte from the recorded file. Waits for more while one is at work. */
export async function readOutput(outside: AgentPorts, run: Run, request: OutputRequest, signal: AbortSignal) {
  const until = outside.clock.now() + request.wait * 1000;
  for (;;) {
    // The state is asked first: what is printed after it may be missed otherwise.
    const summary = readSummary(outside, run);
    const isOver = summary === null || !AT_WORK.includes(summary.outcome);
    const found = readPrinted(outside, run, request);
    const { bytes, size } = found ?? { bytes: Buffer.alloc(0), size: 0 };
    const first = found?.first ?? 0;
    const next = first + bytes.length;
    const ended = isOver && next >= size;
    if (bytes.length > 0 || isOver || signal.aborted || outside.clock.now() >= until) {
      return { base64: bytes.toString("base64"), first, next, size, ended };
    }
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Bytes of what is asked for, where they begin, and how many there are; null: nothing was printed. */
function readPrinted(outside: AgentPorts, run: Run, { of, n, from }: OutputRequest): RecordedRange | null {
  const record = AgentRecord.load(run);
  const isVerify = of === "verify" || of === "verify_errors";
  const name = of === "verify" || of === "output" ? "stdout" : "stderr";
  if (record === null) return isVerify ? readFrom(outside, run, `logs/verify.${name}.log`, from) : null;
  const number = n ?? (isVerify ? record.now.verifications : record.now.attempts);
  if (number === 0) return null;
  return isVerify
    ? readFrom(outside, run, `agent/verifications/${toName(number)}/${name}.log`, from)
    : readRecorded(outside, run, number, name, from, MOST);
}

function readFrom(outside: AgentPorts, run: Run, file: string, from: number): RecordedRange | null {
  const found = outside.readPart(run.folder.dir, file, from, MOST);
  return found === null ? null : { ...found, first: Math.min(from, found.size) };
}

/** The files of a run that may be read from outside, by name: whatever else lies in its folder is nobody's business. */
const OPEN_FILES: readonly RegExp[] = [
  /^(?:RUN\.json|TRACE\.md|events\.jsonl|repo_ref\.json)$/,
  /^(?:artifacts|reviews|logs|outbox)\/(?:iterations\/[0-9]+\/)?[\w.-]+$/,
  /^agent\/(?:run|summary)\.json$/,
  /^agent\/captured\.patch$/,
  /^agent\/attempts\/[0-9]+\/(?:attempt\.json|(?:output|errors)(?:\.[0-9]+)?\.log)$/,
  /^agent\/candidates\/[0-9]+\/(?:candidate\.json|diff\.patch|carried\.json|gate\.json)$/,
  /^agent\/verifications\/[0-9]+\/(?:report\.json|stdout\.log|stderr\.log)$/,
  /^agent\/landings\/[0-9]+\/(?:plan|result)\.json$/,
  /^agent\/feedback\/[0-9]+\.md$/,
];
/** What the view of an attempt left, without what only the guard and its recovery need. */
const PROOF_NAMES: readonly string[] = [
  ..."PROOF POLICY PRE_TREE POST_TREE PRE_MANIFEST POST_MANIFEST RESTORE_DIFF VIEW_CHANGES".split(" "),
  ..."DOMAIN_ROOTS INPUT_HASHES OUTPUT_HASHES VALIDATOR_ID STATUS".split(" "),
]
  .map((name) => `${name}.json`)
  .concat("LEDGER.jsonl");
const PROOF_FILE = /^proof\/([0-9]+)\/([A-Z_]+\.jsonl?)$/;

/** Part of a file of a run. FILE_NOT_FOUND for a file that is not there, that is a link, or that is not to be read. */
export async function readArtifact(outside: AgentPorts, run: Run, path: string, from: number) {
  const place = isRepoPath(path) ? findPlace(run, path) : null;
  const found =
    place === null
      ? null
      : (outside.readPart(place.folder, place.file, from, MOST) ?? (await readSlimmed(outside, place, from)));
  if (found === null) {
    throw new VerbatimError("FILE_NOT_FOUND", {
      message: `the run has no file ${showPath(path)} that can be read from here`,
      where: "/path",
    });
  }
  const { bytes, size } = found;
  const first = Math.min(from, size);
  const next = first + bytes.length;
  return { base64: bytes.toString("base64"), first, next, size, ended: next >= size };
}

interface Place {
  readonly folder: string;
  readonly file: string;
  /** Whether it is a file of the record of a view, which may be kept in pieces. */
  readonly isOfRecord: boolean;
}

/** The same part of a file that was taken apart; null: there is none, or a piece of it is gone. */
async function readSlimmed(outside: AgentPorts, { folder, file, isOfRecord }: Place, from: number) {
  const whole = isOfRecord ? await readWholeFile(outside.catalytic(), folder, file) : null;
  return whole === null ? null : { bytes: Buffer.from(whole.subarray(from, from + MOST)), size: whole.length };
}

function findPlace(run: Run, path: string): Place | null {
  if (OPEN_FILES.some((pattern) => pattern.test(path)))
    return { folder: run.folder.dir, file: path, isOfRecord: false };
  const [, n, file] = PROOF_FILE.exec(path) ?? [];
  if (n === undefined || file === undefined || !PROOF_NAMES.includes(file)) return null;
  const proof = AgentRecord.load(run)?.attempt(Number(n))?.proof ?? null;
  return proof === null ? null : { folder: proof.directory, file, isOfRecord: true };
}

/** Bytes of a file as a whole; null: it is not there. */
function measure(outside: AgentPorts, { folder, file, isOfRecord }: Place): number | null {
  const found = outside.readPart(folder, file, 0, 0);
  if (found !== null || !isOfRecord) return found?.size ?? null;
  const { files = [] } = readPieces(outside.catalytic(), folder) ?? {};
  return files.find(({ name }) => name === file)?.bytes ?? null;
}

export const recordedFiles = z.strictObject({
  run_id: z.string(),
  files: z.array(z.strictObject({ path: z.string(), bytes: z.int() })).describe("By path."),
});

/** Every file of a run that can be read from outside, as `readArtifact` takes them. */
export function listArtifacts(outside: AgentPorts, run: Run): z.infer<typeof recordedFiles> {
  const attempts = AgentRecord.load(run)?.now.attempts ?? 0;
  const proofs = Array.from({ length: attempts }, (_, at) => PROOF_NAMES.map((name) => `proof/${at + 1}/${name}`));
  const files = [...run.folder.list(), ...proofs.flat()].flatMap((path) => {
    const place = isRepoPath(path) ? findPlace(run, path) : null;
    const size = place === null ? null : measure(outside, place);
    return size === null ? [] : [{ path, bytes: size }];
  });
  return { run_id: run.id, files: files.sort((a, b) => compareCodePoints(a.path, b.path)) };
}
