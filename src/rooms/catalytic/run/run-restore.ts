import { GUARD_FACTS } from "../../../core/contracts/guards.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import { type AnchorDiff, type AnchorState, restoreAnchor } from "../outputs/staging.ts";
import type { RunningCommand } from "../ports.ts";
import { diffTrees, type Mismatch } from "../tree/diff.ts";
import type { Layers } from "../tree/layers.ts";
import { repairDomains, snapshotDomains } from "../tree/snapshots.ts";
import type { Trees } from "../tree/tree.ts";
import type { CommandResult, Violation } from "../verify/verdict.ts";
import type { RunContext } from "./run-context.ts";

/** The domains after everything was put back. */
export interface Restored {
  readonly post: Trees;
  /** Why a domain could not be looked at. */
  readonly unreachable: ReadonlyMap<string, string>;
  readonly mismatches: readonly Mismatch[];
}

interface RestoreFacts {
  readonly pre: Trees;
  readonly layers: Layers;
  /** Asked for only where anchors were written in place. */
  readonly anchors: () => readonly AnchorState[];
  readonly changes: AnchorDiff;
  readonly running: RunningCommand | null;
  readonly command: CommandResult;
  readonly violations: readonly Violation[];
}

/** Phase 4: the originals are where they were; every byte is hashed again. A difference is met by a second attempt. */
export async function restoreRun(context: RunContext, facts: RestoreFacts): Promise<Restored> {
  const { ports, places, guard, record, journal } = context;
  const { pre, layers, command, violations } = facts;
  const method = GUARD_FACTS[guard].restore_method;
  if (method === "swap-back")
    for (const anchor of facts.anchors()) await restoreAnchor(ports.disk, anchor, facts.changes);
  await facts.running?.release();
  await layers.restore();
  journal.record("RESTORED", { attempt: 1 });
  record.log("RESTORED", { attempt: 1, method });
  let seen = await look(context, pre);
  if (seen.mismatches.length > 0 || seen.unreachable.size > 0) {
    await layers.restore();
    repairDomains(ports.disk, places.root, pre, seen.post);
    journal.record("RESTORED", { attempt: 2 });
    record.log("RESTORED", { attempt: 2, method });
    seen = await look(context, pre);
  }
  record.setStatus({ status: "restored", exit_code: command.exit_code, violations });
  return seen;
}

async function look({ ports, places, declared, guard, journal, view }: RunContext, pre: Trees): Promise<Restored> {
  const taken =
    view === null
      ? await snapshotDomains(ports, places, declared, guard, null, journal).then(
          (post) => ({ post, unreachable: new Map<string, string>() }),
          (thrown: unknown) => toUnreachable(pre, thrown),
        )
      : await view.lookAgain(pre);
  const diff = diffTrees(ports.crypto, pre, taken.post);
  // The same trees are kept once, so that everything that follows from them is computed once.
  return { ...taken, post: diff.mismatches.length === 0 ? pre : taken.post, mismatches: diff.mismatches };
}

function toUnreachable(pre: Trees, thrown: unknown) {
  if (!isVerbatimError(thrown)) throw thrown;
  const folder = String(thrown.details?.["domain"] ?? [...pre.keys()][0] ?? "");
  const post = new Map([...pre].map(([domain, tree]) => [domain, domain === folder ? new Map() : tree]));
  return { post, unreachable: new Map([[folder, `${thrown.code} ${String(thrown.details?.["path"] ?? "")}`]]) };
}
