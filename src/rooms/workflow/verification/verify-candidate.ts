import { concatBytes, encodeUtf8, formatCanonical, sortedByCodePoint } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { formatHostEntry } from "../../../core/network/host-names.ts";
import type { Clock, ContentStore, SyncCrypto } from "../../../core/ports.ts";
import { formatTime } from "../../../core/time.ts";
import { formatArgv } from "../dispatch/argv-template.ts";
import type {
  Baselines,
  BaseTree,
  GateDone,
  GateWork,
  RepoFiles,
  VerificationEnd,
  VerificationPlace,
  ViewWrite,
} from "../ports.ts";
import { describeEnding, toTail } from "./command-ending.ts";
import { findRegistryHosts, type Registry, type RegistryFacts, registryOf } from "./registries.ts";
import { VERIFICATION_VERSION, type VerificationReport } from "./report.ts";
import { findSetups, type SetupStep } from "./setups.ts";
import type { ParsedCommand } from "./verify-command.ts";
import { checkWritten, planWrites } from "./writes.ts";

export interface VerifyPorts {
  readonly place: VerificationPlace;
  readonly content: Pick<ContentStore, "get">;
  /** Files of the real tree. */
  readonly files: Pick<RepoFiles, "look">;
  readonly baselines: Baselines;
  /** What the user says about registries. */
  registries(): RegistryFacts;
  readonly clock: Clock;
  readonly crypto: SyncCrypto;
}

/** A command with the folder it runs in and its own limit, if somebody gave them. */
interface PlacedCommand extends ParsedCommand {
  readonly cwd?: string | undefined;
  readonly timeout_s?: number | undefined;
}

export interface VerifyCandidate {
  /** Number of the verification within its run. */
  readonly v: number;
  /** SHA-256 of the candidate. */
  readonly candidate: string;
  readonly base: BaseTree & { readonly head: string };
  readonly writes: readonly ViewWrite[];
  readonly commands: readonly PlacedCommand[];
  /** Commands that always run first; `detect`: what the candidate makes necessary. */
  readonly setup: readonly PlacedCommand[] | "detect" | "none";
  /** For every command that has no limit of its own. */
  readonly timeout_s: number;
  readonly baseline: boolean;
  /** What git ignored when the agent began, as a view tells it. */
  readonly ignored_at_start: ReadonlyMap<string, string> | null;
  readonly env: Readonly<Record<string, string>>;
  readonly run_id: string;
  readonly network: VerificationReport["network"];
  readonly caps: VerificationReport["caps"];
  /** The caller holds the lock of the whole tree. */
  readonly locked?: boolean;
}

export interface Verified {
  readonly report: VerificationReport;
  /** What the commands printed, each after its own line. */
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
}

const SETUP = "setup";
const GATE = "lite";
const SHOWN_PATHS = 5;

/**
 * Verifies a candidate where it is told to: base and candidate are written and read back, then set-up and commands run in
 * one place that nobody else sees. A command that fails runs once more on the base alone. The real tree is only read.
 */
export async function verifyCandidate(
  ports: VerifyPorts,
  request: VerifyCandidate,
  signal: AbortSignal,
): Promise<Verified> {
  const { place, clock } = ports;
  const started_at = formatTime(clock.now());
  try {
    const freeze = await place.freeze(request.base);
    const found = await detect(ports, freeze, request.writes);
    const setup = chooseSetup(request, found.steps);
    const ran = await runOnce(ports, request, planWrites(freeze, request.writes), setup, request.commands, signal);
    const failed = ran.commands.findIndex(({ reason }) => reason !== null);
    const isTested = failed !== -1 && request.baseline && ran.end.problem === null;
    const baseline = isTested ? [await runBaseline(ports, request, freeze, failed, signal)] : [];
    const judged = judge(ran, baseline);
    const { folders, changed_since } = compareIgnored(request.ignored_at_start, ran.end.ignored);
    const lacks = (request.setup === "none" ? found.steps : []).map(({ argv, cwd, why }) => {
      return { argv: [...argv], cwd, why };
    });
    const report: VerificationReport = {
      schema_version: VERIFICATION_VERSION,
      v: request.v,
      candidate: request.candidate,
      base: { kind: place.kind, tree: request.base.tree, head: request.base.head, ignored: { folders, changed_since } },
      setup: [...ran.setup],
      commands: [...ran.commands],
      baseline,
      ...judged,
      notices: [
        ...found.notices,
        ...changed_since.map((path) => `${path} changed since the agent began`),
        ...noticeMeanwhile(ran.end.changed_meanwhile),
        ...noticeMasks(baseline, place.hidden().names),
      ],
      ...(lacks.length === 0 ? {} : { lacks }),
      masks: [...place.hidden().names],
      network: request.network,
      caps: ran.end.caps ?? request.caps,
      catalytic_run: ran.end.catalytic_run_id,
      started_at,
      finished_at: formatTime(clock.now()),
    };
    return { report, stdout: ran.stdout, stderr: ran.stderr };
  } finally {
    await place.close();
  }
}

