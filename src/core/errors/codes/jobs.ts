/** Codes of the jobs room. */
export const JOBS_CODES = {
  MESSAGE_INVALID: {
    exit: 2,
    http: 400,
    says: "The message does not fit its contract.",
    fix: "Correct the fields named in details.problems.",
  },
  MESSAGE_TOO_LARGE: {
    exit: 2,
    http: 413,
    says: "The message has more than 16 MiB of JSON.",
    fix: "Split the work into several messages.",
  },
} as const;
