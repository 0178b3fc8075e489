/** Codes of the agent flow and of the hooks of coding agents. */
export const AGENT_CODES = {
  HOOK_INPUT_INVALID: {
    exit: 2,
    http: 400,
    says: "The hook could not understand what the coding agent sent.",
    fix: "Name the client that is calling: verbatim hook pre-tool --client claude|codex|gemini|cursor",
  },
  HOOK_RUN_INVALID: {
    exit: 2,
    http: 409,
    says: "VERBATIM_RUN does not name an open run of this repository.",
    fix: "Unset VERBATIM_RUN, or set it to an open run: verbatim workflow list",
  },
  HOOK_SETTINGS_INVALID: {
    exit: 2,
    http: 409,
    says: "The hooks cannot be merged into the settings file of the coding agent.",
    fix: "Fix the file, or move it away and run the command again.",
  },
  AGENT_CAPTURE_FAILED: {
    exit: 1,
    http: 409,
    says: "The agent's changes could not be turned into a patch that reproduces them exactly.",
    fix: "Nothing was applied. Please report the path that differs.",
  },
  VERIFY_NEEDS_SHELL: {
    exit: 2,
    http: 400,
    says: "--verify runs a program without a shell, and the command uses shell syntax.",
    fix: 'Split it into several --verify, or use --verify-sh "...".',
  },
  VERIFY_PROGRAM_MISSING: {
    exit: 2,
    http: 400,
    says: "The verify command names a program that is not there.",
    fix: "Install it, or give its path.",
  },
  VERIFY_VIEW_MISMATCH: {
    exit: 3,
    http: 500,
    says: "The verification view does not contain the candidate.",
    fix: "Report it; nothing was applied.",
  },
  POLICY_NEVER: {
    exit: 1,
    http: 409,
    says: "The change touches something that no agent may change.",
    fix: "There is no flag for it. Leave it out: --leave-out PATH",
  },
  POLICY_PROTECTED: {
    exit: 1,
    http: 409,
    says: "The change touches a protected path.",
    fix: "Allow it: --permit PATH",
  },
  POLICY_SECRET: {
    exit: 1,
    http: 409,
    says: "The change touches a file that contains a secret, or adds a secret to a file.",
    fix: "Allow it: --permit PATH",
  },
  POLICY_LIMIT: {
    exit: 1,
    http: 409,
    says: "The change is larger than the policy allows.",
    fix: "Raise the limit: --max-files N, --max-added-lines N or --max-binary SIZE",
  },
  LAND_CONFLICT: {
    exit: 1,
    http: 409,
    says: "Files were changed by you and by the agent in the same place.",
    fix: "Apply the rest with --except PATH, or look at the agent's version: verbatim agent show RUN --diff PATH",
  },
  LAND_RACED: {
    exit: 4,
    http: 409,
    says: "Somebody wrote a file while it was being applied; everything was put back.",
    fix: "Run apply again.",
  },
  LAND_UNVERIFIED: {
    exit: 1,
    http: 409,
    says: "This candidate is not verified.",
    fix: "Verify it: verbatim agent verify RUN, or apply it with --unverified",
  },
  SELECTION_INVALID: {
    exit: 2,
    http: 400,
    says: "The selection names something that the change does not have.",
    fix: "Look at the numbered parts of the change: verbatim agent show RUN --hunks",
  },
  SETUP_FAILED: {
    exit: 1,
    http: 409,
    says: "The set-up command failed before verification.",
    fix: 'Look at the log, then use --setup "..." or --no-setup.',
  },
} as const;
