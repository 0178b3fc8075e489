/** `allow`: nothing but the hosts that the application names; only for views. */
export type NetworkMode = "none" | "inherit" | "allow";

export const DETERMINISMS = ["deterministic", "bounded_nondeterministic", "nondeterministic"] as const;
export type Determinism = (typeof DETERMINISMS)[number];

/** The artifacts every run that took a snapshot has, PROOF.json apart (CMP-01, canonical and legacy artifact sets). */
export const REQUIRED_ARTIFACTS = [
  "DOMAIN_ROOTS.json",
  "INPUT_HASHES.json",
  "JOBSPEC.json",
  "LEDGER.jsonl",
  "OUTPUTS.json",
  "OUTPUT_HASHES.json",
  "POLICY.json",
  "POST_MANIFEST.json",
  "POST_TREE.json",
  "PRE_MANIFEST.json",
  "PRE_TREE.json",
  "RESTORE_DIFF.json",
  "RUN_INFO.json",
  "STATUS.json",
  "STDERR.log",
  "STDOUT.log",
  "VALIDATOR_ID.json",
] as const;

export const PROOF_FILE = "PROOF.json";
export const SIGNATURE_FILE = "PROOF.dsse.json";
/** Every connection of a command that was left single hosts. */
export const NETWORK_FILE = "NETWORK.jsonl";
export const QUARANTINE_FOLDER = "quarantine";

/** Every file name that means something in a run directory; nobody else may use them there. */
export const ARTIFACT_NAMES: readonly string[] = [
  ...REQUIRED_ARTIFACTS,
  PROOF_FILE,
  SIGNATURE_FILE,
  "QUARANTINE.json",
  "VIEW_CHANGES.json",
  NETWORK_FILE,
];

/** A folder that holds one of these is a run directory. */
export const RUN_MARKERS = ["JOBSPEC.json", "STATUS.json", "LEDGER.jsonl", PROOF_FILE] as const;

/** SHA-256 of nothing: the root of an empty map. */
export const EMPTY_ROOT = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

export const RULES_VERSION = "cmp01-1";
export const PROOF_VERSION = "cmp01-proof-1";
export const PROOF_PAYLOAD_TYPE = "application/vnd.verbatim.cmp01-proof+json";

/** The ledger stream of a run, and two names no run can have. */
export const toStream = (runId: string): string => `catalytic/${runId}`;
export const REJECTED_STREAM = "catalytic/_rejected";
export const SKILLS_STREAM = "catalytic/_skills";

const REFUSAL_CODES: ReadonlySet<string> = new Set([
  "SPECIAL_FILE_IN_DOMAIN",
  "NAME_NOT_UTF8",
  "LINK_TARGET_NOT_UTF8",
  "DOMAIN_CONTAINS_MOUNT",
  "DOMAIN_IS_MOUNT_POINT",
  "DOMAIN_UNREADABLE",
  "DOMAIN_TOO_LARGE",
  "NAME_COLLISION",
  "DISK_SPACE_LOW",
  "STAGING_TOO_LARGE",
  "DOMAIN_CHANGED_DURING_SNAPSHOT",
  "FOREIGN_OWNER",
  "TRIPWIRE_TOO_LARGE",
]);

/** Whether a code is found in the domains before the command starts: the run ends, and nothing was run. */
export function isRefusalCode(code: string): boolean {
  return REFUSAL_CODES.has(code);
}
