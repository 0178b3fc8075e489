/** Codes of the agent flow and of the hooks of coding agents. */
export const AGENT_CODES = {
  HOOK_INPUT_INVALID: {
    exit: 2,
    http: 400,
    says: "The hook could not understand what the coding agent sent.",
    fix: {
      cli: "Name the client that is calling: verbatim hook pre-tool --client claude|codex|gemini|cursor",
      mcp: "Tell the user that the hook does not know this client.",
      http: "Install the hook again in a terminal, and name the coding agent that calls it.",
    },
  },
  HOOK_RUN_INVALID: {
    exit: 2,
    http: 409,
    says: "VERBATIM_RUN does not name an open run of this repository.",
    fix: {
      cli: "Unset VERBATIM_RUN, or set it to an open run: verbatim workflow list",
      mcp: "Tell the user that VERBATIM_RUN does not name an open run.",
      http: "Start the coding agent without VERBATIM_RUN, or with the id of an open run.",
    },
  },
  HOOK_SETTINGS_INVALID: {
    exit: 2,
    http: 409,
    says: "The hooks cannot be merged into the settings file of the coding agent.",
    fix: {
      cli: "Fix the file, or move it away and run the command again.",
      mcp: "Ask the user to fix the settings file.",
      http: "Fix the file, or move it away and install the hooks again in a terminal.",
    },
  },
  AGENT_CAPTURE_FAILED: {
    exit: 1,
    http: 409,
    says: "The agent's changes could not be turned into a patch that reproduces them exactly.",
    fix: "Nothing was applied. Please report the path that differs.",
  },
  PROFILE_INVALID: {
    exit: 2,
    http: 400,
    says: "The profile of an agent is not valid.",
    fix: {
      cli: "Correct it, then: verbatim agent profiles check FILE",
      mcp: "Tell the user which profile is not valid, and where.",
      http: "Correct the profile.",
    },
  },
  CONFIG_UNTRUSTED: {
    exit: 2,
    http: 403,
    says: "The repository's configuration asks for something that it may not grant itself.",
    fix: {
      cli: "Take it out and use the flag that does the same, or add the repository to agent.trust in your own configuration.",
      mcp: "Tell the user; only their own configuration can trust a repository.",
      http: "Take it out of the configuration, or trust the repository in your own configuration.",
    },
  },
  AGENT_NEEDS_WSL: {
    exit: 2,
    http: 400,
    says: "Nothing can confine an agent on Windows itself; nothing was started.",
    fix: {
      cli: "Run it inside WSL2, with the repository on a Linux file system.",
      mcp: "Ask the user to run it inside WSL2.",
      http: "Start the Studio inside WSL2, with the repository on a Linux file system.",
    },
  },
  VERIFY_NEEDS_SHELL: {
    exit: 2,
    http: 400,
    says: "A verify command runs without a shell, and this one uses shell syntax.",
    fix: {
      cli: 'Split it into several --verify, or use --verify-sh "...".',
      mcp: "Give several commands, or one that runs a script.",
      http: "Give several commands, or one that runs a script.",
    },
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
    fix: {
      cli: "There is no flag for it. Leave it out: --leave-out PATH",
      mcp: "Leave it out of the change.",
      http: "Leave that file out and verify the rest.",
    },
  },
  POLICY_PROTECTED: {
    exit: 1,
    http: 409,
    says: "The change touches a protected path.",
    fix: {
      cli: "Allow it: --permit PATH",
      mcp: "Leave it out of the change, or ask the user to permit the path.",
      http: "Leave that file out and verify the rest, or permit its path and verify again.",
    },
  },
  POLICY_SECRET: {
    exit: 1,
    http: 409,
    says: "The change touches a file that contains a secret, or adds a secret to a file.",
    fix: {
      cli: "Allow it: --permit PATH",
      mcp: "Leave it out of the change, or ask the user to permit the path.",
      http: "Leave that file out and verify the rest, or permit its path and verify again.",
    },
  },
  POLICY_LIMIT: {
    exit: 1,
    http: 409,
    says: "The change is larger than the policy allows.",
    fix: {
      cli: "Raise the limit: --max-files N, --max-added-lines N or --max-binary SIZE",
      mcp: "Make the change smaller, or ask the user to raise the limit under agent.policy.",
      http: "Leave some of it out, or raise the limit under agent.policy in verbatim.config.json.",
    },
  },
  LAND_CONFLICT: {
    exit: 1,
    http: 409,
    says: "Files were changed by you and by the agent in the same place.",
    fix: {
      cli: "Let the agent do it: verbatim agent continue RUN --from tree. Or apply the rest: --except PATH",
      mcp: "Ask the user what to do with the files in details.files.",
      http: "Let the agent go on from the newest files, apply the other files, or compare the agent's version with yours and change yours.",
    },
  },
  NO_PROGRESS: {
    exit: 1,
    http: 409,
    says: "The agent's newest attempt failed in the same way as an earlier one.",
    fix: {
      cli: 'Tell it more: verbatim agent continue RUN --message "...". Or let another agent go on: verbatim agent continue RUN -- COMMAND',
      mcp: "Tell the user that the agent repeats itself.",
      http: "Tell it more and let it go on, or let another agent go on.",
    },
  },
  COMMENT_UNKNOWN: {
    exit: 2,
    http: 404,
    says: "The run has no such comment.",
    fix: {
      cli: "Look at the run: verbatim agent show RUN --json",
      mcp: "Look at the comments of the run.",
      http: "Load the run again and choose from its comments.",
    },
  },
  FEEDBACK_CHANGED: {
    exit: 4,
    http: 409,
    says: "The agent would be told another text by now than the one that was shown; nothing was started.",
    fix: {
      cli: "Look at the run as it is now: verbatim agent show RUN",
      mcp: "Read the text again before you send it.",
      http: "Read the text as it is now, and send it again.",
    },
  },
  LAND_RACED: {
    exit: 4,
    http: 409,
    says: "Somebody changed a file while it was being applied; everything was put back.",
    fix: { cli: "Run apply again.", mcp: "Ask the user to apply the change again.", http: "Apply it again." },
  },
  LAND_UNVERIFIED: {
    exit: 1,
    http: 409,
    says: "This candidate is not verified.",
    fix: {
      cli: "Verify it: verbatim agent verify RUN, or apply it with --unverified",
      mcp: "Ask the user to verify the change.",
      http: "Verify it, then apply it.",
    },
  },
  RUN_AT_WORK: {
    exit: 4,
    http: 409,
    says: "A process is at work on the run.",
    fix: {
      cli: "Join it or end it: verbatim agent attach RUN, verbatim agent stop RUN",
      mcp: "Wait for it to end.",
      http: "Wait for it to end, or stop it.",
    },
  },
  RUN_NOT_RUNNING: {
    exit: 4,
    http: 409,
    says: "No process is at work on the run.",
    fix: {
      cli: "Look at it: verbatim agent show RUN",
      mcp: "Look at the run.",
      http: "Open the run to see how it ended.",
    },
  },
  COMMAND_UNKNOWN: {
    exit: 2,
    http: 404,
    says: "The configuration has no command with this name.",
    fix: {
      cli: "See: verbatim agent commands",
      mcp: "Tell the user that there is no such command.",
      http: "Choose one from the list, or add it to agent.commands in the configuration.",
    },
  },
  COMMAND_NOT_ALLOWED: {
    exit: 2,
    http: 409,
    says: "The command, as it is now, has not been allowed on this machine.",
    fix: {
      cli: "Look at it, then: verbatim agent commands --allow NAME",
      mcp: "Ask the user to look at it and allow it.",
      http: "Look at it in the settings and allow it, or have it allowed in a terminal on that machine.",
    },
  },
  START_OFF: {
    exit: 2,
    http: 409,
    says: "This server starts no agents.",
    fix: {
      cli: "Start the server with a token, and without --no-start.",
      mcp: "Ask the user to start it in a terminal.",
      http: "Start the agent at a terminal, or have the owner start this server in another way.",
    },
  },
  AGENT_OVER_LIMIT: {
    exit: 1,
    http: 409,
    says: "The agent used more memory, processes, disk space or money than it was allowed.",
    fix: {
      cli: "What it had done is kept. Let it go on with more: verbatim agent continue RUN --memory 8G (or --processes, --disk, --max-usd)",
      mcp: "Tell the user which limit it was; what the agent had done is kept.",
      http: "Let it go on, or verify what it had done. Its limits can be raised in a terminal.",
    },
  },
  COST_UNKNOWN: {
    exit: 2,
    http: 400,
    says: "The cost of this agent cannot be read, so a spending limit cannot be enforced.",
    fix: {
      cli: "Leave it out (--max-usd none) and use --timeout.",
      mcp: "Tell the user that the cost of this agent cannot be read.",
      http: "Start it without a spending limit, or let somebody at the machine start it in a terminal.",
    },
  },
  SELECTION_INVALID: {
    exit: 2,
    http: 400,
    says: "The selection names something that the change does not have.",
    fix: {
      cli: "Look at the numbered parts of the change: verbatim agent show RUN --hunks",
      mcp: "Choose from the files and hunks of the change.",
      http: "Load the change again and choose from its files and hunks.",
    },
  },
  GIT_IDENTITY_MISSING: {
    exit: 2,
    http: 409,
    says: "git does not know who the author of the commit is.",
    fix: {
      cli: "Tell git who you are: git config user.name NAME, git config user.email ADDRESS",
      mcp: "Ask the user to set user.name and user.email in their git settings.",
      http: "Set user.name and user.email in the git settings of this machine.",
    },
  },
  COMMIT_REFUSED: {
    exit: 1,
    http: 409,
    says: "The change cannot be committed as the repository is now; nothing was applied.",
    fix: {
      cli: "Apply it without --commit, and commit it yourself.",
      mcp: "Ask the user to apply the change and to commit it.",
      http: "Apply it without a commit, and commit it in a terminal.",
    },
  },
  COMMIT_HOOK_REFUSED: {
    exit: 1,
    http: 409,
    says: "A hook of the repository refused the commit; nothing was applied.",
    fix: {
      cli: "Read what it printed, or apply the change without --commit.",
      mcp: "Tell the user what the hook printed.",
      http: "Read what it printed, or apply the change without a commit.",
    },
  },
  ATTEST_KEY_MISSING: {
    exit: 1,
    http: 409,
    says: "There is no key to sign with.",
    fix: {
      cli: "Make one and name it: verbatim keys new NAME, then --key NAME (or agent.attest.key in your own configuration, or VERBATIM_KEY_FILE)",
      mcp: "Ask the user to attest the commit.",
      http: "Attest it in a terminal, where your keys are.",
    },
  },
  ATTEST_REFUSED: {
    exit: 1,
    http: 409,
    says: "The commit is not what this run verified, so nothing is signed for it.",
    fix: {
      cli: "Name the commit that has exactly the change: verbatim agent attest RUN --commit HEX",
      mcp: "Ask the user which commit has the change.",
      http: "Attest it in a terminal.",
    },
  },
  EXPORT_EMPTY: {
    exit: 1,
    http: 409,
    says: "There is nothing of this run that could be exported.",
    fix: {
      cli: "See what is left of it: verbatim agent show RUN",
      mcp: "Choose another run.",
      http: "Choose another run.",
    },
  },
  CHECK_HISTORY_MISSING: {
    exit: 2,
    http: 409,
    says: "The repository does not have the objects that the check needs.",
    fix: {
      cli: "Fetch the whole history: git fetch --unshallow (in a workflow: fetch-depth: 0)",
      mcp: "Ask the user to fetch the whole history.",
      http: "Fetch the whole history in a terminal.",
    },
  },
  SETUP_FAILED: {
    exit: 1,
    http: 409,
    says: "The set-up command failed before verification.",
    fix: {
      cli: 'Look at the log, then use --setup "..." or --no-setup.',
      mcp: "Ask the user to correct the set-up command.",
      http: "Look at its log, correct the set-up command and verify again.",
    },
  },
} as const;