/** What would have to be installed, asked of the tree with the candidate in it. */
function detect({ place, files, content }: VerifyPorts, freeze: readonly ViewWrite[], writes: readonly ViewWrite[]) {
  const base = new Map(freeze.map((write) => [write.path, write]));
  const after = new Map([...freeze, ...writes].map((write) => [write.path, write]));
  const read = async (write: ViewWrite | undefined, path: string) => {
    if (write === undefined) {
      const there = files.look(path);
      return there !== null && typeof there === "object" ? there.bytes : null;
    }
    return write.mode === null || write.mode === "120000" ? null : content.get(write.sha256);
  };
  return findSetups({
    changed: writes.map(({ path }) => path),
    isThere: (path) => {
      const write = after.get(path);
      return write === undefined ? isFile(files.look(path)) : write.mode !== null;
    },
    has: (path) => place.has(path),
    read: (path, side) => read((side === "base" ? base : after).get(path), path),
  });
}

function isFile(there: ReturnType<RepoFiles["look"]>): boolean {
  return there !== null && typeof there === "object";
}

interface SetupCommand extends PlacedCommand {
  readonly cwd: string;
  readonly why: string;
  readonly registry: Registry | null;
}

function chooseSetup({ setup }: VerifyCandidate, found: readonly SetupStep[]): readonly SetupCommand[] {
  if (setup === "none") return [];
  if (setup === "detect") {
    return found.map(({ argv, cwd, why, hosts_from: registry }) => ({
      argv,
      cwd,
      why,
      registry,
      cmd: formatArgv(argv),
    }));
  }
  return setup.map((command) => {
    return { ...command, cwd: command.cwd ?? ".", why: "asked for", registry: registryOf(command.argv) };
  });
}

interface Ran {
  readonly setup: VerificationReport["setup"];
  /** Why the set-up failed; null when it did not. */
  readonly broken: string | null;
  readonly commands: VerificationReport["commands"];
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  readonly end: VerificationEnd;
}

/** One fresh place: everything written and read back, set-up, commands until one fails. */
async function runOnce(
  { place, registries }: VerifyPorts,
  request: VerifyCandidate,
  writes: readonly ViewWrite[],
  setup: readonly SetupCommand[],
  commands: readonly PlacedCommand[],
  signal: AbortSignal,
): Promise<Ran> {
  const { timeout_s, env, run_id } = request;
  const limitOf = (command: PlacedCommand) => command.timeout_s ?? timeout_s;
  const toWork = (gate: string, all: readonly PlacedCommand[]): GateWork => ({
    gate,
    commands: all.map((one) => ({ argv: one.argv, cwd: one.cwd ?? ".", timeout_s: limitOf(one) })),
    looks: [],
    required: true,
  });
  const works = [toWork(SETUP, setup), toWork(GATE, commands)];
  const intent = `Verify the candidate of run ${run_id}`;
  // Only what the set-up needs, only while it runs; whoever has the whole network needs nothing.
  const setup_hosts =
    request.network === "inherit"
      ? []
      : findRegistryHosts(
          setup.map(({ registry }) => registry),
          registries(),
        );
  const own = { writes, works, env: { ...env, VERBATIM_RUN: run_id }, intent, locked: request.locked ?? false };
  const script = { ...own, setup_hosts };
  const session = await place.open(script, signal);
  const [stdout, stderr]: [Uint8Array[], Uint8Array[]] = [[], []];
  const take = async (all: readonly PlacedCommand[]) => {
    const done = await session.next();
    return done.results.map((result, i) => {
      const command = all[i]!;
      const { cmd } = command;
      stdout.push(encodeUtf8(`$ ${cmd}\n`), result.stdout);
      // Only what was printed needs a name; otherwise a reader of both streams finds every command twice.
      if (result.stderr.length > 0) stderr.push(encodeUtf8(`$ ${cmd}   (standard error)\n`), result.stderr);
      return toCommand(cmd, result, limitOf(command));
    });
  };
  let before: VerificationReport["commands"] = [];
  let after: VerificationReport["commands"] = [];
  let end: VerificationEnd | null = null;
  try {
    checkWritten(writes, await session.written());
    before = await take(setup);
    if (before.every(({ reason }) => reason === null)) after = await take(commands);
  } catch (thrown) {
    // A runner that was asked to end may leave anything undone.
    throw signal.aborted ? interrupted() : thrown;
  } finally {
    end = await session.close();
  }
  if (signal.aborted) throw interrupted();
  return {
    setup: before.map(({ cmd, exit_code, ms, reason, tail }, i) => {
      const said = reason === null ? {} : { tail };
      return { cmd, why: setup[i]!.why, exit_code, ms, hosts: setup_hosts.map(formatHostEntry), ...said };
    }),
    broken: before.find(({ reason }) => reason !== null)?.reason ?? null,
    commands: after,
    stdout: concatBytes(stdout),
    stderr: concatBytes(stderr),
    end,
  };
}

