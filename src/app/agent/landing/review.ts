import { z } from "zod";
import { VerbatimError } from "../../../core/errors/index.ts";
import { AGENT_STATES, AgentRecord, CHOICE_VERSION, type Run } from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { type diffLine, fileFinding, findHidden, headingOf, listFindings, toLines } from "../report/change-pages.ts";
import { fileDiff, readDiff } from "../report/diff.ts";
import { readBase, splitText } from "../report/file-lines.ts";
import { findAgentRun, findOwnAgentRun } from "../runs/find-agent-run.ts";
import { requireSecond } from "../runs/work-tree.ts";
import { LAND_ALL, requireLandable } from "./landable.ts";

const { hunks, ...whole } = fileDiff.shape;
const { text: _, ...extent } = hunks.element.shape;

const line = z.strictObject({
  kind: z.enum(["context", "added", "deleted"]),
  text: z.string(),
  no_eol: z.boolean().describe("The file ends with this line, without a line feed."),
  old: z.int().nullable().describe("Its number in the old file; null: it is added."),
  new: z.int().nullable().describe("Its number in the new file; null: it is deleted."),
});

const unit = z.string().regex(/^(?:all|[1-9][0-9]*(?:\.[1-9][0-9]*)?)$/);

export const decidedFile = z.strictObject({
  path: z.string().min(1),
  take: z.array(unit).max(20_000),
  leave: z.array(unit).max(20_000),
});

/** A change as somebody reads it hunk by hunk, and what they decided the last time. */
export const agentReview = z.strictObject({
  run_id: z.string(),
  goal: z.string(),
  outcome: z.enum(AGENT_STATES),
  reason: z.string().nullable(),
  candidate: z.int(),
  verified_by: z.array(z.string()).describe("The commands that verify a choice; none: nothing verifies it."),
  files: z.array(
    z.strictObject({
      ...whole,
      findings: z.array(fileFinding),
      hunks: z.array(z.strictObject({ ...extent, heading: z.string().nullable(), lines: z.array(line) })),
    }),
  ),
  decided: z.array(decidedFile).describe("What was decided when this candidate was read before."),
});

type Review = z.infer<typeof agentReview>;
type FileDiff = z.infer<typeof fileDiff>;

/** Everything a reader needs at once. RUN_ENDED, LAND_UNVERIFIED: there is nothing to choose from, or nobody judged it. */
export async function readReview(
  outside: AgentPorts,
  { run: name, context }: { readonly run: string; readonly context: number },
): Promise<Review> {
  const run = await findAgentRun(outside, await outside.workflow("read"), name);
  requireSecond(run);
  const record = AgentRecord.load(run)!;
  const c = requireChoosable(record);
  const { now } = record;
  const candidate = record.candidate(c)!;
  const findings = listFindings(record, c);
  const files = await Promise.all(
    readDiff(run, null, c).map(async (file) => ({
      ...file,
      findings: [...(findings.get(file.path) ?? []), ...findHidden(file.path, file.hunks)],
      hunks: await readHunks(run, candidate.base.tree, file, context),
    })),
  );
  const kept = record.choice(c);
  return {
    run_id: run.id,
    goal: now.goal,
    outcome: now.state,
    reason: now.reason,
    candidate: c,
    verified_by: now.request.verify.map(({ cmd }) => cmd),
    files,
    decided: kept === null || kept.candidate !== candidate.sha256 ? [] : kept.files.map((file) => ({ ...file })),
  };
}

/** The candidate that a choice can be made from: one that was judged, whatever the verdict on the whole of it. */
function requireChoosable(record: AgentRecord): number {
  const { run, now } = record;
  if (now.state === "applied") {
    throw new VerbatimError("RUN_ENDED", {
      message: "the run is applied: there is nothing left to choose",
      where: run.folder.dir,
      fix: `See: verbatim agent show ${run.id}`,
    });
  }
  return requireLandable(record, { ...LAND_ALL, picks: [] }).candidate.c;
}

type Line = z.infer<typeof line>;

async function readHunks(
  run: Run,
  tree: string,
  { path, operation, hunks: found }: FileDiff,
  context: number,
): Promise<Review["files"][number]["hunks"]> {
  // git wrote three lines around each hunk; more of them are in the file as the agent found it.
  const bytes = context > GIT_CONTEXT && operation === "modify" ? await readBase(run, tree, path) : null;
  const base = bytes === null ? [] : splitText(bytes);
  return found.map(({ text, ...facts }, i) => {
    const lines = numberLines(facts, toLines(text));
    const [first, last] = [lines.findIndex(isChanged), lines.findLastIndex(isChanged)];
    const shown = lines.slice(Math.max(0, first - context), last + 1 + context);
    const floor = endOf(found[i - 1]);
    const top = Math.max(floor, facts.old_start - 1 - (context - GIT_CONTEXT));
    const ceiling = (found[i + 1]?.old_start ?? base.length + 1) - 1;
    const end = facts.old_start - 1 + facts.old_lines;
    const above = base.slice(top, Math.max(top, facts.old_start - 1));
    const below = base.slice(end, Math.min(ceiling, end + context - GIT_CONTEXT));
    const shift = facts.new_start - facts.old_start;
    const after = facts.new_start + facts.new_lines - (facts.old_start + facts.old_lines);
    return {
      ...facts,
      heading: headingOf(text),
      lines: [
        ...above.map((one, at) => toContext(one, top + at + 1, shift)),
        ...shown,
        ...below.map((one, at) => toContext(one, end + at + 1, after)),
      ],
    };
  });
}

const GIT_CONTEXT = 3;

function endOf(hunk: FileDiff["hunks"][number] | undefined): number {
  return hunk === undefined ? 0 : hunk.old_start - 1 + hunk.old_lines;
}

function isChanged({ kind }: { readonly kind: Line["kind"] }): boolean {
  return kind !== "context";
}

function toContext(one: { readonly text: string; readonly no_eol: boolean }, old: number, shift: number): Line {
  return { ...one, kind: "context", old, new: old + shift };
}

function numberLines(
  { old_start, old_lines, new_start, new_lines }: FileDiff["hunks"][number] extends infer H ? Omit<H, "text"> : never,
  lines: readonly z.infer<typeof diffLine>[],
): Line[] {
  // Without lines the header names the line before.
  let [old, next] = [old_start + (old_lines === 0 ? 1 : 0), new_start + (new_lines === 0 ? 1 : 0)];
  return lines.map((one) => ({
    ...one,
    old: one.kind === "added" ? null : old++,
    new: one.kind === "deleted" ? null : next++,
  }));
}

/** Keeps the decisions beside their candidate. It says nothing about the run, so neither its lock nor an entry is needed. */
export async function keepChoice(
  outside: AgentPorts,
  { run: name, candidate: c, files }: { readonly run: string; readonly candidate: number; files: Review["decided"] },
): Promise<{ kept: number }> {
  const run = await findOwnAgentRun(outside, await outside.workflow("mutate"), name);
  requireSecond(run);
  const record = AgentRecord.load(run)!;
  const candidate = record.candidate(c);
  if (candidate === null) {
    throw new VerbatimError("SELECTION_INVALID", { message: `there is no candidate ${c}` });
  }
  const known = new Set(candidate.files.map(({ path }) => path));
  const kept = files.filter(({ path }) => known.has(path));
  record.writeChoice(c, {
    schema_version: CHOICE_VERSION,
    candidate: candidate.sha256,
    files: kept.map(({ path, take, leave }) => ({ path, take: [...take], leave: [...leave] })),
  });
  return { kept: kept.reduce((sum, { take, leave }) => sum + take.length + leave.length, 0) };
}
