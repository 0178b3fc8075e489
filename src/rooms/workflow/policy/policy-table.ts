import {
  AGENT_DOCUMENTS,
  DEFAULT_LIMITS,
  INSTALL_SCRIPTS,
  type PolicyRow,
  PROTECTED_PATHS,
  SECRET_PATHS,
  VERIFY_FILES,
} from "./default-policy.ts";
import { NOTICES } from "./notices.ts";
import { SECRET_KINDS } from "./secret-patterns.ts";

/** One class of the default policy, for people. */
export interface PolicyTableRow {
  readonly name: string;
  /** What becomes of a change that touches it. */
  readonly rule: string;
  /** Patterns in the syntax of gitignore, or what is meant in words. */
  readonly what: readonly string[];
}

const GROUPS: Readonly<Record<PolicyRow["group"], string>> = {
  ci: "protected: CI",
  agents: "protected: agents and editors",
  tools: "protected: hooks and tools",
  secret: "secret",
};

/** The default policy, made from what the gate itself judges by, in the order in which it judges. */
export function listDefaultPolicy(): PolicyTableRow[] {
  const limits = DEFAULT_LIMITS;
  return [
    {
      name: "never",
      rule: "refused (POLICY_NEVER); there is no flag for it",
      what: [
        ".git and .verbatim anywhere, in every spelling",
        "special files",
        "setuid and setgid bits",
        "links that are absolute, leave the repository or lead into one of these",
      ],
    },
    ...[...PROTECTED_PATHS, ...SECRET_PATHS].map(({ group, says, patterns }) => ({
      name: GROUPS[group],
      rule: `refused (${group === "secret" ? "POLICY_SECRET" : "POLICY_PROTECTED"}) because ${says}; allow it: --permit PATH`,
      what: patterns,
    })),
    {
      name: "size",
      rule: "refused (POLICY_LIMIT) above it; lock files are counted apart",
      what: [
        `${limits.max_files} files: --max-files N`,
        `${limits.max_added_lines} added lines: --max-added-lines N`,
        `${limits.max_binary_bytes} bytes for a file that travels whole: --max-binary SIZE`,
        `${limits.max_carried_bytes} bytes for all of them: agent.policy.max_carried_bytes`,
      ],
    },
    {
      name: "content",
      rule: "an added line with one is refused (POLICY_SECRET); allow it: --permit PATH",
      what: SECRET_KINDS,
    },
    { name: "notice only", rule: `allowed, shown with !: ${NOTICES.tells_agents}`, what: AGENT_DOCUMENTS },
    {
      name: "notice only",
      rule: `allowed, shown with !: ${NOTICES.runs_on_install}`,
      what: INSTALL_SCRIPTS.map((name) => `scripts.${name} of package.json`),
    },
    {
      name: "notice only",
      rule: `allowed, shown with !: ${NOTICES.decides_verification}`,
      what: [...VERIFY_FILES, "scripts of package.json", "files that a verify command names"],
    },
    { name: "ordinary", rule: "allowed", what: ["everything else"] },
  ];
}
