import { z } from "zod";
import { encodeUtf8 } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { toHex } from "../../../core/hex.ts";
import { showPath } from "../../../core/paths/index.ts";
import {
  AgentRecord,
  addComment,
  type Comment,
  listComments,
  pickComments,
  type Run,
  withdrawComment,
} from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { findLastCandidate } from "../prepare/begin-again.ts";
import { readFileLines } from "../report/file-lines.ts";
import { findAgentRun, findOwnAgentRun } from "../runs/find-agent-run.ts";
import { requireSecond } from "../runs/work-tree.ts";
import { type From, listConflicts } from "./begin-on-tree.ts";
import { composeFeedback, type Said } from "./feedback.ts";

const line = z.int().min(1).max(10_000_000);

/** Where in a change somebody says something. */
export const commentPlace = z.strictObject({
  candidate: z.int().min(1).optional().describe("The number of a candidate (default: the current one)."),
  path: z.string().min(1).max(4096),
  side: z.enum(["base", "result"]).default("result").describe("base: the file as the agent found it."),
  from: line.optional().describe("First line, from 1; without lines it is about the whole file."),
  to: line.optional().describe("Last line (default: the first)."),
});

export const agentComment = z.strictObject({
  id: z.string(),
  at: z.strictObject({
    candidate: z.int(),
    path: z.string(),
    side: z.enum(["base", "result"]),
    from: z.int().nullable(),
    to: z.int().nullable(),
  }),
  quote: z.array(z.string()).describe("The lines as they were, at most 20 of them."),
  text: z.string(),
  actor: z.string(),
  created_at: z.string(),
  withdrawn_at: z.string().nullable().describe("Null: it stands."),
  sent: z.array(z.int()).describe("The attempts that were told it."),
});

export const agentFeedback = z.strictObject({
  text: z.string().nullable().describe("What the agent would be told, byte for byte; null: nothing."),
  sha256: z.string().nullable().describe("The hash of these bytes: agent.continue sends no other text when given it."),
  from: z
    .enum(["candidate", "base", "tree"])
    .describe("What it would find: its change, the base alone, or the newest tree."),
});

const MOST_QUOTED = 20;
const ID_BYTES = 6;

/** Says something about a place of a change. SELECTION_INVALID where there is no such place. */
export async function comment(
  outside: AgentPorts,
  name: string,
  { at, text }: { readonly at: z.output<typeof commentPlace>; readonly text: string },
): Promise<z.infer<typeof agentComment>> {
  const { run, record } = await open(outside, name, "mutate");
  const { path, side } = at;
  const c = at.candidate ?? record.now.candidate ?? null;
  const candidate = c === null ? null : record.candidate(c);
  if (c === null || candidate === null) throw nowhere(path, "the run has no such candidate");
  const [from, to] = [at.from ?? null, at.from === undefined ? null : (at.to ?? at.from)];
  if (from !== null && to! < from) throw nowhere(path, "the last line comes before the first");
  if (from === null && !candidate.files.some((file) => file.path === path)) {
    throw nowhere(path, "the change leaves it alone");
  }
  const quote = from === null ? [] : await quoteLines(outside, run, { candidate: c, path, side, from, to: to! });
  const id = `c_${toHex(outside.catalytic().random.bytes(ID_BYTES))}`;
  await addComment(run, { id, at: { candidate: c, path, side, from, to }, quote, text });
  return toPart((await pickComments(run, [id]))[0]!);
}

async function quoteLines(
  outside: AgentPorts,
  run: Run,
  place: { candidate: number; path: string; side: "base" | "result"; from: number; to: number },
): Promise<string[]> {
  const { lines, total } = await readFileLines(outside, run, place);
  if (place.to > total) throw nowhere(place.path, `it has ${total} lines`);
  return lines.slice(0, Math.min(MOST_QUOTED, place.to - place.from + 1)).map(({ text }) => text);
}

function nowhere(path: string, why: string): VerbatimError {
  return new VerbatimError("SELECTION_INVALID", { message: `${showPath(path)}: ${why}`, where: "/at" });
}

/** Takes a comment back. The record keeps both. COMMENT_UNKNOWN. */
export async function takeBack(outside: AgentPorts, name: string, id: string): Promise<z.infer<typeof agentComment>> {
  const { run } = await open(outside, name, "mutate");
  await withdrawComment(run, id);
  return toPart((await pickComments(run, [id]))[0]!);
}

/** The text that continuing with these comments and this note would send. */
export async function showFeedback(
  outside: AgentPorts,
  name: string,
  asked: { readonly comments: readonly string[]; readonly note: string; readonly from: From },
): Promise<z.infer<typeof agentFeedback>> {
  const { record } = await open(outside, name, "read");
  const said = await toSaid(outside, record, asked);
  const text = composeFeedback(outside, record, said);
  return { text, sha256: hashFeedback(record, text), from: said.begins };
}

function hashFeedback({ run }: AgentRecord, text: string | null): string | null {
  return text === null ? null : run.ports.crypto.sha256(encodeUtf8(text));
}

/** Whoever was shown a text sends that one or none: the run may have moved on since. FEEDBACK_CHANGED. */
export function requireShown(record: AgentRecord, text: string | null, shown: string | undefined): void {
  const now = hashFeedback(record, text);
  if (shown === undefined || shown === now) return;
  throw new VerbatimError("FEEDBACK_CHANGED", { where: "/feedback_sha256", details: { shown, now } });
}

/** What people say, checked. A comment that was taken back is not sent. COMMENT_UNKNOWN. */
export async function toSaid(
  outside: AgentPorts,
  record: AgentRecord,
  { comments, note, from }: { readonly comments: readonly string[]; readonly note: string; readonly from: From },
): Promise<Said> {
  const picked = await pickComments(record.run, comments);
  const gone = picked.find(({ withdrawn_at }) => withdrawn_at !== null);
  if (gone !== undefined) {
    throw new VerbatimError("COMMENT_UNKNOWN", { message: `the comment ${gone.id} was withdrawn` });
  }
  const begins = from !== "base" && findLastCandidate(record) === null ? "base" : from;
  return { note, comments: picked, begins, conflicts: begins === "tree" ? await listConflicts(outside, record) : [] };
}

/** The comments of a run for its report. */
export async function readComments(run: Run): Promise<z.infer<typeof agentComment>[]> {
  return (await listComments(run)).map(toPart);
}

function toPart({ id, at, quote, text, actor, created_at, withdrawn_at, sent }: Comment): z.infer<typeof agentComment> {
  return { id, at: { ...at }, quote: [...quote], text, actor, created_at, withdrawn_at, sent: [...sent] };
}

async function open(outside: AgentPorts, name: string, effect: "read" | "mutate") {
  const ports = await outside.workflow(effect);
  const run =
    effect === "read" ? await findAgentRun(outside, ports, name) : await findOwnAgentRun(outside, ports, name);
  requireSecond(run);
  return { run, record: AgentRecord.load(run)! };
}
