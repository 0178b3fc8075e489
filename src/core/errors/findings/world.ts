/** Findings of `verbatim world verify`. */
export const WORLD_FINDINGS = {
  WORLD_ENTRY_MISMATCH: "An entry is not what its record says.",
  WORLD_ENTRY_MISSING: "A record has an entry that the table lacks.",
  WORLD_ENTRY_EXTRA: "The table has an entry that no record has.",
  WORLD_VISIBILITY_MISMATCH: "Who may see an entry is not what its record says.",
  WORLD_ROW_MISMATCH: "A person, a calendar item, a message or the state is not what the records say.",
  WORLD_SEQ_GAP: "The entries of the world have a gap.",
  WORLD_TIME_BACKWARDS: "An entry is before the one above it.",
  WORLD_OUTCOME_MISMATCH: "The stored answer of a beat is not the one its record vouches for.",
  WORLD_GUARD_MISSING: "A trigger that guards history is gone.",
  WORLD_CHECKPOINT_AHEAD: "The checkpoint is ahead of the store: an older backup was restored.",
  WORLD_CHECKPOINT_DIVERGED: "The checkpoint does not lie on the chain.",
  WORLD_INDEX_STALE: "The search index does not match the entries.",
  WORLD_FILE_MALFORMED: "A line of the file is not what an export has there.",
  WORLD_FILE_HASH_MISMATCH: "The manifest does not fit the file.",
} as const;
