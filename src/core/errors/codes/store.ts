/** Codes of the store, and of the workspaces and tokens of a team in it. */
export const STORE_CODES = {
  STORE_FROM_FUTURE: {
    exit: 2,
    http: 500,
    says: "The store was written by a newer version of Verbatim.",
    fix: "Use that version or a newer one.",
  },
  DATABASE_NOT_SET: {
    exit: 2,
    http: 400,
    says: "This command works on a team's database, and none is set.",
    fix: {
      cli: "Set VERBATIM_DATABASE_URL to postgres://USER@HOST/DATABASE. A store in a file is brought up to date when it is opened.",
      mcp: "Ask the user to set the address of the database.",
      http: "Set the address of the database where the server is started.",
    },
  },
  STORE_INSECURE: {
    exit: 2,
    http: 500,
    says: "The database is on another machine, and the connection would not check that machine's identity.",
    fix: {
      cli: "Add sslmode=verify-full to the address, and sslrootcert=FILE where the certificate is your own.",
      mcp: "Ask the user to reach the database with sslmode=verify-full.",
      http: "Ask whoever runs the server to reach the database with sslmode=verify-full.",
    },
  },
  ENGINE_MISSING: {
    exit: 4,
    http: 503,
    says: "The queue of team mode is not installed.",
    fix: {
      cli: "Install it next to Verbatim: npm install --save-exact pg-boss@12.35.0",
      mcp: "Ask the user to install pg-boss 12.35.0 where Verbatim is installed.",
      http: "Ask whoever runs the server to install pg-boss 12.35.0.",
    },
  },
  STORE_UNGUARDED: {
    exit: 2,
    http: 500,
    says: "Row-level security does not hold for this login, so it would see the rows of every workspace.",
    fix: {
      cli: "Run verbatim store migrate with a login that may create roles, or connect as one without the rights of a superuser.",
      mcp: "Ask the user to connect to the database with an ordinary login.",
      http: "Ask whoever runs the server to connect with an ordinary login.",
    },
  },
  TOKEN_EXISTS: {
    exit: 2,
    http: 409,
    says: "A valid token with this name already exists.",
    fix: {
      cli: "Choose another name, or revoke it first: verbatim token revoke NAME",
      mcp: "Ask the user to choose another name.",
      http: "Choose another name.",
    },
  },
  TOKEN_UNKNOWN: {
    exit: 2,
    http: 404,
    says: "There is no valid token with this name.",
    fix: {
      cli: "List them: verbatim token list",
      mcp: "Ask the user for the name of the token.",
      http: "Use the name of a token of the workspace.",
    },
  },
  ROLE_FORBIDDEN: {
    exit: 1,
    http: 403,
    says: "The role of this token may not do that.",
    fix: "Ask an owner of the workspace to do it, or for a token of another role.",
  },
  USE_CHECKOUT: {
    exit: 2,
    http: 403,
    says: "A team's server runs no commands and changes no files.",
    fix: {
      cli: "Run the command in a checkout of the repository.",
      mcp: "Ask the user to do it in a checkout of the repository.",
      http: "Do it in a checkout of the repository, or post a job.",
    },
  },
  WORKSPACE_NOT_SET: {
    exit: 2,
    http: 500,
    says: "This login works in several workspaces of the database, and none is named.",
    fix: {
      cli: "Set VERBATIM_WORKSPACE to the name of one of them.",
      mcp: "Ask the user to set the workspace.",
      http: "Ask whoever runs the server to set the workspace.",
    },
  },
  WORKSPACE_UNKNOWN: {
    exit: 2,
    http: 500,
    says: "This login has no access to such a workspace of the database.",
    fix: {
      cli: "Check VERBATIM_WORKSPACE, or have the workspace given to this login: verbatim workspace add NAME --login LOGIN.",
      mcp: "Ask the user to check the name of the workspace.",
      http: "Ask whoever runs the server to check the name of the workspace.",
    },
  },
  LOGIN_UNKNOWN: {
    exit: 2,
    http: 404,
    says: "The database has no such login.",
    fix: {
      cli: "Create it first: create role NAME login. verbatim store migrate --roles creates those for servers and workers.",
      mcp: "Ask the user to have the login created first.",
      http: "Have the login created first.",
    },
  },
  STORE_VERSION: {
    exit: 4,
    http: 503,
    says: "The store in the database does not have the version that this Verbatim works with.",
    fix: {
      cli: "See what would change with verbatim store migrate --dry-run, then run verbatim store migrate.",
      mcp: "Ask the user to bring the database up to date.",
      http: "Ask whoever runs the database to bring it up to date.",
    },
  },
  STORE_CORRUPT: {
    exit: 1,
    http: 500,
    says: "The store is damaged or is not a Verbatim store.",
    fix: {
      cli: "Restore a backup; verbatim ledger verify names the first bad entry.",
      mcp: "Ask the user to restore a backup.",
      http: "Restore a backup; verifying the ledger names the first bad entry.",
    },
  },
  STORE_UNAVAILABLE: {
    exit: 4,
    http: 503,
    says: "The store cannot be reached.",
    fix: {
      cli: "Check VERBATIM_DATABASE_URL and that the server is running, then try again.",
      mcp: "Ask the user to check that the database is running, then call the tool again.",
      http: "Check that the database of this workspace is running, then try again.",
    },
  },
  STORE_BUSY: {
    exit: 4,
    http: 503,
    says: "Another process held the store for too long.",
    fix: "Try again when it has finished.",
  },
  STORE_TEXT_INVALID: {
    exit: 2,
    http: 400,
    says: "A text contains U+0000 or half of a surrogate pair and cannot be stored.",
    fix: "Remove the character.",
  },
  STORE_REFUSED: {
    exit: 3,
    http: 500,
    says: "The database refused a change that the append-only rules forbid.",
    fix: "This is a bug; please report it.",
  },
  CONTENT_STORE_CORRUPT: {
    exit: 1,
    http: 500,
    says: "A stored payload is missing or no longer matches its hash.",
    fix: {
      cli: "Run verbatim doctor.",
      mcp: "Ask the user to run Verbatim's doctor, which names what is damaged.",
      http: "Run the doctor in a terminal in the repository: it names what is damaged.",
    },
  },
} as const;
