import type { CODES } from "../../src/core/errors/index.ts";

export type Code = keyof typeof CODES;

/** What somebody sees, in the words they would search for, and the codes behind it. */
export interface Symptom {
  readonly seen: string;
  readonly codes: readonly Code[];
  /** What the table of codes does not say. */
  readonly more?: string;
}

export const SYMPTOMS: Readonly<Record<string, readonly Symptom[]>> = {
  Starting: [
    {
      seen: "It does not start, or says that Node is too old",
      codes: ["NODE_TOO_OLD"],
      more: "`node --version` must say 20.19 or more. `verbatim doctor` checks everything else that this machine needs.",
    },
    { seen: "There is no such verb", codes: ["VERB_UNKNOWN", "USAGE"] },
    { seen: "The configuration is refused", codes: ["CONFIG_INVALID"], more: "[All settings](configuration.md)." },
    { seen: "The folder belongs to another user", codes: ["WORKSPACE_FOREIGN"] },
    { seen: "The folder cannot be written", codes: ["FOLDER_READ_ONLY", "DISK_FULL"] },
  ],
  "Running an agent": [
    {
      seen: "It says that this is not a git repository",
      codes: ["REPO_NOT_GIT"],
      more: "A repository without any commit counts as none: the change of an agent is a patch against a commit.",
    },
    {
      seen: "It asks for a verify command before anything starts",
      codes: ["VERIFY_NOT_CONFIGURED"],
      more: 'Give `--verify "npm test"`, set `agent.verify.commands` once, or say `--no-verify`; the change is then called unverified.',
    },
    { seen: "`&&`, pipes or quotes do not work in --verify", codes: ["VERIFY_NEEDS_SHELL"] },
    { seen: "The verify command is not found", codes: ["VERIFY_PROGRAM_MISSING"] },
    {
      seen: "My tests fail under Verbatim and pass outside",
      codes: ["SETUP_FAILED"],
      more:
        'Read what they printed: `verbatim agent logs @ --verify`. "also fails without the change" means that they fail on your tree ' +
        "too. Tests that write outside the repository, or need the network, behave differently where a guard forbids it.",
    },
    {
      seen: "The agent's command is not found",
      codes: ["PREFLIGHT_REJECTED"],
      more: "What follows `--` must be a program on your PATH, or a path to one; shell words need `sh -c`.",
    },
    {
      seen: "No guard works on this machine, or in this container",
      codes: ["GUARD_UNAVAILABLE"],
      more:
        "`verbatim doctor` names every guard and why it does not work. In a container, user namespaces are often switched off; " +
        "`--guard audit` runs the agent without preventing anything and compares the tree afterwards, and the summary says so.",
    },
    {
      seen: "The agent is not logged in",
      codes: [],
      more:
        "Log in once outside of a run: a first login inside one is not kept. An agent with a profile (`verbatim agent profiles`) finds its login and " +
        "may refresh it; nothing else that it writes to its home folder stays. For any other agent `--keep FOLDER` leaves the folder of its login " +
        "writable; the proof does not cover it.",
    },
    { seen: "It refuses to start on Windows", codes: ["AGENT_NEEDS_WSL"] },
    { seen: "A run that still works is in the way", codes: ["RUN_AT_WORK", "RUN_LOCKED"] },
    { seen: "attach or stop finds nobody at work", codes: ["RUN_NOT_RUNNING"] },
  ],
  "Landing a change": [
    {
      seen: "The change is rejected because of a protected path or a secret",
      codes: ["POLICY_PROTECTED", "POLICY_SECRET", "POLICY_NEVER"],
    },
    { seen: "The change is too large", codes: ["POLICY_LIMIT"] },
    { seen: "Apply finds a conflict", codes: ["LAND_CONFLICT", "LAND_RACED"] },
    { seen: "Apply refuses because nothing verified the change", codes: ["LAND_UNVERIFIED"] },
    { seen: "Undo refuses", codes: ["ROLLBACK_CONFLICT"] },
    {
      seen: "The run is not found, or belongs elsewhere",
      codes: ["RUN_AMBIGUOUS", "RUN_OTHER_REPO"],
      more: "`verbatim agent list --all` has the runs of every work tree.",
    },
    { seen: "--only or --except is refused", codes: ["SELECTION_INVALID"] },
  ],
  "Quoting text": [
    { seen: "There is no index", codes: ["INDEX_MISSING", "INDEX_BUSY"] },
    { seen: "The index finds no files, or not mine", codes: ["FILE_NOT_INDEXED", "INDEX_SOURCES_INVALID"] },
    {
      seen: "The file has changed since it was indexed",
      codes: ["CONTENT_HASH_MISMATCH", "FILE_MISSING", "SECTION_NOT_FOUND"],
    },
    { seen: "A slice is refused", codes: ["SLICE_OUT_OF_BOUNDS", "SLICE_SYNTAX", "SLICE_REQUIRED", "SLICE_UNBOUNDED"] },
    { seen: "A budget is used up", codes: ["BUDGET_BYTES", "BUDGET_EXPANDS", "BUDGET_SECTIONS", "BUDGET_SYMBOLS"] },
    { seen: "A file is taken for a secret", codes: ["SOURCE_SECRET"] },
    { seen: "An answer is too long for MCP", codes: ["RESPONSE_TOO_LARGE"] },
  ],
  Verifying: [
    { seen: "The ledger does not verify", codes: ["LEDGER_INVALID", "STORE_CORRUPT", "CONTENT_STORE_CORRUPT"] },
    {
      seen: "A bundle is intact and still not trusted",
      codes: ["TRUST_UNSIGNED", "TRUST_THRESHOLD_NOT_MET", "TRUST_NO_KEYS"],
    },
    { seen: "A key is refused", codes: ["KEY_FILE_MODE", "KEY_UNKNOWN", "KEY_INVALID"] },
    { seen: "The proof of a run is refused", codes: ["PROOF_INVALID", "PROOF_MALFORMED"] },
  ],
  "The store, the Studio and servers": [
    { seen: "Another process holds the store", codes: ["STORE_BUSY", "STORE_UNAVAILABLE"] },
    { seen: "The store is from a newer version", codes: ["STORE_FROM_FUTURE"] },
    { seen: "The link of the Studio does not work any more", codes: ["LINK_SPENT", "SESSION_ENDED"] },
    { seen: "The server refuses a field that the command line takes", codes: ["LOCAL_ONLY"] },
    { seen: "Something is wrong inside Verbatim", codes: ["INTERNAL"] },
  ],
  Worlds: [
    { seen: "The same request id is refused", codes: ["IDEMPOTENCY_BODY_MISMATCH"] },
    { seen: "A person or a time is not known", codes: ["PERSON_UNKNOWN", "TIME_NOT_MONOTONIC", "TIME_ZONE_UNKNOWN"] },
  ],
};
