import { existsSync } from "node:fs";
import { VerbatimError } from "../../../core/errors/index.ts";
import { AgentRecord, type AgentRun, type AgentState, AT_WORK } from "../../../rooms/workflow/index.ts";
import { runAttempts } from "../agent.ts";
import { warnOfPatch } from "../judge/judge.ts";
import type { AgentPorts } from "../ports.ts";
import { beginAgain } from "../prepare/begin-again.ts";
import { toSeen } from "../prepare/seen.ts";
import type { AgentSummary } from "../report/agent-summary.ts";
import { readSummary } from "../report/read-summary.ts";
import { toKeptPlaces } from "../request/agent-arguments.ts";
import { planCaps } from "../request/caps.ts";
import { fillCommand, type KnownCommand, listCommands, requireAllowed } from "../request/commands.ts";
import { equip, listHosts } from "../request/equip.ts";
import { planNetwork, readNetwork, requireNetwork } from "../request/network.ts";
import { type AgentRequest, planVerification, toRecorded } from "../request/request.ts";
import {
  type ContinueFlags,
  hasCaps,
  isSaid,
  readMaxUsd,
  readTimeout,
  requireGuardedSystem,
  toLimits,
  toNames,
} from "../request/run-fields.ts";
import { withAgentRun } from "../request/session.ts";
import { findAgentRun, findOwnAgentRun } from "../runs/find-agent-run.ts";
import { waitForRuns } from "../runs/wait.ts";
import { requireSecond } from "../runs/work-tree.ts";
import { requireMoneyLeft } from "../usage/spending.ts";
import { beginOnTree, type From } from "./begin-on-tree.ts";
import { requireShown, toSaid } from "./comments.ts";
import { composeFeedback, writeFeedback } from "./feedback.ts";

/** What goes on with a run, and with what. */
export interface ContinueRequest extends ContinueFlags {
  /** The name of a command of the configuration. */
  readonly command?: string | undefined;
  /** The words of another command; none: the one that the run has. */
  readonly argv: readonly string[];
  readonly note: string;
  /** Ids of comments. */
  readonly comments: readonly string[];
  readonly from: From;
  /** The hash of the text that somebody was shown. */
  readonly feedback_sha256?: string | undefined;
}

const CONTINUED: readonly AgentState[] = [
  "rejected",
  "verify_failed",
  "agent_failed",
  "timed_out",
  "over_limit",
  "interrupted",
  "verified",
  "unverified",
  "unchanged",
  "not_started",
  "undone",
];

/** Another attempt of the same run, on top of the newest change or from its base. RUN_ENDED, RUN_AT_WORK, RUN_OTHER_REPO. */
export async function continueAgentRun(
  outside: AgentPorts,
  name: string,
  asked: ContinueRequest,
): Promise<AgentSummary> {
  requireGuardedSystem(outside);
  const run = await findOwnAgentRun(outside, await outside.workflow("mutate"), name);
  requireSecond(run);
  warnOfPatch(outside);
  return await withAgentRun(outside, run, "agent continue", async (open) => {
    const { record } = open;
    requireContinued(record);
    const request = await toAgain(outside, record, asked);
    requireMoneyLeft(record, request.maxUsd);
    await requireNetwork(outside, request.network, request.guard, request.plan.commands.length > 0);
    const keep = toKeptPlaces(outside, request.keep);
    const text = composeFeedback(outside, record, await toSaid(outside, record, asked));
    requireShown(record, text, asked.feedback_sha256);
    const { from } = asked;
    const prepared =
      from === "tree"
        ? await beginOnTree(outside, record, keep)
        : await beginAgain(outside, record, request, keep, from);
    const masks = record.now.request.masks;
    const recorded = toRecorded(request, keep);
    record.save({
      request: {
        ...recorded,
        masks: {
          ...recorded.masks!,
          verify: masks?.verify ?? [],
          verify_all: masks?.verify_all ?? false,
        },
      },
    });
    const feedback = text === null ? {} : { feedback: writeFeedback(record, text, asked.comments) };
    return await runAttempts(outside, open, request, { ...prepared, ...feedback });
  });
}

