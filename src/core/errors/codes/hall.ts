/** Codes of the hall: JSON, paths, configuration, contracts and the surfaces. */
export const HALL_CODES = {
  INTERNAL: {
    exit: 3,
    http: 500,
    says: "Something went wrong inside Verbatim.",
    fix: {
      cli: "Run the command again with --debug and report what it prints.",
      mcp: "Do not call it again; tell the user what you were doing, so that it can be reported.",
      http: "Try again. If it fails again, report what you were doing and what the server printed.",
    },
  },
  USAGE: {
    exit: 2,
    http: 400,
    says: "The command line or the input of an operation could not be understood.",
    fix: {
      cli: "See the help of the verb: verbatim <noun> <verb> --help",
      mcp: "Correct the input; the schema of the tool says what it takes.",
      http: "Correct the input; /api/openapi.json says what each operation takes.",
    },
  },
  VERB_UNKNOWN: {
    exit: 2,
    http: 404,
    says: "There is no such verb.",
    fix: {
      cli: "List the verbs: verbatim --help",
      mcp: "Use one of the listed tools.",
      http: "Use an operation that /api/openapi.json lists.",
    },
  },
  OPERATION_UNKNOWN: {
    exit: 2,
    http: 404,
    says: "There is no operation with that name.",
    fix: {
      cli: "The operations are listed under contracts/operations.",
      mcp: "Use one of the listed tools.",
      http: "Use an operation that /api/openapi.json lists; others work only in a terminal in the repository.",
    },
  },
  INPUT_INVALID: {
    exit: 2,
    http: 400,
    says: "The input of an operation does not match its schema.",
    fix: "Correct the fields listed in details.problems.",
  },
  LOCAL_ONLY: {
    exit: 2,
    http: 403,
    says: "This widens what a command may do, so it is taken only on the machine of the repository.",
    fix: "Leave the field out, or do this in a terminal on the machine of the repository.",
  },
  INTERRUPTED: {
    exit: 130,
    http: 499,
    says: "The work was interrupted; everything it had started was undone.",
    fix: { cli: "Run the command again.", mcp: "Call the tool again.", http: "Start it again." },
  },
  RESPONSE_TOO_LARGE: {
    exit: 2,
    http: 413,
    says: "The answer is larger than this surface may send; nothing was sent.",
    fix: "Ask for less: a smaller limit, a shorter slice, fewer refs.",
  },
  RESOURCE_UNKNOWN: {
    exit: 2,
    http: 404,
    says: "No resource has this address.",
    fix: "List the templates of resource addresses.",
  },
  FILE_NOT_FOUND: { exit: 2, http: 404, says: "The file does not exist.", fix: "Check the path." },
  FILE_UNREADABLE: {
    exit: 2,
    http: 400,
    says: "The file cannot be read.",
    fix: {
      cli: "Check that it is a regular file and that you have permission to read it.",
      mcp: "Check that it is a regular file, and ask the user whether it may be read.",
      http: "Check that it is a regular file that the server may read.",
    },
  },
  FILE_TOO_LARGE: { exit: 2, http: 413, says: "A file is larger than the limit.", fix: "Use a smaller file." },
  FILE_EXISTS: {
    exit: 2,
    http: 409,
    says: "The target already exists and is never overwritten.",
    fix: "Choose another name or remove the file first.",
  },
  FOLDER_READ_ONLY: {
    exit: 2,
    http: 500,
    says: "The folder is not writable.",
    fix: {
      cli: "Change its permissions, or work in another folder with -C DIR.",
      mcp: "Ask the user to change its permissions.",
      http: "Change its permissions on the machine where the server runs.",
    },
  },
  DISK_FULL: {
    exit: 4,
    http: 507,
    says: "The disk is full; nothing was changed.",
    fix: {
      cli: "Free some space and run the command again.",
      mcp: "Ask the user to free some space, then call the tool again.",
      http: "Free some space on the machine where the server runs, then try again.",
    },
  },
  NODE_TOO_OLD: {
    exit: 2,
    http: 500,
    says: "This version of Node.js is too old for Verbatim.",
    fix: "Install Node.js 20.19 or newer.",
  },

  JSON_BOM: { exit: 2, http: 400, says: "The JSON text starts with a byte order mark.", fix: "Save it without one." },
  JSON_NOT_UTF8: { exit: 2, http: 400, says: "The JSON text is not valid UTF-8.", fix: "Save it as UTF-8." },
  JSON_SYNTAX: { exit: 2, http: 400, says: "The text is not JSON.", fix: "Correct the JSON at the place shown." },
  JSON_DUPLICATE_KEY: {
    exit: 2,
    http: 400,
    says: "An object has the same key twice.",
    fix: "Keep one of the two members.",
  },
  JSON_LONE_SURROGATE: {
    exit: 2,
    http: 400,
    says: "An escape sequence is only half of a surrogate pair.",
    fix: "Write the character itself or both of its escape sequences.",
  },
  JSON_NUMBER_RANGE: {
    exit: 2,
    http: 400,
    says: "A number is NaN, infinite, too large for a double, or has more than 4,300 digits.",
    fix: "Write a finite number.",
  },
  JSON_TOO_DEEP: {
    exit: 2,
    http: 400,
    says: "The JSON text is nested more than 512 levels deep.",
    fix: "Use a value with less nesting.",
  },
  JSON_TOO_LARGE: { exit: 2, http: 413, says: "The JSON text is larger than the limit.", fix: "Use a smaller value." },
  JSON_UNSUPPORTED_VALUE: {
    exit: 3,
    http: 500,
    says: "A value made in code has no canonical JSON form.",
    fix: "This is a bug; please report it.",
  },

  CONFIG_INVALID: {
    exit: 2,
    http: 500,
    says: "verbatim.config.json does not match its schema.",
    fix: "Correct the lines shown; the schema is contracts/config.schema.json.",
  },
  WORKSPACE_FOREIGN: {
    exit: 2,
    http: 500,
    says: "The configuration file or state folder found here belongs to another user.",
    fix: {
      cli: "Work in another folder, or create your own .verbatim folder in this one.",
      mcp: "Ask the user to start the server in a folder of their own.",
      http: "Start the server in a folder of your own.",
    },
  },
  PATH_REFUSED: {
    exit: 2,
    http: 400,
    says: "A path is not a safe path inside the repository.",
    fix: "Use a relative path with forward slashes and no '..' inside the repository.",
  },

  CONTRACT_UNKNOWN: {
    exit: 2,
    http: 404,
    says: "There is no contract object with that name.",
    fix: {
      cli: "List them: verbatim contract list",
      mcp: "Check the name of the contract object.",
      http: "Choose one of the contract objects that contract.list names.",
    },
  },
  CONTRACT_VIOLATED: {
    exit: 1,
    http: 422,
    says: "The value does not match its contract.",
    fix: "Correct the fields listed in details.problems.",
  },
  VECTOR_FILE_INVALID: {
    exit: 2,
    http: 400,
    says: "The file is not a vector file.",
    fix: "A vector file is a JSON array of {id, area, name, input, expected, why}.",
  },
  VECTOR_AREA_UNKNOWN: {
    exit: 2,
    http: 400,
    says: "A vector names an area that does not exist.",
    fix: {
      cli: "Choose areas with --area PREFIX.",
      mcp: "Ask the user to run the vectors in a terminal.",
      http: "Run the vectors in a terminal, with areas that exist.",
    },
  },
  CONFORMANCE_FAILED: {
    exit: 1,
    http: 409,
    says: "At least one vector failed.",
    fix: {
      cli: "The lines above name them.",
      mcp: "Tell the user which vectors failed.",
      http: "Look at the vectors that failed.",
    },
  },
} as const;
