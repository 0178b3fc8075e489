import { sortedUnique } from "../../../core/canonical/index.ts";
import { GUARD_FACTS, type GuardName } from "../../../core/contracts/guards.ts";
import type { Finding } from "../../../core/errors/index.ts";
import type { AgentRun, HiddenValue } from "../../../rooms/workflow/index.ts";
import { count } from "../report/explain-words.ts";

/** What decides which secrets an agent, or the commands that verify its work, may see. */
export interface MaskRequest {
  /** Paths and patterns that are shown. */
  readonly unmask: readonly string[];
  /** Everything is shown. */
  readonly all: boolean;
  /** The profile whose login is its own; null: none is. */
  readonly profile: string | null;
  /** Places that somebody left it, which are not hidden at the same time. */
  readonly kept: readonly string[];
  /** Files and folders that somebody named for it to see; what is secret inside a folder is hidden all the same. */
  readonly seen: readonly string[];
}

/** What is hidden in one tree and on this machine. */
export interface Masks {
  /** Files of the tree, which are found empty. */
  readonly files: readonly string[];
  /** Whether a file would be hidden if it were there. */
  isHidden(path: string): boolean;
  /** Absolute folders and files elsewhere, and what inside them stays. */
  readonly hidden: readonly string[];
  readonly shown: readonly string[];
  /** All of them, as a person writes them. */
  readonly names: readonly string[];
  /** What hidden files assign, for no record to repeat. */
  readonly values: readonly HiddenValue[];
}

/** Nothing is hidden but what always is. */
export const NO_MASKS: Masks = { files: [], isHidden: () => false, hidden: [], shown: [], names: [], values: [] };

/** The record of a run in which nobody asked to see anything. */
export const NOTHING_SHOWN: NonNullable<AgentRun["request"]["masks"]> = {
  unmask: [],
  all: false,
  verify: [],
  verify_all: false,
};

/** The masks of a verification: those of the attempt, and what may be seen by verify commands alone. */
export function toVerifyMasks({ request }: AgentRun, unmask: readonly string[]): MaskRequest {
  const { masks = NOTHING_SHOWN, profile = null } = request;
  const shown = sortedUnique([...masks.unmask, ...masks.verify, ...unmask]);
  return { unmask: shown, all: masks.all || masks.verify_all, profile, kept: [], seen: [] };
}

/** Whether a guard can hide files at all: the others leave the command all that its user may read. */
export function canHide(guard: GuardName): boolean {
  return GUARD_FACTS[guard].class === "namespace";
}

const NOT_HIDDEN: Finding<"workflow"> = "SECRETS_NOT_HIDDEN";

/** Secrets that a guard leaves in sight, with what can be done about it. */
export function describeNotHidden(names: string, who: string): string {
  return `${NOT_HIDDEN}: ${who} ${names}`;
}

/** What is said before an agent starts; null where there is nothing to hide. */
export function announceMasks({ names }: Masks, guard: GuardName): string | null {
  if (names.length === 0) return null;
  if (canHide(guard)) return `${count(names.length, "secret place")} hidden from the agent: ${listNames(names)}`;
  const said = describeNotHidden(listNames(names), `the guard ${guard} cannot hide files, so the agent can read`);
  return `! ${said}. Guards that can: verbatim doctor`;
}

const MOST_NAMES = 4;

/** The first of some names. */
export function listNames(names: readonly string[]): string {
  const more = names.length - MOST_NAMES;
  return `${names.slice(0, MOST_NAMES).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
