import type { ViewChanges } from "../../../rooms/catalytic/index.ts";
import type { AgentAttempt, AgentRecord } from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { type MadeCandidate, makeCandidate } from "./candidate.ts";
import { captureChanges, NOTHING_CAPTURED } from "./capture.ts";

/** What a view left, and whether the real tree was reached all the same. */
export interface Left {
  readonly changes: ViewChanges;
  readonly isTouched: boolean;
}

/** Whether a proof says that the real tree was reached: by what was found there, or because it is not as it was. */
export function isTouched({ violations, condition }: { violations: readonly unknown[]; condition: string }): boolean {
  return violations.length > 0 || condition.startsWith("RESTORATION_FAILED");
}

/** What the agent left, as a candidate; null: nothing that a candidate carries. */
export async function captureAttempt(
  outside: AgentPorts,
  record: AgentRecord,
  attempt: AgentAttempt,
  { changes, isTouched }: Left,
): Promise<MadeCandidate | null> {
  const { run, now } = record;
  const { landing, crypto, repoRoot } = run.ports;
  const { commit, tree } = attempt.began?.base ?? now.base;
  const base = { commit, tree, objects: run.objects() };
  // A command that reached the real tree may have written what git there would obey: nothing is asked of it.
  const captured = isTouched
    ? NOTHING_CAPTURED
    : await captureChanges(outside.changedPaths, {
        root: repoRoot,
        changes,
        frozen: attempt.began?.frozen ?? [],
        leave_out: now.request.leave_out,
        content: await outside.content("append"),
        crypto,
        readBase: async (path) => (await (await landing.trees.find(base, [path])).get(path)?.read()) ?? null,
      });
  const { ignored } = captured;
  const secrets = new Set([...(attempt.masks ?? []), ...(attempt.not_hidden ?? [])]);
  const not_carried = captured.not_carried.map((one) => ({
    ...one,
    ...(secrets.has(one.path) ? { why: "hidden" } : {}),
  }));
  record.writeAttempt({
    ...attempt,
    ignored_written: changes.ignored + ignored,
    not_carried,
  });
  if (captured.changes.length === 0) return null;
  return await makeCandidate(outside, record, {
    kind: "capture",
    attempt: attempt.n,
    base,
    changes: captured.changes,
  });
}
