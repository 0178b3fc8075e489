import type { FixWords } from "../fix.ts";

const FIELD_FIX = "Correct the field named in where.";
const WRITER_FIX = {
  cli: "The writer has to propose something the contract allows; look at the call: verbatim world inspect",
  mcp: "The writer has to propose something the contract allows; ask the user to look at its calls.",
  http: "The writer has to propose something the contract allows; look at its calls.",
};

/** A refusal of a contract object: bad input. */
function refusal(says: string, fix: FixWords = FIELD_FIX) {
  return { exit: 2, http: 400, says, fix } as const;
}

/** Nothing was written and the same request may be sent again. */
function unavailable(says: string, http?: string) {
  const fix = "Nothing was written; resend your text with the same request id.";
  return { exit: 4, http: 503, says, fix: http === undefined ? fix : { cli: fix, mcp: fix, http } } as const;
}

/** Codes of the world room: its nine contracts, the writer, worlds and HTTP. */
export const WORLD_CODES = {
  FIELD_MISSING: refusal("A required field is absent or null."),
  FIELD_TYPE: refusal("A field has the wrong type."),
  FIELD_UNKNOWN: refusal("The contract does not have this field.", "Remove the field named in where."),
  FIELD_EMPTY: refusal("A field is empty that must not be."),
  FIELD_VALUE: refusal("A field has a value the contract does not allow."),
  FIELD_PATTERN: refusal("A text does not have the required format."),
  FIELD_TOO_LONG: refusal("A field is longer than the contract allows."),
  TEXT_NOT_WELL_FORMED: refusal("The text contains half of a surrogate pair.", "Remove the character."),
  TEXT_HAS_NUL: refusal("The text contains U+0000.", "Remove the character."),
  TEXT_INVISIBLE: refusal("The text contains only invisible characters.", "Write something a reader can see."),
  TEXT_TOO_LARGE: refusal("The text of an entry is longer than 65,536 bytes.", "Split the text."),

  INVOKER_IS_OPERATOR: refusal("The invoker is the operator.", "Use a system id such as SYSTEM_INVOKER."),
  INVOKER_IS_PERSON: refusal("The invoker is a person in this world.", "Use a system id such as SYSTEM_INVOKER."),
  OPERATOR_MISMATCH: refusal("The operator is not the operator of this world.", "Use the operator id of this world."),
  NO_OP_WITH_TEXT: refusal("NO_OP writes nothing, so the text would be lost.", "Send BEAT."),
  NO_OP_WITH_OVERRIDES: refusal("NO_OP writes nothing, so the declaration would be lost.", "Send BEAT."),

  TIME_FORMAT_INVALID: refusal("The text is not a valid time.", "Write it like 2026-01-01T07:30:00+00:00."),
  TIME_ZONE_UNKNOWN: refusal("The time zone is not known.", "Use an IANA name such as Europe/London."),
  TIME_NOT_MONOTONIC: {
    exit: 1,
    http: 422,
    says: "The declared time is before the world's clock.",
    fix: "Declare a time at or after the clock, or fork to go back.",
  },
  TIME_LOCAL_NONEXISTENT: {
    exit: 1,
    http: 422,
    says: "This local time does not exist in the zone.",
    fix: "Give the time with a UTC offset.",
  },
  TIME_LOCAL_AMBIGUOUS: {
    exit: 1,
    http: 422,
    says: "This local time occurs twice in the zone.",
    fix: "Give the time with a UTC offset.",
  },
  TIME_OUT_OF_RANGE: {
    exit: 1,
    http: 422,
    says: "The time is outside the years 0001 to 9999.",
    fix: "Use a time inside that range.",
  },
  TIME_WINDOW_INVERTED: refusal("The window ends before it begins.", "Set from to a time before to."),
  TIME_ASSIGNED_BY_SYSTEM: refusal("The time of an entry is set by the system.", "Leave created_at_world out."),

  ID_ASSIGNED_BY_LEDGER: refusal("This id is assigned by the ledger.", "Leave the id out."),
  REQUEST_ID_MISMATCH: refusal("The request id differs from the invocation's."),
  TOOL_REQUEST_ID_MISMATCH: refusal("The tool request id differs from the request's."),
  TOOL_REQUEST_ID_REUSED: refusal("The tool request id was already used in this request.", "Leave the id out."),
  BUNDLE_TOO_MANY_ENTRIES: refusal("The write bundle has too many entries.", "Propose fewer entries."),
  BUNDLE_ID_MISMATCH: refusal("An entry names a different write bundle from the one it is in."),
  ENTRY_ID_DUPLICATE: refusal("Two entries have the same id."),
  BUNDLE_WROTE_MISMATCH: refusal("wrote must be true exactly when there are entries."),
  BUNDLE_REJECTED_WITH_EFFECT: refusal("A rejected write bundle must have no entries and no id."),
  BUNDLE_REASON_UNEXPECTED: refusal("A write bundle that was not rejected must not have a reason."),
  VISIBILITY_DUPLICATE: refusal("An id is listed twice.", "List each id once."),
  VISIBILITY_EMPTY: refusal("PRIVATE needs at least one listed id.", "List who may see it."),
  VISIBILITY_NOT_EMPTY: refusal("With PUBLIC, visible_to must be empty.", "Leave visible_to empty."),
  VISIBILITY_EXCLUDES_AUTHOR: refusal("The author is not among those who may see the entry.", "List the author."),
  VISIBILITY_NOT_ALLOWED: refusal("Someone who is not present would perceive this.", WRITER_FIX),
  CHANNEL_AUTHOR_MISMATCH: refusal("The channel does not match the author's class."),
  AUTHOR_ID_MISMATCH: refusal("The author id does not match the author's class."),
  PERSON_UNKNOWN: refusal("There is no such person in this world.", {
    cli: "Add the person: verbatim world people add",
    mcp: "Use the id of a person in this world.",
    http: "Choose a person of this world, or add one.",
  }),
  AUTHOR_LABEL_NOT_ALLOWED: refusal("USER and VOICE lines must not have a label."),
  AUTHOR_LABEL_MISSING: refusal("A PEOPLE line must carry its author's name."),
  STREAM_DUPLICATE: refusal("An entry appears twice in the stream."),
  STREAM_ORDER: refusal("The stream goes back in time."),
  DEBUG_MISMATCH: refusal("wrote and bundle_id do not agree."),
  ACTOR_DENIED: refusal("The actor is fixed by the system.", "Leave the actor out."),
  KNOWLEDGE_VIEW_DENIED: refusal("Only the actor's own view can be requested.", "Leave knowledge_view out."),
  TOOL_UNKNOWN: refusal("There is no such tool.", "Use LEDGER_SEARCH, LEDGER_GET, CAPSULE_GET or SCENE_PACK_BUILD."),
  LIMIT_OUT_OF_RANGE: refusal("The limit must be a whole number from 1 to the maximum.", "Use a limit in that range."),
  EMPTY_FLAG_MISMATCH: refusal("empty must be true exactly when there are no results."),
  RESULT_NOT_VISIBLE: refusal("A result is not an entry this view may see."),
  EXCERPT_NOT_VERBATIM: refusal("An excerpt is not an exact part of its entry."),
  PROVENANCE_EMPTY: refusal("The text has no sources."),
  PROVENANCE_DUPLICATE: refusal("A source is listed twice."),
  PROVENANCE_NOT_VISIBLE: refusal("A source is not an entry this view may see."),
  CAPSULE_SOURCE_MISSING: refusal("A capsule must have exactly one SOURCE_EXCERPTS section."),
  CAPSULE_SECTION_DUPLICATE: refusal("A capsule may have each section only once."),
  CAPSULE_NOT_VERBATIM: refusal("The source excerpts differ from the entries they quote."),
  CAPSULE_WRONG_AUTHOR: refusal("A source of a capsule was not written by its person."),
  CAPSULE_DERIVED_UNMARKED: refusal("A derived note must start with: Non-authoritative note:"),
  PACK_META_WORD: refusal("Generated text talks about the machinery."),
  PACK_DIRECTIVE: refusal("Generated text tells the writer what to do."),
  PACK_STATE_VARIABLE: refusal("Generated text contains a state variable."),

  WRITER_OUTPUT_TOO_LARGE: refusal("The writer's answer is longer than 262,144 bytes.", WRITER_FIX),
  WRITER_OUTPUT_NOT_OBJECT: refusal("The writer's answer is not a JSON object of objects.", WRITER_FIX),
  WRITER_OUTPUT_KEYS: refusal("The writer's answer does not have exactly one of the three keys.", WRITER_FIX),
  WRITER_AS_OPERATOR: refusal("The writer speaks for the operator.", WRITER_FIX),
  WRITER_LINT_META: refusal("A line talks about the machinery.", WRITER_FIX),
  WRITER_LINT_TIME_JUMP: refusal("A line skips time.", WRITER_FIX),
  PERSON_NOT_PRESENT: {
    exit: 1,
    http: 422,
    says: "A person who is not present acts.",
    fix: "Let the person come in first, or let somebody act who is here.",
  },
  VERSION_NOT_FOUND: {
    exit: 2,
    http: 404,
    says: "There is no such version.",
    fix: { cli: "List them: verbatim world versions", mcp: "List the versions.", http: "List the versions." },
  },
  CORRECTION_NOT_YOURS: {
    exit: 1,
    http: 403,
    says: "Only the author of a line corrects it.",
    fix: "Correct a line of your own.",
  },
  ENTRY_TOO_LARGE: refusal(
    "The newest line is larger than the whole pack may be.",
    "Use a model with a larger window.",
  ),

  CURSOR_INVALID: refusal("This cursor is not valid here.", "Fetch the page without a cursor."),
  INPUT_TOO_LARGE: {
    exit: 2,
    http: 413,
    says: "The operator's text is longer than 65,536 bytes.",
    fix: "Split the text.",
  },
  BODY_TYPE_REFUSED: {
    exit: 2,
    http: 415,
    says: "The body has a content type that is not accepted here.",
    fix: "Send Content-Type: application/json, or application/octet-stream for files.",
  },
  BODY_TOO_LARGE: { exit: 2, http: 413, says: "The body is larger than the limit.", fix: "Send less at once." },
  INPUT_EXCEEDS_CONTEXT: {
    exit: 2,
    http: 413,
    says: "The text alone does not fit the model's window.",
    fix: "Split the text, or use a larger window.",
  },
  CONTEXT_BUDGET_TOO_SMALL: {
    exit: 2,
    http: 422,
    says: "Fewer than 1,024 tokens of the window are usable.",
    fix: "Use a larger window_tokens or a smaller tools.beat_bytes.",
  },
  IDEMPOTENCY_BODY_MISMATCH: {
    exit: 1,
    http: 409,
    says: "This request id was already used with a different body.",
    fix: "Use a new request id.",
  },
  WORLD_NOT_FOUND: {
    exit: 2,
    http: 404,
    says: "There is no such world.",
    fix: {
      cli: "List them: verbatim world list",
      mcp: "List the worlds: world_beat, action list.",
      http: "Choose a world from the list.",
    },
  },
  PIN_NOT_FOUND: {
    exit: 2,
    http: 404,
    says: "There is no such pin.",
    fix: { cli: "List them: verbatim world pin list", mcp: "List them first.", http: "List them first." },
  },
  LORE_NOT_FOUND: {
    exit: 2,
    http: 404,
    says: "There is no such line of lore.",
    fix: { cli: "List them: verbatim world lore", mcp: "List them first.", http: "List them first." },
  },
  ENTRY_NOT_FOUND: {
    exit: 2,
    http: 404,
    says: "There is no such entry.",
    fix: {
      cli: "List them: verbatim world stream",
      mcp: "Find the entry: world_beat, action search.",
      http: "Choose an entry of the world.",
    },
  },
  INVOCATION_NOT_FOUND: { exit: 2, http: 404, says: "There is no such invocation.", fix: "Check the request id." },
  CALL_NOT_FOUND: {
    exit: 2,
    http: 404,
    says: "There is no such model call; only the newest 500 of a world are kept.",
    fix: {
      cli: "List them: verbatim world inspect REQUEST_ID",
      mcp: "Check the id of the call.",
      http: "Choose one of the calls that are kept.",
    },
  },
  CALENDAR_ITEM_UNKNOWN: {
    exit: 2,
    http: 404,
    says: "There is no such calendar item.",
    fix: {
      cli: "List them: verbatim world pocket show",
      mcp: "Check the id of the item.",
      http: "Choose one of the items of the calendar.",
    },
  },
  WORLD_EXISTS: { exit: 1, http: 409, says: "A world with this id already exists.", fix: "Choose another id." },
  WORLD_HAS_FORKS: { exit: 1, http: 409, says: "Other worlds were forked from this one.", fix: "Delete them first." },
  PERSON_EXISTS: {
    exit: 1,
    http: 409,
    says: "A person with this id already exists under another name.",
    fix: {
      cli: "Choose another id, or rename: verbatim world people name",
      mcp: "Choose another id, or ask the user to rename the person.",
      http: "Choose another id, or rename the person.",
    },
  },
  PRESENCE_TOO_MANY: {
    exit: 1,
    http: 422,
    says: "More than 64 people are present.",
    fix: "Leave out whoever takes no part in the scene.",
  },
  PERSON_ID_RESERVED: { exit: 1, http: 409, says: "This id is reserved.", fix: "Choose another id." },
  VIEWER_DENIED: {
    exit: 1,
    http: 403,
    says: "This token may not read as that viewer.",
    fix: {
      cli: "Use a token for that viewer.",
      mcp: "Read as another viewer.",
      http: "Ask the owner for a token for that viewer.",
    },
  },
  OWNER_ONLY: {
    exit: 1,
    http: 403,
    says: "Only the owner may do this.",
    fix: {
      cli: "Use an owner token.",
      mcp: "Ask the user, who may do it.",
      http: "Ask the owner for a link, or use an owner token.",
    },
  },
  OPERATOR_ONLY: {
    exit: 1,
    http: 403,
    says: "Only the operator may do this.",
    fix: {
      cli: "Use the operator's token.",
      mcp: "Ask the user, who may do it.",
      http: "Ask the owner for the operator's token.",
    },
  },
  AUTH_REQUIRED: {
    exit: 1,
    http: 401,
    says: "A token is required.",
    fix: "Open the link that was printed at the start, or send Authorization: Bearer TOKEN.",
  },
  LINK_SPENT: {
    exit: 1,
    http: 401,
    says: "The link is unknown, too old, or was used before.",
    fix: "Press Enter in the terminal where the server runs to print a new link, or type the token.",
  },
  SESSION_ENDED: {
    exit: 1,
    http: 401,
    says: "The session has ended.",
    fix: "Press Enter in the terminal where the server runs to print a new link, or type the token.",
  },
  TASK_NOT_FOUND: {
    exit: 2,
    http: 404,
    says: "There is no such task: tasks are kept for an hour after they end, and not across a restart of the server.",
    fix: "Look at what the task worked on: it shows how far the task got.",
  },
  SESSION_NOT_FOUND: {
    exit: 1,
    http: 404,
    says: "There is no session with this id.",
    fix: "List the sessions again: it may have ended.",
  },
  WRITER_PAIR_FORBIDDEN: {
    exit: 1,
    http: 403,
    says: "The key of a writer may not be sent to this address.",
    fix: {
      cli: "Pair the variable with the address: verbatim world writer set --api-key-env NAME --base-url URL",
      mcp: "Ask the user to pair the variable with the address in a terminal.",
      http: "Pair the variable with the address in a terminal.",
    },
  },
  HOST_REFUSED: {
    exit: 1,
    http: 403,
    says: "The Host or Origin header names a different address.",
    fix: "Use the address that was printed at the start.",
  },
  PLAIN_HTTP_REFUSED: {
    exit: 2,
    http: 400,
    says: "This address can be reached from other machines, and over plain HTTP others could read the token and all that is shown.",
    fix: {
      cli: "Add --tls-cert and --tls-key, or --public-url with a proxy that speaks TLS; --insecure-http accepts the risk.",
      mcp: "Ask the user to start the server with TLS.",
      http: "Start the server with TLS.",
    },
  },
  ROUTE_UNKNOWN: { exit: 2, http: 404, says: "There is nothing at this address.", fix: "See /api/openapi.json." },
  RATE_LIMITED: { exit: 4, http: 429, says: "Too many requests.", fix: "Wait as long as Retry-After says." },
  WORLD_BUSY: unavailable("Another beat in this world took too long."),
  WRITER_UNAVAILABLE: unavailable("The writer's model cannot be reached."),
  REHYDRATION_FAILED: unavailable("The scene did not fit the window after three attempts."),
  SSE_LIMIT: unavailable("Too many clients are listening.", "Close another page that follows a world, then try again."),
  REQUEST_PENDING: unavailable("The same request is still in progress."),
  IMPORT_FORMAT_UNKNOWN: {
    exit: 1,
    http: 422,
    says: "The file is not a known card, lorebook, chat or world.",
    fix: {
      cli: "See what would be imported: --preview",
      mcp: "Ask the user for a card, a lorebook, a chat or an exported world.",
      http: "Choose a card, a lorebook, a chat or an exported world.",
    },
  },
  IMPORT_TOO_LARGE: { exit: 1, http: 422, says: "The file is larger than an import may be.", fix: "Split the file." },
  IMPORT_ALREADY: {
    exit: 1,
    http: 409,
    says: "The same file was already imported into this world.",
    fix: {
      cli: "Import it a second time with --again, or into a world of its own with --new.",
      mcp: "Ask the user whether it is to be imported a second time.",
      http: "Import it into a new world, or a second time with again=true.",
    },
  },
  IMPORT_PERSON_MATCHES: {
    exit: 1,
    http: 409,
    says: "Somebody in this world has the name of the card.",
    fix: {
      cli: "Say whom the card is about: --person ID, or --person new for another one of that name.",
      mcp: "Ask the user whom the card is about.",
      http: "Say whom the card is about: person=ID, or person=new for another one of that name.",
    },
  },
  IMPORT_NOT_FOUND: {
    exit: 1,
    http: 404,
    says: "There is no import of that number.",
    fix: {
      cli: "List them: verbatim world imports",
      mcp: "Ask the user which import is meant.",
      http: "List the imports of the world.",
    },
  },
  AVATAR_NOT_FOUND: { exit: 1, http: 404, says: "There is no such picture.", fix: "Set one first." },
  IMPORT_VERIFY_FAILED: {
    exit: 1,
    http: 422,
    says: "The file does not verify; nothing was imported.",
    fix: {
      cli: "See the findings: verbatim world verify --file FILE",
      mcp: "Ask the user to export the world again.",
      http: "Get the file again from someone you trust, or export the world again.",
    },
  },
  APPEND_ONLY: {
    exit: 3,
    http: 500,
    says: "The database refused to change history.",
    fix: {
      cli: "Please report it, and run verbatim world verify.",
      mcp: "Ask the user to report it and to verify the world.",
      http: "Please report it, and verify the world.",
    },
  },
} as const;
