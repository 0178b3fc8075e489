import { hashCanonical, type JsonObject, type JsonValue, toJson } from "../../../core/canonical/index.ts";
import type { Caps } from "../../../core/contracts/caps.ts";
import type { GuardRequest } from "../../../core/contracts/guards.ts";
import { toHex } from "../../../core/hex.ts";
import { formatHostEntry } from "../../../core/network/host-names.ts";
import { formatTime } from "../../../core/time.ts";
import type { Determinism, NetworkMode } from "../contracts/constants.ts";
import { readPolicy } from "../declare/declare.ts";
import { isEnvName } from "../declare/jobspec-fields.ts";
import type { ConnectionSummary } from "../network/connection-log.ts";
import type { CatalyticPorts, CommandInput, Reach, TreeScan } from "../ports.ts";
import { type RunResult, startCatalytic } from "../run/run.ts";
import type { CapsOutcome } from "../run/run-caps.ts";
import { lookAt } from "./look.ts";
import type { ViewChanges } from "./view-changes.ts";
import type { TreeWrite } from "./view-writes.ts";

/** A command that gets a view of a whole repository: it may write anything there, and nothing of it stays. */
export interface ViewOptions {
  /** Real path of the tree: the repository, or an isolated copy of it. */
  readonly root: string;
  /** `.verbatim/state` of the workspace that keeps record and locks. */
  readonly state: string;
  readonly user_state: string;
  /** The `catalytic` object of the configuration. */
  readonly config: JsonValue;
  /** Folder of the run directory when it is not the runs root of the tree, which may be deleted afterwards. */
  readonly runs?: string;
  readonly command: readonly string[];
  readonly intent: string;
  readonly run_id?: string;
  readonly job_id?: string;
  readonly cwd?: string;
  readonly determinism?: Determinism;
  /** Names of the caller's variables the command sees (default: all that a JobSpec may name). */
  readonly env_allow?: readonly string[];
  readonly env_set?: Readonly<Record<string, string>>;
  /** VERBATIM_RUN and the like, which only the application may set. */
  readonly extra_env?: Readonly<Record<string, string>>;
  readonly guard?: GuardRequest;
  readonly network?: NetworkMode;
  /** What the command may reach where it has a network of its own. */
  readonly reach?: Reach;
  /** What the command may use at most. */
  readonly caps?: Caps;
  readonly timeout_ms?: number;
  readonly expected_exit_codes?: readonly number[];
  /** Absolute paths outside the tree that stay writable and are not covered by the proof. */
  readonly keep?: readonly string[];
  /** Absolute paths outside the tree that stay readable wherever they lie, such as the repository behind a copy. */
  readonly visible?: readonly string[];
  /** Absolute folders outside the tree that the command may write where the guard has overlays, and nothing of it stays. */
  readonly discard?: readonly string[];
  /** Absolute folders and files that a guard of class namespace hides from the command; `shown` stays readable. */
  readonly hidden?: readonly string[];
  /** Files of the tree that the command finds empty. What it does to them is no change. */
  readonly masked?: readonly string[];
  readonly shown?: readonly string[];
  /** What the command finds in its tree instead of what the real one has; it counts among what it changed. */
  readonly writes?: readonly TreeWrite[];
  readonly hash_all?: boolean;
  /** Paths that are not part of the tree's state; without them git is asked what the tree ignores. */
  readonly ignored?: readonly string[];
  /** A look at the tree that the caller took already, with `lookAtTree`. */
  readonly look?: TreeScan | null;
  readonly stdin?: "null" | "inherit";
  /** What the command reads on its standard input instead; its hash goes into the record. */
  readonly input?: CommandInput;
  /** False: what the command changed is dropped unread, as after a verification. */
  readonly collect?: boolean;
  /** The caller holds a lock on the whole tree, which would keep the view's own from being taken. */
  readonly locked?: boolean;
}

/** How the command ended, what it changed, and the proof that the real tree is as it was. */
export interface ViewOutcome {
  readonly run: RunResult;
  /** How long the command itself ran. */
  readonly command_ms: number;
  /** What the command did with the network, where it was left single hosts. */
  readonly connections: ConnectionSummary | null;
  /** What saw to the caps and which one was too much, where there were any. */
  readonly caps: CapsOutcome | null;
  readonly changes: ViewChanges;
  /**
   * What git ignored when the view began: files and folders, each with a text that changes when anything at or below it
   * does. Null where the stats of the tree were not all taken.
   */
  readonly ignored: ReadonlyMap<string, string> | null;
  /** Paths that did not stand still while the tree was read; what was read last is what the view began with. */
  readonly busy: readonly string[];
}

