import { VerbatimError } from "../../core/errors/index.ts";
import type { Mirror } from "./mirror.ts";

/** The place of one step on its job's branch. All attempts of the step and its seal have the same one. */
export interface EffectPlace {
  readonly ref: string;
  /** Where the ref stands before this step; null when this is the first effect of the job. */
  readonly before: string | null;
  /** Commits that attempts of this step recorded before they pushed. */
  readonly intents: readonly string[];
  readonly seal: string;
}

/** What became of a step's place: free, taken by one of its own commits, closed by its seal, or moved by someone else. */
export type EffectState =
  | { readonly at: "free" }
  | { readonly at: "effect"; readonly commit: string }
  | { readonly at: "seal" }
  | { readonly at: "elsewhere"; readonly commit: string | null };

/** Asks the remote; REMOTE_UNAVAILABLE when it does not say. */
export async function readEffect(mirror: Mirror, place: EffectPlace): Promise<EffectState> {
  const commit = await mirror.readRef(place.ref);
  // First what took the place: for the first effect of a job `before` is null, and so is a ref that is gone.
  if (commit !== null && place.intents.includes(commit)) return { at: "effect", commit };
  if (commit === place.seal) return { at: "seal" };
  return commit === place.before ? { at: "free" } : { at: "elsewhere", commit };
}

const MOST_TRIES = 3;

/**
 * Tries to take a step's place with one of its intents or with its seal, and says what the remote has afterwards, whoever
 * put it there. All candidates follow the same parent and the remote moves the ref from there once, so over all attempts
 * and machines the answer is the same. REMOTE_UNAVAILABLE while the remote refuses or cannot be asked: nothing is known then.
 */
export async function takePlace(mirror: Mirror, place: EffectPlace, commit: string): Promise<EffectState> {
  if (commit !== place.seal && !place.intents.includes(commit)) {
    throw new VerbatimError("INTERNAL", { message: "a commit was to be pushed that no intent names" });
  }
  let says = "";
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const state = await readEffect(mirror, place);
    if (state.at !== "free") return state;
    const pushed = await mirror.push(place.ref, place.before, commit);
    if (pushed.moved) return commit === place.seal ? { at: "seal" } : { at: "effect", commit };
    says = pushed.says;
  }
  const state = await readEffect(mirror, place);
  if (state.at !== "free") return state;
  throw new VerbatimError("REMOTE_UNAVAILABLE", {
    message: `the remote did not take ${place.ref}: ${says}`,
    details: { verb: "push", ref: place.ref },
  });
}
