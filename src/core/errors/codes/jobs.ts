/** Codes of the jobs room. */
export const JOBS_CODES = {
  MESSAGE_INVALID: {
    exit: 2,
    http: 400,
    says: "The message does not match its contract.",
    fix: "Correct the fields listed in details.problems.",
  },
  MESSAGE_TOO_LARGE: {
    exit: 2,
    http: 413,
    says: "The message is larger than 16 MiB of JSON.",
    fix: "Split the work into several messages.",
  },
  MESSAGE_UNRESOLVED: {
    exit: 1,
    http: 422,
    says: "The message refers to something that does not exist or cannot be used.",
    fix: "Correct the places listed in details.problems.",
  },
  ID_COLLISION: {
    exit: 3,
    http: 500,
    says: "The id already exists with different content; nothing was written.",
    fix: "This cannot happen by chance; please report it.",
  },
  RECEIPT_UNKNOWN: {
    exit: 2,
    http: 404,
    says: "There is no receipt with this hash.",
    fix: {
      cli: "List the receipts of a job: verbatim job receipts JOB",
      mcp: "List the receipts of a job: job_status, action receipts.",
      http: "Choose one of the receipts of the job.",
    },
  },
  JOB_UNKNOWN: {
    exit: 2,
    http: 404,
    says: "There is no such job.",
    fix: {
      cli: "List the jobs: verbatim job list",
      mcp: "List the jobs: job_status, action list.",
      http: "Choose a job from the list.",
    },
  },
  STEP_UNKNOWN: {
    exit: 2,
    http: 404,
    says: "The job has no such step.",
    fix: {
      cli: "List the steps: verbatim job status JOB",
      mcp: "List the steps: job_status, action status.",
      http: "Choose one of the steps of the job.",
    },
  },
  JOB_FAILED: { exit: 1, http: 409, says: "A step of the job failed.", fix: "Correct the message and post it again." },
  JOB_BUSY: {
    exit: 4,
    http: 409,
    says: "Steps of the job are leased to another worker.",
    fix: "Wait until the lease expires, then try again.",
  },
  JOB_CANCELLED: { exit: 1, http: 409, says: "The job was cancelled.", fix: "Post the message in another run." },
  JOB_OUTPUT_MISSING: {
    exit: 1,
    http: 409,
    says: "A required output was not produced.",
    fix: "Name the output in the operation that produces it.",
  },
  OP_UNAVAILABLE: {
    exit: 1,
    http: 501,
    says: "This operation is not available in this build.",
    fix: "Use an operation that is available, or another build.",
  },
  WRITE_TARGET_NOT_FILE: {
    exit: 1,
    http: 422,
    says: "The target of a WRITE must be a FILE symbol.",
    fix: {
      cli: "Point the symbol at a file: verbatim symbol replace",
      mcp: "Name a symbol that stands for a file.",
      http: "Point the symbol at a file, or name another one.",
    },
  },
  WRITE_OUTSIDE_TARGET: {
    exit: 1,
    http: 422,
    says: "The patch changes a file other than its target.",
    fix: "Split the patch, one WRITE per file.",
  },
  WRITE_STATE_UNKNOWN: {
    exit: 1,
    http: 409,
    says: "The file matches neither its state before the patch nor the state after it; it was left alone.",
    fix: "Look at the file, then post a new message.",
  },
  EXECUTE_TARGET_NOT_JOBSPEC: {
    exit: 1,
    http: 422,
    says: "The target of an EXECUTE must be a FILE symbol for a JobSpec.",
    fix: "Point the symbol at a JobSpec file.",
  },
  BUNDLE_JOB_INCOMPLETE: {
    exit: 1,
    http: 409,
    says: "The job is not complete: every step must be committed with one successful receipt.",
    fix: {
      cli: "Run the job (verbatim job run JOB), or correct the message and post it again.",
      mcp: "Run the job (job_submit, action run), or correct the message and post it again.",
      http: "Run the job, or correct the message and post it again.",
    },
  },
  BUNDLE_HAS_OTHER_STEPS: {
    exit: 1,
    http: 409,
    says: "The job has steps that cannot go into a bundle.",
    fix: {
      cli: "Build with --reads-only: those steps are then only named.",
      mcp: "Ask the user to build the bundle of the READ steps only.",
      http: "Build the bundle of the READ steps only: the others are then only named.",
    },
  },
  BUNDLE_NO_READ_STEPS: { exit: 1, http: 409, says: "The job read nothing.", fix: "There is nothing to bundle." },
  BUNDLE_ARTIFACT_ID_COLLISION: {
    exit: 1,
    http: 500,
    says: "Two different slices have the same artifact id.",
    fix: "Change one of the slices.",
  },
  BUNDLE_CONTENT_CONFLICT: {
    exit: 1,
    http: 500,
    says: "The same slice was read twice with different content.",
    fix: "This is a bug; please report it.",
  },
  BUNDLE_TARGET_NOT_EMPTY: {
    exit: 1,
    http: 409,
    says: "The target exists and is not an empty folder; nothing was written.",
    fix: "Choose another folder.",
  },
  BUNDLE_INVALID: {
    exit: 2,
    http: 422,
    says: "The bundle cannot be loaded.",
    fix: {
      cli: "See what is wrong: verbatim bundle verify",
      mcp: "See what is wrong: bundle_verify",
      http: "Verify the bundle: that says what is wrong.",
    },
  },
  BUNDLE_UNSIGNABLE: {
    exit: 1,
    http: 409,
    says: "The bundle does not verify, so it is not signed.",
    fix: {
      cli: "See what is wrong: verbatim bundle verify",
      mcp: "See what is wrong: bundle_verify",
      http: "Verify the bundle: that says what is wrong.",
    },
  },
  REPLAY_BUNDLE_INVALID: {
    exit: 1,
    http: 422,
    says: "The bundle does not verify, so it is not replayed.",
    fix: {
      cli: "See what is wrong: verbatim bundle verify",
      mcp: "See what is wrong: bundle_verify",
      http: "Verify the bundle: that says what is wrong.",
    },
  },
} as const;