function interrupted(): VerbatimError {
  return new VerbatimError("INTERRUPTED", { message: "the verification was interrupted" });
}

function toCommand(
  cmd: string,
  result: GateDone["results"][number],
  timeout_s: number,
): VerificationReport["commands"][number] {
  const reason = result.exit_code === 0 ? null : describeEnding(cmd, result, timeout_s);
  return {
    cmd,
    exit_code: result.exit_code,
    ms: result.duration_ms,
    reason,
    tail: reason === null ? [] : toTail(result),
  };
}

/** The failed command once more, after those before it, on the base without the candidate. */
async function runBaseline(
  ports: VerifyPorts,
  request: VerifyCandidate,
  freeze: readonly ViewWrite[],
  failed: number,
  signal: AbortSignal,
): Promise<VerificationReport["baseline"][number]> {
  const commands = request.commands.slice(0, failed + 1);
  const { cmd } = commands[failed]!;
  const setup = chooseSetup(request, (await detect(ports, freeze, [])).steps);
  const { kind } = ports.place;
  const words = [...setup, ...commands].map(({ argv }) => argv);
  const masks = ports.place.hidden().names;
  const hidden = masks.length === 0 ? {} : { masks };
  const key = ports.crypto.sha256(formatCanonical({ base: request.base.tree, kind, words, ...hidden }));
  const known = ports.baselines.get(key);
  if (known !== null) return { cmd, ...known, kept: true };
  const ran = await runOnce(ports, request, planWrites(freeze, []), setup, commands, signal);
  // A command before it, or the set-up, that fails here keeps it from passing as well.
  const last = ran.commands[failed] ?? ran.commands.at(-1) ?? ran.setup.at(-1);
  const result = { exit_code: last?.exit_code ?? 1, ms: last?.ms ?? 0 };
  if (ran.end.problem === null) ports.baselines.put(key, result);
  return { cmd, ...result, kept: false };
}

/** The result with its reason, which only a PASS does without. */
function judge(
  { broken, commands, end }: Ran,
  baseline: VerificationReport["baseline"],
): Pick<VerificationReport, "result" | "code" | "reason"> {
  if (end.problem !== null) return { result: "FAIL", code: "VERIFY_FAILED", reason: end.problem };
  if (broken !== null) return { result: "FAIL", code: "SETUP_FAILED", reason: `the set-up failed: ${broken}` };
  const failed = commands.find(({ reason }) => reason !== null);
  if (failed !== undefined) {
    const also = baseline.some(({ exit_code }) => exit_code !== 0) ? "; it fails without the agent's change too" : "";
    return { result: "FAIL", code: "VERIFY_FAILED", reason: `${failed.reason}${also}` };
  }
  if (commands.length > 0) return { result: "PASS", code: null, reason: null };
  return { result: "NONE", code: null, reason: "not verified: there was no command to run" };
}

function compareIgnored(
  before: ReadonlyMap<string, string> | null,
  now: ReadonlyMap<string, string> | null,
): { readonly folders: string[]; readonly changed_since: string[] } {
  const folders = sortedByCodePoint(now?.keys() ?? []);
  if (before === null || now === null) return { folders, changed_since: [] };
  const all = new Set([...before.keys(), ...now.keys()]);
  return { folders, changed_since: sortedByCodePoint(all).filter((path) => before.get(path) !== now.get(path)) };
}

function noticeMeanwhile(all: readonly string[]): string[] {
  // What git and we keep for ourselves is not a part of what was verified.
  const paths = all.filter((path) => !/^\.(?:git|verbatim)(?:\/|$)/.test(path));
  if (paths.length === 0) return [];
  const more = paths.length > SHOWN_PATHS ? ` and ${paths.length - SHOWN_PATHS} more` : "";
  return [`changed in your tree while it was verified: ${paths.slice(0, SHOWN_PATHS).join(", ")}${more}`];
}

function noticeMasks(baseline: VerificationReport["baseline"], masks: readonly string[]): string[] {
  if (masks.length === 0 || baseline.every(({ exit_code }) => exit_code === 0)) return [];
  const files = masks.length === 1 ? "1 secret file is" : `${masks.length} secret files are`;
  return [`${files} hidden from it; show one: --unmask ${masks[0]} (code of the agent can then read it)`];
}
