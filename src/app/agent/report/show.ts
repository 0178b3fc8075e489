import { z } from "zod";
import { VerbatimError } from "../../../core/errors/index.ts";
import { AgentRecord, type Run } from "../../../rooms/workflow/index.ts";
import { agentComment, readComments } from "../again/comments.ts";
import type { AgentPorts } from "../ports.ts";
import { racePart, readRaces } from "../race/races.ts";
import { findAgentRun } from "../runs/find-agent-run.ts";
import { connectionLine, readConnections } from "../work/connections.ts";
import { agentSummary } from "./agent-summary.ts";
import { compareChanges, comparedFile, fileDiff, readDiff } from "./diff.ts";
import { evidenceItem, listEvidence, readTimeline, timelineEntry } from "./evidence.ts";
import { explainRun, explanation } from "./explain.ts";
import { count } from "./explain-words.ts";
import { type LogsRequest, readLogs } from "./logs.ts";
import { readSummary } from "./read-summary.ts";
import { findReported, toSummary } from "./report.ts";
import { attemptPart, candidatePart, readParts, verificationPart } from "./report-parts.ts";

export const agentReport = z.strictObject({
  summary: agentSummary,
  explain: explanation.describe("The report in sentences, as the command line prints it."),
  diff: z.array(fileDiff).nullable().describe("The change by file and hunk, when it was asked for."),
  compared: z
    .strictObject({ summary: agentSummary, files: z.array(comparedFile) })
    .nullable()
    .describe("The other run and both changes by path, when two were asked for."),
  attempts: z.array(attemptPart).describe("Every start of the agent's command."),
  connections: z
    .array(connectionLine)
    .nullable()
    .describe("Every recorded connection of the attempt, when they were asked for."),
  candidates: z.array(candidatePart).describe("Every change that could land, with the verdict of the gate."),
  verifications: z.array(verificationPart),
  race: racePart.nullable().describe("The race that it took part in."),
  comments: z.array(agentComment).describe("What people said about the change, oldest first."),
  evidence: z.array(evidenceItem).describe("What the sentences of explain rest on."),
  timeline: z.array(timelineEntry).describe("What happened to the run, oldest first, at most the newest 500 entries."),
});

interface ShowRequest {
  readonly run: string;
  readonly other: string | null;
  /** True: of every file; null: not asked for. */
  readonly diff: string | true | null;
  /** The number of an attempt; null: the newest one. */
  readonly attempt: number | null;
  readonly network: boolean;
}

/** The report of a run; its change; two runs side by side. */
export async function showAgentRun(outside: AgentPorts, request: ShowRequest): Promise<z.infer<typeof agentReport>> {
  const ports = await outside.workflow("read");
  const run = await findAgentRun(outside, ports, request.run);
  const other = request.other === null ? null : await findAgentRun(outside, ports, request.other);
  const of = request.attempt === null ? null : findAttempt(run, request.attempt);
  const summary = { ...readSummary(outside, run)!, ...(of === null ? {} : of.parts) };
  const record = AgentRecord.load(run);
  const timeline = await readTimeline(run);
  const isTyped = outside.surface === "cli";
  return {
    ...readParts(outside, record),
    race: readRaces(outside, [run.folder.dir]).get(run.id) ?? null,
    comments: record === null ? [] : await readComments(run),
    evidence: listEvidence(record, timeline),
    timeline,
    summary,
    explain: explainRun(summary, isTyped, isTyped).map((part) => ({
      ...part,
      lines: part.lines.map((line) => ({ ...line })),
    })),
    diff: request.diff === null ? null : readDiff(run, request.diff === true ? null : request.diff, of?.candidate),
    connections: request.network ? readConnections(run, request.attempt ?? record?.now.attempts ?? 0) : null,
    compared: other === null ? null : { summary: readSummary(outside, other)!, files: compareChanges(run, other) },
  };
}

/** What one attempt did and left. Where the run stands is what it is. */
function findAttempt(run: Run, n: number) {
  const record = AgentRecord.load(run);
  if (record?.attempt(n) == null) {
    const many = record === null ? "was made by an earlier version" : `has ${count(record.now.attempts, "attempt")}`;
    throw new VerbatimError("USAGE", {
      message: `there is no attempt ${n}: the run ${many}`,
      fix: { cli: `See: verbatim agent show ${run.id}`, others: "Choose one of the attempts of the run." },
    });
  }
  const of = findReported(record, n);
  const { agent, proof, changes, gate, verify, network } = toSummary(record, of);
  return { candidate: of.candidate, parts: { agent, proof, changes, gate, verify, network } };
}

/** What a run printed. Following ends with the run, or with whoever asked. */
export async function showLogs(outside: AgentPorts, name: string, request: LogsRequest) {
  const run = await findAgentRun(outside, await outside.workflow("read"), name);
  return await withCallSignal(outside, (signal) => readLogs(outside, run, request, signal));
}

/** Work that waits, until whoever asked has gone. */
export async function withCallSignal<T>(outside: AgentPorts, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const ignore = outside.interrupts.listen(() => controller.abort());
  try {
    return await work(controller.signal);
  } finally {
    ignore();
  }
}
