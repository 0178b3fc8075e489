import { encodeUtf8, type JsonObject, toJson } from "../../../core/canonical/index.ts";
import { type Code, isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import { type Breach, chargeBudgets, type Totals } from "../../../core/text/index.ts";
import { toPlanHash } from "../bundle/bundle-hash.ts";
import type { Message, MessageOp } from "../contracts/message-shape.ts";
import type { Step } from "../contracts/step-shape.ts";
import { toJobId, toMessageId, toStepId } from "../message/ids.ts";
import type { Corpus, CorpusView, ExecutePort, NewStep, PatchPort } from "../ports.ts";
import { type PlanProblem, toPlanProblem, unresolved } from "./plan-problem.ts";

export interface PlanPorts {
  readonly crypto: SyncCrypto;
  readonly corpus: Corpus;
  /** Null until the workflow room is there. */
  readonly patch: PatchPort | null;
  /** Null until the catalytic room is there. */
  readonly execute: ExecutePort | null;
}

/** Bytes that a step needs later, by their hash. */
interface PlannedPayload {
  readonly ordinal: number;
  readonly hash: string;
  load(): Promise<Uint8Array>;
}

/** What a message means now. Nothing of it is stored yet. */
export interface Planned {
  readonly run_id: string;
  readonly message_id: string;
  readonly job_id: string;
  readonly plan_hash: string;
  readonly message: Message;
  readonly steps: readonly NewStep[];
  readonly budget: { readonly cumulative: readonly Totals[]; readonly breach: Breach | null };
  /** What the steps before the breach need, each content once. */
  readonly payloads: readonly PlannedPayload[];
}

type Pin = Pick<Step, "op" | "refs" | "constraints"> & {
  readonly output: "content_hash" | "patch_sha256" | "proof_hash";
  readonly resolved: Omit<NewStep["resolved"], "ordinal">;
  readonly payload: Omit<PlannedPayload, "ordinal">;
};

// Contents beyond this are cut again when they are stored, so that a plan of many large slices fits into memory.
const MOST_KEPT = 32 * 1024 * 1024;

/**
 * Plans a valid message against the corpus as it is: every operation becomes one step that says exactly what it means.
 * All problems together are MESSAGE_UNRESOLVED. Writes nothing. Cost: one cut and one hash per operation.
 */
export async function planMessage(ports: PlanPorts, message: Message, run_id: string): Promise<Planned> {
  const { crypto } = ports;
  const problems: PlanProblem[] = [];
  const pins = await ports.corpus.look(async (view) => {
    const unknown = await findUnknown(view, message.refs, problems);
    const planner = new Planner(ports, view);
    const made: (Pin | null)[] = [];
    for (const [i, op] of message.ops.entries()) made.push(await pinOp(planner, op, i, unknown, problems));
    return made;
  });
  if (problems.length > 0) throw unresolved(problems);
  const message_id = toMessageId(crypto, run_id, toJson(message));
  const job_id = toJobId(crypto, message_id);
  const steps = pins.map((pin, i) => toStep(crypto, { run_id, job_id, ordinal: i + 1 }, message.ops[i]!, pin!));
  const charges = steps.map(({ resolved: { section_id, bytes } }) =>
    bytes === undefined ? null : { section_id, bytes },
  );
  const budget = chargeBudgets(message.refs, charges, message.budgets);
  const plan_hash = toPlanHash(
    crypto,
    run_id,
    steps.map(({ step }) => toJson(step)),
  );
  const payloads = listPayloads(pins as readonly Pin[], budget.breach);
  return { run_id, message_id, job_id, plan_hash, message, steps, budget, payloads };
}

/** Symbols that the registry does not have, each reported once at its first place in refs. */
async function findUnknown(
  view: CorpusView,
  refs: readonly string[],
  problems: PlanProblem[],
): Promise<ReadonlySet<string>> {
  const seen = new Set<string>();
  const unknown = new Set<string>();
  for (const [i, ref] of refs.entries()) {
    if (seen.has(ref)) continue;
    seen.add(ref);
    const place = (code: Code) => (code === "SYMBOL_UNKNOWN" ? `/refs/${i}` : null);
    if ((await attempt(() => view.targetType(ref), place, problems)) === null) unknown.add(ref);
  }
  return unknown;
}

async function pinOp(
  planner: Planner,
  op: MessageOp,
  index: number,
  unknown: ReadonlySet<string>,
  problems: PlanProblem[],
): Promise<Pin | null> {
  const pointer = `/ops/${index}`;
  const missing = planner.findMissingPort(op);
  if (missing !== null) problems.push({ code: "OP_UNAVAILABLE", pointer: `${pointer}/type`, ...missing });
  if (unknown.has(op.target)) return null;
  return attempt(
    () => planner.pin(op),
    (code) => placeOf(code, op, pointer),
    problems,
  );
}

const RESOLUTION: ReadonlySet<Code> = new Set<Code>([
  "SECTION_NOT_FOUND",
  "FILE_NOT_INDEXED",
  "HEADING_NOT_FOUND",
  "HEADING_AMBIGUOUS",
  "FILE_MISSING",
  "CONTENT_HASH_MISMATCH",
  "LINE_RANGE_INVALID",
  "SOURCE_NOT_UTF8",
  "SOURCE_UNREADABLE",
  "WRITE_TARGET_NOT_FILE",
  "EXECUTE_TARGET_NOT_JOBSPEC",
]);

/** Where in the message a problem belongs; null for errors that are not about the message. */
function placeOf(code: Code, op: MessageOp, pointer: string): string | null {
  if (code === "SLICE_OUT_OF_BOUNDS") {
    return op.type === "READ" && op.params.slice !== undefined ? `${pointer}/params/slice` : `${pointer}/target`;
  }
  return RESOLUTION.has(code) ? `${pointer}/target` : null;
}

/** Runs `fn`; an error that has a place in the message becomes a problem there. */
async function attempt<T>(
  fn: () => Promise<T>,
  place: (code: Code) => string | null,
  problems: PlanProblem[],
): Promise<T | null> {
  try {
    return await fn();
  } catch (thrown) {
    const pointer = isVerbatimError(thrown) ? place(thrown.code) : null;
    if (!isVerbatimError(thrown) || pointer === null) throw thrown;
    problems.push(toPlanProblem(thrown, pointer));
    return null;
  }
}

/** Pins operations to what they mean in one state of the corpus. */
class Planner {
  readonly #ports: PlanPorts;
  readonly #view: CorpusView;
  #kept = 0;

  constructor(ports: PlanPorts, view: CorpusView) {
    this.#ports = ports;
    this.#view = view;
  }

  /** Why this build cannot do the operation, or null. */
  findMissingPort(op: MessageOp): { message: string; details: JsonObject } | null {
    const room = { READ: null, WRITE: "workflow", EXECUTE: "catalytic" }[op.type];
    const port = { READ: this.#view, WRITE: this.#ports.patch, EXECUTE: this.#ports.execute }[op.type];
    if (port !== null || room === null) return null;
    return { message: `${op.type} needs the ${room} room, which this build does not have`, details: { room } };
  }

  pin(op: MessageOp): Promise<Pin> {
    switch (op.type) {
      case "READ":
        return this.#pinRead(op.target, op.params.slice);
      case "WRITE":
        return this.#pinWrite(op.target, op.params.patch);
      case "EXECUTE":
        return this.#pinExecute(op.target);
    }
  }

  async #pinRead(ref: string, asked: string | undefined): Promise<Pin> {
    const { slice, section_id, file_path, bytes, content_hash } = await this.#view.cut(ref, asked);
    const isSymbol = ref.startsWith("@");
    this.#kept += bytes.length;
    const kept = this.#kept <= MOST_KEPT ? bytes : null;
    return {
      ...(isSymbol
        ? { op: "READ_SYMBOL" as const, refs: { symbol_id: ref } }
        : { op: "READ_SECTION" as const, refs: { section_id: ref } }),
      constraints: { slice },
      output: "content_hash",
      resolved: { section_id, file_path, bytes: bytes.length, content_hash },
      payload: { hash: content_hash, load: async () => kept ?? (await this.#cutAgain(ref, slice, content_hash)) },
    };
  }

  async #pinWrite(symbol_id: string, patch: string): Promise<Pin> {
    const { section_id, file_path } = await this.#openFile(symbol_id, "WRITE_TARGET_NOT_FILE");
    const patch_sha256 = this.#ports.crypto.sha256(patch);
    return {
      op: "WRITE",
      refs: { symbol_id },
      constraints: { patch_sha256 },
      output: "patch_sha256",
      resolved: { section_id, file_path },
      payload: { hash: patch_sha256, load: async () => encodeUtf8(patch) },
    };
  }

  async #pinExecute(symbol_id: string): Promise<Pin> {
    const { section_id, file_path, read } = await this.#openFile(symbol_id, "EXECUTE_TARGET_NOT_JOBSPEC");
    const text = read();
    if (this.#ports.execute?.isJobSpec(text) === false) {
      throw new VerbatimError("EXECUTE_TARGET_NOT_JOBSPEC", {
        message: `${symbol_id} points to ${file_path}, which is not a JobSpec`,
        details: { symbol_id, file_path },
      });
    }
    const jobspec_sha256 = this.#ports.crypto.sha256(text);
    return {
      op: "EXECUTE",
      refs: { symbol_id },
      constraints: { jobspec_sha256 },
      output: "proof_hash",
      resolved: { section_id, file_path },
      payload: { hash: jobspec_sha256, load: async () => encodeUtf8(text) },
    };
  }

  async #openFile(symbol_id: string, refusal: "WRITE_TARGET_NOT_FILE" | "EXECUTE_TARGET_NOT_JOBSPEC") {
    const target_type = await this.#view.targetType(symbol_id);
    if (target_type === "FILE") return this.#view.open(symbol_id);
    throw new VerbatimError(refusal, {
      message: `${symbol_id} is a ${target_type} symbol, not a FILE symbol`,
      details: { symbol_id, target_type },
    });
  }

  async #cutAgain(ref: string, slice: string, content_hash: string): Promise<Uint8Array> {
    const cut = await this.#ports.corpus.look((view) => view.cut(ref, slice));
    if (cut.content_hash === content_hash) return cut.bytes;
    throw new VerbatimError("CONTENT_HASH_MISMATCH", {
      message: `${cut.file_path} changed while the message was being planned`,
      where: cut.file_path,
      fix: "Post the message again.",
      details: { file_path: cut.file_path, expected: content_hash, actual: cut.content_hash },
    });
  }
}

function toStep(
  crypto: SyncCrypto,
  { run_id, job_id, ordinal }: { readonly run_id: string; readonly job_id: string; readonly ordinal: number },
  op: MessageOp,
  pin: Pin,
): NewStep {
  const { op: name, refs, constraints, output, resolved } = pin;
  const expected_outputs = op.params.output === undefined ? {} : { [op.params.output]: output };
  const step_id = toStepId(crypto, run_id, job_id, ordinal);
  const step = { step_id, ordinal, op: name, refs, constraints, expected_outputs } as Step;
  return { step, resolved: { ordinal, ...resolved } };
}

function listPayloads(pins: readonly Pin[], breach: Breach | null): PlannedPayload[] {
  const runs = breach === null ? pins : pins.slice(0, breach.ordinal - 1);
  const byHash = new Map<string, PlannedPayload>();
  for (const [i, { payload }] of runs.entries()) {
    if (!byHash.has(payload.hash)) byHash.set(payload.hash, { ordinal: i + 1, ...payload });
  }
  return [...byHash.values()];
}