/** The same in a process of its own; whoever asked goes on once the agent has really started. */
export async function continueInBackground(outside: AgentPorts, name: string, input: object): Promise<AgentSummary> {
  const run = await findOwnAgentRun(outside, await outside.workflow("read"), name);
  requireSecond(run);
  const record = AgentRecord.load(run)!;
  // Whether somebody is at work is found out under the lock; what cannot go on is said before anything is started.
  if (!AT_WORK.includes(record.now.state)) requireContinued(record);
  const note = (text: string) => outside.notify(text);
  await outside.control.startDetached("agent.continue", { ...input, run: run.id }, note);
  if (outside.surface === "http") {
    outside.hold((signal) => waitForRuns(outside, [run.id], { timeoutMs: null, any: false, signal }));
  }
  return readSummary(outside, await findAgentRun(outside, await outside.workflow("read"), run.id))!;
}

/** Over HTTP agents go on with what the run has, or with a command that was allowed. START_OFF, LOCAL_ONLY. */
export async function continueOverHttp(
  outside: AgentPorts,
  name: string,
  { argv, ...asked }: Pick<ContinueRequest, "command" | "argv" | "note" | "comments" | "from" | "feedback_sha256">,
): Promise<AgentSummary> {
  const starting = outside.starting();
  if (starting === "off") throw new VerbatimError("START_OFF");
  if (argv.length > 0 && starting !== "typed") {
    throw new VerbatimError("LOCAL_ONLY", {
      message:
        'agent.continue takes "argv" only in a session that was opened by a link, on the machine of the repository',
      where: "/argv",
    });
  }
  if (asked.command !== undefined) await requireAllowed(outside, asked.command);
  return await continueInBackground(outside, name, { ...asked, argv: [...argv], comments: [...asked.comments] });
}

function requireContinued({ run, now }: AgentRecord): void {
  if (CONTINUED.includes(now.state)) return;
  const isApplied = now.state === "applied";
  throw new VerbatimError("RUN_ENDED", {
    message: `the run is ${now.state.replaceAll("_", " ")}, so its agent cannot go on`,
    where: run.folder.dir,
    fix: isApplied
      ? {
          cli: `Take it back first: verbatim agent undo ${run.id}. Or start a run of its own: verbatim agent --goal "..."`,
          others: "Undo it first, or start a run of its own.",
        }
      : { cli: 'Start another one: verbatim agent --goal "..."', others: "Start another one." },
  });
}

/** The request of the run with what is said anew. Nothing of it is on disk before everything has been checked. */
async function toAgain(outside: AgentPorts, record: AgentRecord, asked: ContinueRequest): Promise<AgentRequest> {
  const { now } = record;
  const was = now.request;
  const known = await findCommand(outside, record, asked);
  const isOther = asked.argv.length > 0 || asked.command !== undefined;
  const command = toCommand(known, record, asked);
  const names = (was.env?.names ?? []).filter((one) => one.endsWith("*") || outside.user.env[one] !== undefined);
  const env = [...new Set([...names, ...asked.env])];
  const lost = (was.env?.set ?? []).filter((one) => asked.env.every((given) => !given.startsWith(`${one}=`)));
  if (lost.length > 0) {
    outside.notify(`values of variables are not kept; give them again with --env: ${lost.join(", ")}`);
  }
  const envAll = asked.env_all || was.env?.all === true;
  const profile = asked.profile ?? known?.profile ?? (isOther ? null : (was.profile ?? null));
  const equipment = equip(outside, command, { profile, env, envAll });
  const plan = isSaid(asked)
    ? planVerification(outside, asked)
    : { commands: was.verify, configured: false, setup: was.setup, baseline: was.baseline };
  const isNetworkSaid = asked.network !== undefined || asked.host.length > 0;
  const caps = planCaps(outside, asked);
  const see = [...toSeen(outside, asked.see), ...(was.see ?? []).filter(existsSync)];
  const masks = was.masks ?? { unmask: [], all: false };
  return {
    goal: now.goal,
    name: asked.name ?? was.name ?? null,
    command,
    plan,
    files: was.files,
    allow: was.allow,
    deny: was.deny,
    leaveOut: union(was.leave_out, asked.leave_out),
    permit: union(was.permit, asked.permit),
    limits: { ...was.limits, ...toLimits(asked) },
    guard: asked.guard ?? (was.guard as AgentRequest["guard"]),
    timeoutMs: asked.timeout !== undefined ? readTimeout(outside, asked.timeout) : was.timeout_ms,
    keep: union(was.keep, asked.keep),
    hashAll: asked.hash_all || was.hash_all,
    network: isNetworkSaid
      ? planNetwork(outside, asked, listHosts(equipment))
      : again(outside, now, equipment, isOther),
    caps: hasCaps(asked) ? { ...caps, ...keepCaps(was, asked) } : (was.caps ?? caps),
    equipment,
    env: { ...toNames({ env, env_all: envAll }) },
    fix: asked.fix ?? was.fix ?? 0,
    maxUsd: readMaxUsd(outside, asked.max_usd, equipment, was.max_usd ?? null),
    commit: was.commit ?? null,
    see: [...new Set(see)],
    masks: { unmask: union(masks.unmask, asked.unmask), all: masks.all || asked.show_secrets },
  };
}

