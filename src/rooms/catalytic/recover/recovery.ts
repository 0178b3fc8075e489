import { sortedByCodePoint } from "../../../core/canonical/index.ts";
import type { RestoreMethod } from "../../../core/contracts/guards.ts";

export interface JournalRecord {
  readonly op: string;
  readonly path?: string;
}

/** What recovery sees of a run that did not end. */
export interface RecoveryFacts {
  readonly owner: "alive" | "dead" | "unknown";
  readonly force: boolean;
  readonly method: RestoreMethod;
  readonly journal: readonly JournalRecord[];
  /** Where each original is, by device and inode. */
  readonly domains: readonly { readonly path: string; readonly original: "home" | "aside" | "nowhere" }[];
  readonly proof: "absent" | "genuine" | "forged";
  readonly staged: boolean;
  /** Whether the domains equal PRE_TREE once the originals are home. */
  readonly identical: boolean;
}

export interface RecoveryPlan {
  readonly action: "skip" | "refuse" | "finish" | "recover" | "halt";
  readonly code: string | null;
  readonly steps: readonly string[];
  readonly final_status: "failed" | "halted" | "unchanged" | null;
  readonly condition: string | null;
}

/**
 * Plans how a run that died is put back, step by step, in order. Planning again after any step gives the rest.
 *
 * @example
 * const facts = { force: false, method: "swap-back", journal: [], domains: [], proof: "absent", staged: false } as const;
 * planRecovery({ ...facts, owner: "alive", identical: true }).action; // => "skip"
 */
export function planRecovery(facts: RecoveryFacts): RecoveryPlan {
  const nothing = { steps: [], final_status: null, condition: null } as const;
  if (facts.owner === "alive") return { action: "skip", code: "RUN_IN_PROGRESS", ...nothing };
  if (facts.owner === "unknown" && !facts.force) return { action: "refuse", code: "OWNER_UNKNOWN", ...nothing };
  const has = (op: string) => facts.journal.some((record) => record.op === op);
  if (facts.proof === "genuine" && facts.domains.every(({ original }) => original === "home")) {
    const steps = [...(has("PUBLISH_INTENT") ? ["DELETE_BACKUPS"] : []), "DISCARD_WORK", "RELEASE_LOCKS"];
    return { action: "finish", code: null, steps, final_status: "unchanged", condition: null };
  }
  const steps: string[] = has("EXEC_STARTED") ? ["KILL_LEFTOVERS"] : [];
  if (facts.domains.some(({ original }) => original === "nowhere")) {
    const condition = "RESTORATION_FAILED_DOMAIN_UNREACHABLE";
    return { action: "halt", code: "DOMAIN_ORIGINAL_LOST", steps, final_status: "halted", condition };
  }
  const aside = facts.domains.filter(({ original }) => original === "aside").map(({ path }) => path);
  steps.push(...sortedByCodePoint(aside).map((path) => `SWAP_BACK ${path}`));
  if (has("PUBLISH_INTENT")) steps.push(...newestFirst(facts.journal, "PUBLISH_ITEM", "ROLL_BACK_OUTPUT"));
  if (facts.staged) steps.push("QUARANTINE_STAGED");
  steps.push(...newestFirst(facts.journal, "MKDIR", "REMOVE_DIR"));
  const recovered = {
    action: "recover",
    code: null,
    final_status: "failed",
    condition: "RECOVERED_AFTER_CRASH",
  } as const;
  if (!has("SNAPSHOT_DONE"))
    return { ...recovered, steps: [...steps, "WRITE_STATUS", "DISCARD_WORK", "RELEASE_LOCKS"] };
  steps.push("COMPARE", "WRITE_PROOF");
  if (facts.identical) return { ...recovered, steps: [...steps, "DISCARD_WORK", "RELEASE_LOCKS"] };
  return { action: "halt", code: "RESTORE_FAILED", steps, final_status: "halted", condition: "RESTORATION_FAILED" };
}

function newestFirst(journal: readonly JournalRecord[], op: string, step: string): string[] {
  return journal
    .filter((record) => record.op === op)
    .map((record) => `${step} ${record.path}`)
    .reverse();
}
