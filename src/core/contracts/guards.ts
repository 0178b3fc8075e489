// Everything that is known of a guard without running it: the configuration, the catalytic room, the adapters that
// launch commands and the command line all read it here.

/** The guards, strongest first. */
export const GUARD_NAMES = ["ns-overlay", "ns-bind", "landlock", "seatbelt", "audit"] as const;
export type GuardName = (typeof GUARD_NAMES)[number];

/** What a JobSpec or the configuration may ask for. */
export const GUARD_REQUESTS = ["auto", "require", ...GUARD_NAMES] as const;
export type GuardRequest = (typeof GUARD_REQUESTS)[number];

export const RESTORE_METHODS = ["discard-upper", "discard-copy", "swap-back"] as const;
export type RestoreMethod = (typeof RESTORE_METHODS)[number];

interface ClassFacts {
  /** How the C library and the common runtimes name the error such a guard answers with; null for one without. */
  readonly refusal: RegExp | null;
  /** What it could neither prevent nor hide in a view, in words for the summary. */
  readonly limits: readonly string[];
  /** What it holds back outside the domains, in words for the summary. */
  readonly outside: string;
}

const UNHIDDEN = "nothing was hidden: the command could read the keys, the runs and the state of Verbatim";
const HELD = "writes there are blocked";

/** Kinds of guards that work alike. */
export const GUARD_CLASSES = {
  namespace: { refusal: /Read-only file system|\bEROFS\b/g, limits: [], outside: HELD },
  landlock: {
    refusal: /Permission denied|\bEACCES\b/g,
    limits: [
      "modes, owners, times and attributes cannot be protected; they were compared in the repository but not elsewhere",
      UNHIDDEN,
    ],
    outside: "some kinds of writes are not blocked there (see verbatim catalytic doctor)",
  },
  seatbelt: {
    refusal: /Operation not permitted|\bEPERM\b/g,
    limits: ["processes that left their group and cleared their environment are not stopped", UNHIDDEN],
    outside: HELD,
  },
  audit: {
    refusal: null,
    limits: ["nothing was prevented; the repository was compared before and after, other places were not", UNHIDDEN],
    outside: "nothing was prevented",
  },
} as const satisfies Readonly<Record<string, ClassFacts>>;
export type GuardClass = keyof typeof GUARD_CLASSES;
export const GUARD_CLASS_NAMES = Object.keys(GUARD_CLASSES) as readonly GuardClass[];

interface GuardFacts {
  readonly class: GuardClass;
  /** The only system it is made for; null for every system. */
  readonly platform: "linux" | "darwin" | null;
  readonly restore_method: RestoreMethod;
  /** What it keeps from happening outside the domains. */
  readonly blocks: readonly string[];
  /** What only the tripwire finds, whatever the kernel; `gapsOf` knows this one. */
  readonly gaps: readonly string[];
  /** Whether it can take the network away. */
  readonly network: boolean;
}

const EVERYTHING = ["content", "create", "delete", "metadata", "process"];

export const GUARD_FACTS: Readonly<Record<GuardName, GuardFacts>> = {
  "ns-overlay": {
    class: "namespace",
    platform: "linux",
    restore_method: "discard-upper",
    blocks: EVERYTHING,
    gaps: [],
    network: true,
  },
  "ns-bind": {
    class: "namespace",
    platform: "linux",
    restore_method: "discard-copy",
    blocks: EVERYTHING,
    gaps: [],
    network: true,
  },
  landlock: {
    class: "landlock",
    platform: "linux",
    restore_method: "swap-back",
    blocks: ["content", "create", "delete", "process"],
    gaps: ["chmod", "chown", "times", "xattr"],
    network: false,
  },
  seatbelt: {
    class: "seatbelt",
    platform: "darwin",
    restore_method: "swap-back",
    blocks: ["content", "create", "delete", "metadata"],
    gaps: ["process"],
    network: true,
  },
  audit: {
    class: "audit",
    platform: null,
    restore_method: "swap-back",
    blocks: [],
    gaps: EVERYTHING,
    network: false,
  },
};

/** What a guard held back outside the domains, for people; a name that is not a guard's is taken for one that blocks. */
export function describeOutside(guard: string | null): string {
  const name = GUARD_NAMES.find((known) => known === guard);
  return name === undefined ? HELD : GUARD_CLASSES[GUARD_FACTS[name].class].outside;
}
