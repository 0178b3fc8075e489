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
  VERIFY_VIEW_MISMATCH: {
    exit: 3,
    http: 500,
    says: "The verification view does not hold the candidate.",
    fix: "Report it; nothing was applied.",
  },
} as const;
