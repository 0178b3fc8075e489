/** Codes of the agent flow and of the hooks of coding agents. */
export const AGENT_CODES = {
  HOOK_INPUT_INVALID: {
    exit: 2,
    http: 400,
    says: "What the coding agent sent to the hook is not understood.",
    fix: "Name the client that really calls: verbatim hook pre-tool --client claude|codex|gemini|cursor",
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
    says: "The settings file of the coding agent cannot be merged with.",
    fix: "Correct the file, or move it away and run the command again.",
  },
  AGENT_CAPTURE_FAILED: {
    exit: 1,
    http: 409,
    says: "What the agent changed could not be turned into a patch that gives the same tree.",
    fix: "Nothing was applied. Look at the run and report the path that differs.",
  },
} as const;
