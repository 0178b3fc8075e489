/** Codes of the ledger, of keys, trust and attestations. */
export const LEDGER_CODES = {
  LEDGER_POSITION_CONFLICT: {
    exit: 4,
    http: 409,
    says: "Another writer appended to the stream first.",
    fix: "Read the stream again and retry.",
  },
  LEDGER_ENTRY_INVALID: {
    exit: 3,
    http: 500,
    says: "A ledger entry breaks the rules for entries.",
    fix: "This is a bug; please report it.",
  },
  LEDGER_ENTRY_MALFORMED: {
    exit: 2,
    http: 400,
    says: "The input is not a ledger entry.",
    fix: "Correct it or export it again: an entry has exactly nine fields.",
  },
  LEDGER_ENTRY_UNKNOWN: {
    exit: 2,
    http: 404,
    says: "No ledger entry has that hash.",
    fix: { cli: "List entries: verbatim ledger show", mcp: "Check the hash.", http: "Choose an entry of the ledger." },
  },
  LEDGER_RANGE_INVALID: {
    exit: 2,
    http: 400,
    says: "The tree size or index is beyond the ledger.",
    fix: "Ask for a size up to the number of entries.",
  },
  LEDGER_INVALID: {
    exit: 1,
    http: 409,
    says: "The ledger does not verify.",
    fix: "Compare it with the last signed checkpoint and restore a backup.",
  },
  PROOF_MALFORMED: {
    exit: 2,
    http: 400,
    says: "The input is not a proof of inclusion or consistency.",
    fix: {
      cli: "Make one: verbatim ledger prove, or verbatim ledger prove-consistency",
      mcp: "Ask the user for a new proof.",
      http: "Make a new proof for an entry, or between two sizes of the ledger.",
    },
  },
  PROOF_INVALID: {
    exit: 1,
    http: 409,
    says: "The proof does not lead to the root it names.",
    fix: "Ask for a new proof; if that fails too, the ledger was rewritten.",
  },

  KEY_UNKNOWN: {
    exit: 2,
    http: 404,
    says: "There is no such key.",
    fix: {
      cli: "List keys: verbatim keys list",
      mcp: "Ask the user which key to use.",
      http: "Choose one of the keys of this machine, or create one in a terminal there.",
    },
  },
  KEY_EXISTS: {
    exit: 2,
    http: 409,
    says: "A key with that name already exists and is never overwritten.",
    fix: "Choose another name.",
  },
  KEY_FILE_MODE: {
    exit: 2,
    http: 500,
    says: "The private key file can be read by other users.",
    fix: {
      cli: "Run chmod 600 on the file.",
      mcp: "Ask the user to make the file readable by its owner only.",
      http: "Make the file readable by its owner only, on the machine where the server runs.",
    },
  },
  KEY_INVALID: {
    exit: 2,
    http: 400,
    says: "The file is not an Ed25519 key.",
    fix: {
      cli: "Create a key: verbatim keys new NAME",
      mcp: "Ask the user for an Ed25519 key.",
      http: "Choose another key, or create one in a terminal in the repository.",
    },
  },
  TRUST_POLICY_INVALID: {
    exit: 2,
    http: 400,
    says: "The trust policy does not match its schema.",
    fix: {
      cli: "Create one: verbatim keys policy init",
      mcp: "Ask the user for a valid trust policy.",
      http: "Correct the policy, or create one in a terminal in the repository.",
    },
  },
  TRUST_NO_KEYS: {
    exit: 1,
    http: 409,
    says: "The policy has no enabled key for this scope, so nothing can pass.",
    fix: "Add a key with this scope to the policy.",
  },
  TRUST_THRESHOLD_UNREACHABLE: {
    exit: 1,
    http: 409,
    says: "The policy asks for more keys than it has for this scope.",
    fix: "Lower the threshold or add keys.",
  },
  TRUST_UNSIGNED: {
    exit: 1,
    http: 409,
    says: "There is no attestation.",
    fix: {
      cli: "Sign it, or verify without --trust.",
      mcp: "Verify without a trust policy, or ask the user for the attestation.",
      http: "Sign it, or verify it without a trust policy.",
    },
  },
  TRUST_THRESHOLD_NOT_MET: {
    exit: 1,
    http: 409,
    says: "Too few distinct trusted keys have a valid signature.",
    fix: "Ask the missing key holders to sign.",
  },
  ATTESTATION_INVALID: {
    exit: 1,
    http: 409,
    says: "The attestation is not a DSSE envelope.",
    fix: "Sign again.",
  },
  CHECKPOINT_NONE: {
    exit: 2,
    http: 409,
    says: "The ledger records no checkpoint to go on from.",
    fix: {
      cli: "Sign one: verbatim ledger checkpoint --key NAME",
      mcp: "Verify the whole ledger.",
      http: "Verify the whole ledger.",
    },
  },
  ATTESTATION_TYPE: {
    exit: 1,
    http: 409,
    says: "The attestation has a different type.",
    fix: "Use the attestation that belongs to this object.",
  },
  ATTESTATION_SUBJECT_MISMATCH: {
    exit: 1,
    http: 409,
    says: "The statement is about a different file.",
    fix: "Use the attestation that belongs to this bundle.",
  },
  ATTESTATION_PREDICATE_MISMATCH: {
    exit: 1,
    http: 409,
    says: "The statement does not agree with the bundle.",
    fix: "Use the attestation that belongs to this bundle.",
  },
  ATTESTATION_PAYLOAD_DIFFERS: {
    exit: 1,
    http: 409,
    says: "The existing attestation is about a different payload.",
    fix: "Remove it or choose another file.",
  },
} as const;
