// What a command may use at most, and how that was seen to: agents, their verifications, the guards and the records all
// read it here.

export const CAP_NAMES = ["memory", "processes", "disk"] as const;
export type CapName = (typeof CAP_NAMES)[number];

/** Bytes, threads and bytes. */
export type Caps = Readonly<Record<CapName, number>>;

/**
 * What sees to a cap: a control group of the kernel, a limit of the kernel on processes of one user, looking again and
 * again, or nothing.
 */
export const CAP_MECHANISMS = ["cgroup2", "cgroup1", "rlimit", "watch", "none"] as const;
export type CapMechanism = (typeof CAP_MECHANISMS)[number];
export type HeldBy = Readonly<Record<CapName, CapMechanism>>;

/** A cap that a command ran into. */
export interface CapHit {
  readonly cap: CapName;
  readonly limit: number;
  /** What was used when it was noticed. */
  readonly used: number;
}

/** How many processes and how many bytes an agent may use where nobody says; memory depends on the machine. */
export const DEFAULT_CAPS = { processes: 2048, disk: 20_000_000_000, memory_share: 0.8 } as const;
