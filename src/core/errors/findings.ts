/**
 * Findings are members of a list in a report; the error or the verb around them decides the exit.
 * The same code may mean something else in another room, so the table is keyed by room first.
 */
export const FINDINGS = {
  contract: {
    FIELD_MISSING: "A required field is absent.",
    FIELD_UNKNOWN: "A field the contract does not have.",
    FIELD_TYPE: "A field has the wrong type.",
    FIELD_VALUE: "A field has a value the contract does not allow.",
    FIELD_EMPTY: "A field that must not be empty is.",
    FIELD_PATTERN: "A text does not have the required form.",
    FIELD_TOO_LONG: "A field is longer than the contract allows.",
  },
  ledger: {
    LEDGER_STREAM_MISMATCH: "An entry belongs to another stream.",
    LEDGER_POSITION_GAP: "A position is missing or repeated.",
    LEDGER_CHAIN_BROKEN: "An entry does not name the hash of the one before it.",
    LEDGER_BODY_MISMATCH: "The body does not have its hash.",
    LEDGER_HASH_MISMATCH: "The entry does not have its hash.",
    LEDGER_TRUNCATED: "The ledger has fewer entries than a checkpoint vouches for.",
    LEDGER_CHECKPOINT_MISMATCH: "The root at the checkpoint's size differs: history was rewritten.",
    LEDGER_GLOBAL_GAP: "The global order has a gap or names no entry.",
  },
} as const;

export type FindingRoom = keyof typeof FINDINGS;
export type Finding<R extends FindingRoom> = keyof (typeof FINDINGS)[R];
