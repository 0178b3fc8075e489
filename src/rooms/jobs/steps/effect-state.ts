import type { StepFailure } from "../ports.ts";

/** What an attempt recorded before it pushed: whoever finds its commit on the branch needs nothing else. */
export interface EffectIntent {
  readonly step_id: string;
  readonly job_id: string;
  readonly ordinal: number;
  readonly attempt: number;
  readonly ref: string;
  readonly parent: string;
  readonly commit_id: string;
  readonly tree: string;
  /** Canonical text of the receipt that will be written when this commit is on the branch. */
  readonly receipt: string;
  readonly receipt_hash: string;
}

/** The place of one step on its job's branch; all attempts of the step and its seal have the same one. */
export interface EffectPlace {
  readonly ref: string;
  readonly before: string | null;
  readonly intents: readonly string[];
  readonly seal: string;
}

export type EffectState =
  | { readonly at: "free" }
  | { readonly at: "effect"; readonly commit: string }
  | { readonly at: "seal" }
  | { readonly at: "elsewhere"; readonly commit: string | null };

/** What an effect's commit says besides its files; the same for every attempt. */
export interface EffectWords {
  readonly time: string;
  readonly subject: string;
  readonly job: string;
  readonly step: string;
  readonly plan: string;
  /** Where the job goes on after a restore: its commits are others than those of the attempts before. */
  readonly incarnation?: string;
}

export interface EffectRequest {
  readonly op: "WRITE" | "EXECUTE";
  readonly base: string;
  readonly parent: string;
  readonly job_id: string;
  /** Number of the claim: no other attempt has it. */
  readonly token: number;
  readonly step_id: string;
  readonly file_path: string;
  /** The pinned patch or JobSpec. */
  readonly text: string;
  readonly words: EffectWords;
  readonly signal: AbortSignal;
}

export interface MadeEffect {
  readonly commit: string;
  readonly tree: string;
  /** Of an EXECUTE. */
  readonly proof_hash: string | null;
}

/** Files in git: results become commits, and a branch moves from one to the next at most once. */
export interface EffectsPort {
  /** Makes the result in a work tree of this attempt alone. Null when the signal ended it. */
  make(request: EffectRequest): Promise<MadeEffect | { readonly refused: StepFailure } | null>;
  seal(parent: string, words: EffectWords): Promise<string>;
  read(place: EffectPlace): Promise<EffectState>;
  /** Tries to take the place and says what the remote has afterwards, whoever put it there. */
  take(place: EffectPlace, commit: string): Promise<EffectState>;
}
