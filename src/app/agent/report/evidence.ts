import { z } from "zod";
import { isJsonObject, type JsonObject, parseJson } from "../../../core/canonical/index.ts";
import type { LedgerReader } from "../../../core/ports.ts";
import { AGENT_STATES, type AgentRecord, type Run, toName } from "../../../rooms/workflow/index.ts";
import { listOutputFiles } from "../work/recorded-output.ts";

/** One entry of the run's stream in the ledger. */
export const timelineEntry = z.strictObject({
  index: z.int().describe("Its place in the ledger."),
  position: z.int().describe("Its place in the stream of the run."),
  hash: z.string(),
  kind: z.string(),
  at: z.string(),
  actor: z.string(),
  state: z.enum(AGENT_STATES).nullable().describe("Where the run stands after it; null: it moves the run nowhere."),
  reason: z.string().nullable(),
  event: z.string().nullable().describe("What happened, where the kind alone does not say it."),
  path: z.string().nullable().describe("The file of the run it speaks of."),
  attempt: z.int().nullable(),
  candidate: z.int().nullable(),
  verification: z.int().nullable(),
  landing: z.int().nullable(),
});

export type TimelineEntry = z.infer<typeof timelineEntry>;

const MOST_ENTRIES = 500;

/** What happened to a run, from its stream in the ledger, oldest first; of a very long one the newest entries. */
export async function readTimeline(run: Run): Promise<TimelineEntry[]> {
  const stream = `workflow/${run.id}`;
  return await run.ports.store.read(async ({ ledger }) => {
    const last = (await ledger.head(stream))?.position ?? -1;
    const from = Math.max(0, last + 1 - MOST_ENTRIES);
    const entries = await ledger.readStream(stream, from, MOST_ENTRIES);
    return await Promise.all(entries.map((entry) => toTimeline(ledger, entry)));
  });
}

type Entry = Awaited<ReturnType<LedgerReader["readStream"]>>[number];

async function toTimeline(ledger: LedgerReader, entry: Entry): Promise<TimelineEntry> {
  const parsed = parseJson(entry.body);
  const body: JsonObject = isJsonObject(parsed) ? parsed : {};
  const made = isJsonObject(body["candidate"]) ? body["candidate"] : body;
  return {
    index: (await ledger.findByHash(entry.hash))?.index ?? 0,
    position: entry.position,
    hash: entry.hash,
    kind: entry.kind,
    at: entry.time,
    actor: entry.actor,
    state: AGENT_STATES.find((one) => one === body["state"]) ?? null,
    reason: textOf(body["reason"]),
    event: textOf(body["event"]),
    path: textOf(body["path"]) || null,
    attempt: numberOf(body["n"]) ?? numberOf(body["attempt"]),
    candidate: numberOf(made["c"]),
    verification: numberOf(body["v"]) ?? numberOf(body["verification"]),
    landing: numberOf(body["l"]),
  };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

/** Something a sentence of the report rests on. */
export const evidenceItem = z.strictObject({
  part: z.enum(["agent", "change", "policy", "verify", "tree", "shown", "end"]).describe("The part of explain."),
  what: z.enum([
    "attempt",
    "output",
    "errors",
    "candidate",
    "patch",
    "carried",
    "gate",
    "verification",
    "verify_output",
    "verify_errors",
    "tree_root_before",
    "tree_root_after",
    "guard",
    "launcher",
    "proof",
    "context_pack",
    "landing",
  ]),
  value: z.string().nullable().describe("What it says, where it is one word: a hash, a name."),
  file: z.string().nullable().describe("The file of the run it is in, as GET /api/runs/ID/files/FILE takes it."),
  sha256: z.string().nullable().describe("Hash of the bytes of that file as they are now."),
  entry: z.int().nullable().describe("Index of the ledger entry that recorded it."),
});

type Evidence = z.infer<typeof evidenceItem>;

/** What each sentence about a run rests on: files with their hashes, and the entries that recorded them. */
export function listEvidence(record: AgentRecord | null, timeline: readonly TimelineEntry[]): Evidence[] {
  if (record === null) return [];
  const { run, now } = record;
  const found: Evidence[] = [];
  const add = (part: Evidence["part"], what: Evidence["what"], file: string, entry: number | null) => {
    const sha256 = run.hash(file);
    if (sha256 !== null) found.push({ part, what, value: null, file, sha256, entry });
  };
  const say = (what: Evidence["what"], value: string | null, entry: number | null) => {
    if (value !== null) found.push({ part: "tree", what, value, file: null, sha256: null, entry });
  };
  const n = now.attempts;
  const attempt = n === 0 ? null : record.attempt(n);
  const ended = indexOf(timeline, ["AGENT_ATTEMPT_ENDED"], "attempt", n);
  if (n > 0) {
    add("agent", "attempt", `agent/attempts/${toName(n)}/attempt.json`, ended);
    for (const file of listOutputFiles(run, n, "stdout")) add("agent", "output", file, null);
    for (const file of listOutputFiles(run, n, "stderr")) add("agent", "errors", file, null);
  }
  const { candidate: c, verification: v, landing: l } = now;
  if (c !== null) {
    const folder = `agent/candidates/${toName(c)}`;
    const made = indexOf(timeline, ["AGENT_CAPTURED", "AGENT_SELECTED"], "candidate", c);
    add("change", "candidate", `${folder}/candidate.json`, made);
    add("change", "patch", `${folder}/diff.patch`, made);
    add("change", "carried", `${folder}/carried.json`, made);
    add("policy", "gate", `${folder}/gate.json`, indexOf(timeline, ["AGENT_GATED"], "candidate", c));
  }
  if (v !== null) {
    const folder = `agent/verifications/${toName(v)}`;
    const tried = indexOf(timeline, ["AGENT_VERIFIED", "AGENT_VERIFY_FAILED"], "verification", v);
    add("verify", "verification", `${folder}/report.json`, tried);
    add("verify", "verify_output", `${folder}/stdout.log`, null);
    add("verify", "verify_errors", `${folder}/stderr.log`, null);
  }
  if (attempt?.proof != null) {
    say("tree_root_before", attempt.proof.tree_root_before, ended);
    say("tree_root_after", attempt.proof.tree_root_after, ended);
    say("guard", attempt.guard, ended);
    say("launcher", attempt.proof.launcher, ended);
    const file = `proof/${toName(n)}/PROOF.json`;
    found.push({ part: "tree", what: "proof", value: attempt.proof_hash, file, sha256: null, entry: ended });
  }
  if (now.shown.files.length > 0) {
    add("shown", "context_pack", "artifacts/context_pack.json", indexOf(timeline, ["CONTEXT_PACK"]));
  }
  if (l !== null) {
    add("end", "landing", `agent/landings/${toName(l)}/result.json`, indexOf(timeline, ["AGENT_LANDED"], "landing", l));
  }
  return found;
}

/** The newest entry of some kinds, about one number. */
function indexOf(
  timeline: readonly TimelineEntry[],
  kinds: readonly string[],
  about?: "attempt" | "candidate" | "verification" | "landing",
  number?: number,
): number | null {
  const is = (entry: TimelineEntry) => about === undefined || entry[about] === number;
  return timeline.findLast((entry) => kinds.includes(entry.kind) && is(entry))?.index ?? null;
}