const union = (a: readonly string[], b: readonly string[]) => [...new Set([...a, ...b])];

/** Caps that nobody spoke of stay. */
function keepCaps({ caps }: AgentRun["request"], asked: ContinueFlags): Partial<AgentRequest["caps"]> {
  if (caps === undefined) return {};
  return {
    ...(asked.memory === undefined ? { memory: caps.memory } : {}),
    ...(asked.processes === undefined ? { processes: caps.processes } : {}),
    ...(asked.disk === undefined ? { disk: caps.disk } : {}),
  };
}

/** The network of the run; another agent has hosts of its own besides. */
function again(
  outside: AgentPorts,
  now: AgentRun,
  equipment: AgentRequest["equipment"],
  isOther: boolean,
): AgentRequest["network"] {
  const { mode, hosts } = readNetwork(outside, now);
  if (!isOther || mode !== "allow") return { mode, hosts };
  const more = listHosts(equipment).filter((one) =>
    hosts.every(({ host, port }) => host !== one.host || port !== one.port),
  );
  return { mode, hosts: [...hosts, ...more] };
}

/** The command of the configuration that goes on: the named one, or the one that the run was started by, as it was allowed. */
async function findCommand(
  outside: AgentPorts,
  { now }: AgentRecord,
  { command, argv }: ContinueRequest,
): Promise<KnownCommand | null> {
  if (command !== undefined && argv.length > 0) {
    throw new VerbatimError("USAGE", { message: "give either the name of a command or its words", where: "/command" });
  }
  if (command !== undefined) return await requireAllowed(outside, command);
  if (argv.length > 0) return null;
  const words = JSON.stringify(now.request.argv);
  const { commands } = await listCommands(outside);
  return commands.find((one) => one.allowed && one.feedback !== null && isFilled(one, now.goal, words)) ?? null;
}

function isFilled({ argv }: KnownCommand, goal: string, words: string): boolean {
  return argv.every((word) => !word.includes("{goal}") || !goal.startsWith("-"))
    ? JSON.stringify(fillCommand(argv, { goal, feedback: "" })) === words
    : false;
}

/** The words of the next attempt: `{feedback}` stays in them until the text is there. */
function toCommand(
  known: KnownCommand | null,
  { now }: AgentRecord,
  { argv, command }: ContinueRequest,
): readonly string[] {
  if (argv.length > 0) return argv;
  if (known === null) return now.request.argv;
  const words = known.feedback ?? (command === undefined ? null : known.argv);
  return words === null ? now.request.argv : fillCommand(words, { goal: now.goal, feedback: "{feedback}" });
}
