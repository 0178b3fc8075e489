import { VerbatimError } from "../../../core/errors/index.ts";
import { type NewWorkflowRecord, WORKFLOW_RECORDS } from "../contracts/records.ts";
import { appendToRun, streamOf } from "../run/record/agent-projection.ts";
import type { Run } from "../run/run.ts";

type Commented = NewWorkflowRecord<"AGENT_COMMENTED">;

/** A comment on the change of a run, as the ledger has it. */
export interface Comment extends Commented {
  readonly actor: string;
  readonly created_at: string;
  readonly withdrawn_at: string | null;
  /** The attempts that were told it. */
  readonly sent: readonly number[];
}

const PAGE = 500;

/** Every comment on a run, oldest first, withdrawn ones too. Linear in the entries of its stream. */
export async function listComments(run: Run): Promise<Comment[]> {
  const found = new Map<string, Comment>();
  await run.ports.store.read(async ({ ledger }) => {
    for (let from = 0; ; from += PAGE) {
      const page = await ledger.readStream(streamOf(run.id), from, PAGE);
      for (const entry of page) {
        if (!KINDS.includes(entry.kind)) continue;
        const { kind, body } = WORKFLOW_RECORDS.read(entry);
        if (kind === "AGENT_COMMENTED") {
          found.set(body.id, { ...body, actor: entry.actor, created_at: entry.time, withdrawn_at: null, sent: [] });
        } else if (kind === "AGENT_COMMENT_WITHDRAWN") {
          const one = found.get(body.id);
          if (one !== undefined) found.set(one.id, { ...one, withdrawn_at: entry.time });
        } else if (kind === "AGENT_ATTEMPT_STARTED") {
          for (const id of body.comments ?? []) {
            const one = found.get(id);
            if (one !== undefined) found.set(one.id, { ...one, sent: [...one.sent, body.n] });
          }
        }
      }
      if (page.length < PAGE) break;
    }
  });
  return [...found.values()];
}

const KINDS: readonly string[] = ["AGENT_COMMENTED", "AGENT_COMMENT_WITHDRAWN", "AGENT_ATTEMPT_STARTED"];

/** Writes a comment down. It neither moves the run nor needs its lock. */
export async function addComment(run: Run, comment: Commented): Promise<void> {
  const { store, actor } = run.ports;
  await appendToRun(store, run.id, [WORKFLOW_RECORDS.make("AGENT_COMMENTED", actor, comment)]);
}

/** Takes a comment back; the entry stays. COMMENT_UNKNOWN. */
export async function withdrawComment(run: Run, id: string): Promise<void> {
  const { store, actor } = run.ports;
  const [one] = await pickComments(run, [id]);
  if (one!.withdrawn_at !== null) return;
  await appendToRun(store, run.id, [WORKFLOW_RECORDS.make("AGENT_COMMENT_WITHDRAWN", actor, { id })]);
}

/** The comments of some ids, in the order of the ids, each once. COMMENT_UNKNOWN. */
export async function pickComments(run: Run, ids: readonly string[]): Promise<Comment[]> {
  if (ids.length === 0) return [];
  const all = new Map((await listComments(run)).map((one) => [one.id, one]));
  return [...new Set(ids)].map((id) => {
    const one = all.get(id);
    if (one !== undefined) return one;
    throw new VerbatimError("COMMENT_UNKNOWN", { message: `the run has no comment ${JSON.stringify(id)}` });
  });
}