/**
 * Runs a command in a view of the repository (section 16 of the room's document): a private `.git`, read-only holes,
 * changes out as data with their contents in the content store, shared locks. The real tree is proved unchanged.
 *
 * @example
 * declare const options: ViewOptions;
 * const room = openCatalytic("path/to/repository");
 * const { run } = await runInView(room.ports, options);
 * await room.close();
 */
export async function runInView(ports: CatalyticPorts, options: ViewOptions): Promise<ViewOutcome> {
  const { root, state, user_state, config, runs, keep = [], visible = [], hash_all = false, look = null } = options;
  const { hidden = [], shown = [], masked = [], discard = [], writes = [] } = options;
  const { run, view, command_ms, connections, caps } = await startCatalytic(ports, {
    root,
    state,
    user_state,
    config,
    jobspec: toViewSpec(ports, options),
    stdin: options.stdin ?? "null",
    extra_env: options.extra_env ?? {},
    view: {
      hash_all,
      keep,
      visible,
      hidden,
      shown,
      masked,
      discard,
      writes,
      look,
      ignored: options.ignored ?? null,
      collect: options.collect ?? true,
      locked: options.locked ?? false,
    },
    ...(runs === undefined ? {} : { runs }),
    ...(options.reach === undefined ? {} : { reach: options.reach }),
    ...(options.caps === undefined ? {} : { caps: options.caps }),
    ...(options.input === undefined ? {} : { input: options.input }),
  });
  return { run, command_ms, connections, caps, changes: view!.changes, ignored: view!.ignoredState, busy: view!.busy };
}

/**
 * Looks at a tree ahead of its view, so that a caller can use what is known of it. Null where only the careful reading
 * will do. Whoever takes a look closes it, or gives it to the view.
 */
export function lookAtTree(
  ports: Pick<CatalyticPorts, "trees" | "progress">,
  { root, config }: Pick<ViewOptions, "root" | "config">,
): Promise<TreeScan | null> {
  return lookAt(ports, root, readPolicy(config));
}

function toViewSpec(ports: CatalyticPorts, options: ViewOptions): JsonObject {
  const { command, cwd = ".", keep = [] } = options;
  const allow =
    options.env_allow ?? Object.keys(ports.env).filter((name) => isEnvName(name) && ports.env[name] !== undefined);
  const spec: JsonObject = {
    schema_version: "cmp01-jobspec-1",
    run_id: options.run_id ?? nameView(ports),
    job_id: options.job_id ?? `view-${hashCanonical(ports.crypto, { argv: command, cwd }).slice(0, 16)}`,
    intent: options.intent,
    determinism: options.determinism ?? "nondeterministic",
    catalytic_domains: ["."],
    durable_output_roots: [],
    outputs: { durable_paths: [] },
    command: [...command],
    cwd,
    env: { allow: [...allow], set: { ...options.env_set } },
    view: true,
    metadata: {
      ...(keep.length > 0 ? { keep: [...keep] } : {}),
      ...(options.stdin === "inherit" ? { stdin: "inherit" } : {}),
      ...(options.network === "allow" ? { hosts_sha256: hashHosts(ports, options) } : {}),
      ...(options.writes === undefined || options.writes.length === 0
        ? {}
        : { writes_sha256: hashCanonical(ports.crypto, toJson(options.writes)) }),
      ...(options.input === undefined ? {} : { stdin_sha256: options.input.sha256 }),
    },
  };
  if (options.guard !== undefined) spec["guard"] = options.guard;
  if (options.network !== undefined) spec["network"] = options.network;
  if (options.timeout_ms !== undefined) spec["timeout_ms"] = options.timeout_ms;
  if (options.expected_exit_codes !== undefined) spec["expected_exit_codes"] = [...options.expected_exit_codes];
  return spec;
}

/** The list itself is in the record of whoever asked. */
function hashHosts({ crypto }: CatalyticPorts, { reach }: ViewOptions): string {
  return hashCanonical(crypto, (reach?.hosts ?? []).map(formatHostEntry));
}

/** A name for a view that nobody has named. */
export function nameView({ clock, random }: Pick<CatalyticPorts, "clock" | "random">): string {
  const time = formatTime(clock.now()).replaceAll(/[-:]/g, "").toLowerCase();
  return `v-${time.slice(0, 15)}z-${toHex(random.bytes(4))}`;
}
