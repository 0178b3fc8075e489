import { join, relative, resolve, sep } from "node:path";
import { encodeUtf8, hashCanonical, sortedByCodePoint, sortedUnique, toJson } from "../../../core/canonical/index.ts";
import type { HeldBy } from "../../../core/contracts/caps.ts";
import { formatTime } from "../../../core/time.ts";
import { type CatalyticPorts, nameView, runInView, type ViewOutcome } from "../../../rooms/catalytic/index.ts";
import {
  AGENT_RUN_FILE,
  type AgentAttempt,
  type AgentRecord,
  CONTEXT_PACK_FILE,
  PLAN_FILE,
} from "../../../rooms/workflow/index.ts";
import type { ServeMcp } from "../../compose/compose.ts";
import { HOOK_SPOOL } from "../../hooks/hook-receipt.ts";
import { deliverFeedback, withoutFeedback } from "../again/deliver-feedback.ts";
import { recoverWork } from "../capture/recover-work.ts";
import type { AgentPorts } from "../ports.ts";
import type { Prepared } from "../prepare/prepare.ts";
import { listSeen, seeElsewhere } from "../prepare/seen.ts";
import { isInGit, readProof } from "../report/report.ts";
import { describeBreak, toIntent } from "../request/agent-arguments.ts";
import { describeHeld, toAttemptCaps } from "../request/caps.ts";
import { announceMasks, canHide, type Masks } from "../request/masks.ts";
import { keepNetworkLog, recordNetwork, toAttemptNetwork, toReach, withNetworkLog } from "../request/network.ts";
import type { AgentRequest } from "../request/request.ts";
import { beginSpending, keepSessions, keepUsage, toMoneyFacts } from "../usage/attempt-usage.ts";
import { readSpent, readSpentMicro, type Spending, withSpending } from "../usage/spending.ts";
import { withTerminal } from "./agent-terminal.ts";
import { type LoginOutcome, withLoginFiles } from "./login-files.ts";
import { withOutputLog } from "./output-log.ts";
import { takeRecorded } from "./recorded-output.ts";
import { findSecrets, redactWith } from "./redact.ts";

/** What of its own run an agent may read; the folder of the hooks' spool is kept. */
const OWN_FILES = ["RUN.json", AGENT_RUN_FILE, PLAN_FILE, CONTEXT_PACK_FILE];

/** Lets the command work in its view: one attempt, from its entry in the ledger to the end of its command. */
export async function work(
  outside: AgentPorts,
  record: AgentRecord,
  prepared: Prepared,
  request: AgentRequest,
): Promise<{ readonly view: ViewOutcome; readonly attempt: AgentAttempt }> {
  const n = record.now.attempts + 1;
  const begun = outside.clock.now();
  const told = tellAgent(outside, prepared, request);
  const masks = findOwnMasks(outside, prepared, request);
  const opened: AgentAttempt = {
    schema_version: "verbatim-agent-attempt-v1",
    n,
    argv: [...told.template],
    started_at: formatTime(begun),
    ended_at: null,
    duration_ms: 0,
    end: null,
    kept: [...prepared.keep],
    masks: [...masks.names],
    seen: listSeen(outside, request),
    guard: null,
    network: toAttemptNetwork(request.network, null),
    caps: toAttemptCaps(request.caps, null),
    // Named before it begins, so that what is left of it can be found when this process is gone.
    catalytic_run: nameView(outside.catalytic()),
    proof_hash: null,
    proof: null,
    commits: 0,
    ignored_written: 0,
    not_carried: [],
    ...(prepared.begins === undefined ? {} : { began: prepared.begins.began }),
    ...(told.feedback === null ? {} : { feedback: told.feedback }),
    ...describeEquipment(outside, request),
  };
  record.writeAttempt(opened);
  const again = describeBegin(prepared);
  await record.enter("AGENT_ATTEMPT_STARTED", { n, argv: opened.argv, ...again }, "working", null, { attempts: n });
  const login: LoginOutcome[] = [];
  const spending = beginSpending(outside, record, request);
  const given = { ...request, told, spending };
  const view = await start(outside, record, prepared, given, masks, opened.catalytic_run!, login).catch(
    async (thrown: unknown) => {
      const { outcome, reason } = describeBreak(thrown, false);
      if (outcome === "interrupted") {
        // What fails once more is left to the next verb, which finds the run at work and nobody there.
        await recoverWork(outside, record, reason).catch((second: unknown) => outside.notify(String(second)));
      } else {
        const nothing = { n, code: null, guard: null, catalytic_run: null, proof_hash: null, attempt_sha256: null };
        await record.enter("AGENT_ATTEMPT_ENDED", { ...nothing, end: "not_started" }, outcome, reason);
      }
      throw thrown;
    },
  );
  const attempt: AgentAttempt = {
    ...opened,
    ended_at: formatTime(outside.clock.now()),
    duration_ms: view.command_ms,
    end: toEnd(view, spending),
    guard: view.run.guard,
    ...(canHide(view.run.guard) ? { masks: [...masks.names] } : { masks: [], not_hidden: [...masks.names] }),
    catalytic_run: view.run.run_id,
    proof_hash: view.run.proof_hash,
    proof: { ...readProof(view, record.run.ports.repoRoot), ...(await findMovedHead(outside, record, view)) },
    network: toAttemptNetwork(request.network, view.connections),
    caps: toAttemptCaps(request.caps, view.caps),
    commits: view.changes.commits,
    ignored_written: view.changes.ignored,
    login,
    ...keepUsage(outside, record, spending),
  };
  keepOutput(record, attempt);
  if (attempt.proof !== null) keepNetworkLog(record.run, n, attempt.proof.directory);
  await recordNetwork(record, attempt);
  const hit = view.caps?.hit ?? null;
  if (hit !== null) await record.enter("AGENT_LIMIT_HIT", { n, ...hit }, "working");
  if (hit === null && spending.hit !== null) {
    await record.enter("AGENT_LIMIT_HIT", { n, ...toMoneyFacts(spending.hit) }, "working");
  }
  const { guard, catalytic_run, proof_hash } = attempt;
  const { kind: end, code } = attempt.end!;
  const facts = { n, end, code, guard, catalytic_run, proof_hash };
  const attempt_sha256 = record.writeAttempt(attempt);
  const now = { base: { ...record.now.base, busy: [...view.busy] }, usage: readSpent(record) };
  const usd_micro = readSpentMicro(record);
  await record.enter("AGENT_ATTEMPT_ENDED", { ...facts, attempt_sha256, usd_micro }, "capturing", null, now);
  return { view, attempt };
}

/** Where HEAD stands now, if somebody moved it. git is asked only where nobody but others can have written for it. */
async function findMovedHead(
  outside: AgentPorts,
  { now }: AgentRecord,
  { changes, run }: ViewOutcome,
): Promise<Pick<NonNullable<AgentAttempt["proof"]>, "head_moved">> {
  if (run.violations.length > 0 || !changes.concurrent.some(isInGit)) return {};
  const { commit: to } = await (await outside.workflow("read")).git.head();
  return to === now.base.commit ? {} : { head_moved: { from: now.base.commit, to } };
}

async function start(
  outside: AgentPorts,
  record: AgentRecord,
  { look, keep, begins, feedback }: Prepared,
  request: AgentRequest & { readonly told: ReturnType<typeof tellAgent>; readonly spending: Spending },
  masks: Masks,
  run_id: string,
  login: LoginOutcome[],
): Promise<ViewOutcome> {
  const { run, now } = record;
  const places = outside.places();
  const spool = run.folder.makeFolder(HOOK_SPOOL);
  const pack = request.files.length === 0 ? {} : { VERBATIM_PACK: join(run.folder.dir, CONTEXT_PACK_FILE) };
  const cwd = relative(places.root, resolve(outside.start)).split(sep).join("/");
  let mcp: Awaited<ReturnType<ServeMcp>> | undefined;
  try {
    mcp = await outside.serveMcp?.(places.root);
    const { limits } = outside.config().catalytic;
    const announceCaps = (held: HeldBy) => {
      for (const line of describeHeld(held)) outside.notify(line);
    };
    const own = { ...outside.catalytic(), announceGuard: announceTo(outside, request, masks), announceCaps };
    const { known, environment } = request.equipment;
    const redact = redactWith(outside, environment, masks.values);
    const logged = withOutputLog({ ...own, redact }, run, now.attempts, limits.log_bytes, redact);
    const files = known?.profile.login ?? [];
    const kept = withLoginFiles(logged, outside.user, files, (outcomes) => login.push(...outcomes));
    const { told, spending } = request;
    const counted = withSpending(kept, outside, spending, {
      write: (usage) => void record.writeUsage(usage),
      atEnd: () => keepSessions(outside, spending, findSecrets(outside, masks.values, environment.set)),
    });
    const control = outside.control.current();
    const networked = withNetworkLog(counted, run, now.attempts);
    const ports = control?.watch(networked) ?? networked;
    // Whoever is told on standard input has no terminal there.
    const shared = control === null ? outside.terminal : control.share(outside.terminal);
    const terminal = told.input === null ? shared : null;
    const place = feedback === undefined ? null : join(run.folder.dir, feedback.file);
    return await runInView(withTerminal(ports, terminal), {
      ...places,
      run_id,
      command: told.argv,
      intent: toIntent(request.goal),
      cwd: cwd === "" ? "." : cwd,
      network: request.network.mode,
      ...toReach(request.network, mcp?.url ?? null),
      caps: request.caps,
      env_allow: environment.passed,
      extra_env: { ...environment.set, VERBATIM_RUN: run.id, ...pack, ...toFeedbackEnv(place), ...toMcpEnv(mcp) },
      keep: sortedUnique([...keep, spool]),
      hidden: [...outside.hiddenPlaces(), ...masks.hidden],
      masked: masks.files,
      ...seeElsewhere(outside, request, places.root),
      // A hook in the view judges by the plan of its run, and by what it permits.
      shown: [
        ...OWN_FILES.map((file) => join(run.folder.dir, file)),
        ...(place === null ? [] : [place]),
        ...masks.shown,
      ],
      ...(begins === undefined ? {} : { writes: begins.writes }),
      ...(told.input === null ? {} : { input: told.input }),
      hash_all: request.hashAll,
      look,
      // Only at the command line the standard input belongs to whoever asked.
      stdin: outside.surface === "cli" && outside.race === null ? "inherit" : "null",
      ...(request.guard === null ? {} : { guard: request.guard }),
      ...(request.timeoutMs === null ? {} : { timeout_ms: request.timeoutMs }),
    });
  } catch (thrown) {
    look?.close();
    throw thrown;
  } finally {
    await mcp?.close();
  }
}

/** What the command of an attempt is started with: its words, and what it is told. */
function tellAgent(outside: AgentPorts, { feedback }: Prepared, { command, equipment }: AgentRequest) {
  if (feedback === undefined) {
    return { argv: withoutFeedback(command), template: command, feedback: null, input: null };
  }
  const { text, file, sha256 } = feedback;
  const profile = equipment.known?.profile ?? null;
  const { argv, template, by } = deliverFeedback(command, {
    text,
    profile,
    session: null,
    hasTerminal: outside.terminal !== null,
  });
  if (by === "file") outside.notify("the agent finds what it is told in the file that VERBATIM_FEEDBACK names");
  const bytes = encodeUtf8(text);
  const open = async function* () {
    yield bytes;
  };
  return { argv, template, feedback: { file, sha256, by }, input: by === "input" ? { sha256, open } : null };
}

/** What the ledger says of a later attempt. */
function describeBegin({ begins, feedback }: Prepared) {
  return {
    ...(begins === undefined ? {} : { from: begins.began.from, candidate: begins.began.candidate }),
    ...(feedback === undefined ? {} : { feedback_sha256: feedback.sha256 }),
    ...(feedback === undefined || feedback.comments.length === 0 ? {} : { comments: [...feedback.comments] }),
  };
}

function toFeedbackEnv(place: string | null): Record<string, string> {
  return place === null ? {} : { VERBATIM_FEEDBACK: place };
}

/** What is hidden from this agent. */
function findOwnMasks(outside: AgentPorts, { look, keep }: Prepared, request: AgentRequest): Masks {
  const { masks, equipment } = request;
  const profile = equipment.known?.profile.name ?? null;
  const seen = listSeen(outside, request);
  return outside.masks({ unmask: masks.unmask, all: masks.all, profile, kept: keep, seen }, look);
}

/** What the agent was given, by names and hashes: no value of a variable is ever written. */
function describeEquipment(
  outside: AgentPorts,
  { equipment: { known, environment } }: AgentRequest,
): Pick<AgentAttempt, "profile" | "env"> {
  const { crypto } = outside.catalytic();
  return {
    profile: known === null ? null : { name: known.profile.name, sha256: hashCanonical(crypto, toJson(known.profile)) },
    env: {
      passed: [...environment.passed],
      set: sortedByCodePoint(Object.keys(environment.set)),
      withheld: [...environment.withheld],
    },
  };
}

/** What holds the agent back, said before it starts; from then on its output takes the place of every progress line. */
function announceTo(
  outside: AgentPorts,
  { equipment }: AgentRequest,
  masks: Masks,
): NonNullable<CatalyticPorts["announceGuard"]> {
  return (guard, network) => {
    if (!canHide(guard)) outside.control.current()?.closeSocket();
    outside.notify(
      guard === "audit"
        ? "! nothing on this machine can hold the agent back; changes are only noticed"
        : `your tree is read-only to the agent (${guard === "ns-overlay" ? "overlay" : guard}); network: ${network === "allow" ? "only listed hosts" : network}`,
    );
    if (equipment.known !== null) {
      const { name, title } = equipment.known.profile;
      outside.notify(`the agent is ${title} (profile ${name}): it gets its own variables and login`);
    }
    const hidden = announceMasks(masks, guard);
    if (hidden !== null) outside.notify(hidden);
    outside.progress.report({ label: "the agent is at work", done: 0 });
  };
}

/** How an agent reaches its MCP server. The token is apart from the address, which ends up in logs and arguments. */
function toMcpEnv(mcp: Awaited<ReturnType<ServeMcp>> | undefined): Record<string, string> {
  return mcp === undefined ? {} : { VERBATIM_MCP_URL: mcp.url, VERBATIM_MCP_TOKEN: mcp.token };
}

function toEnd({ run, caps }: ViewOutcome, { hit }: Spending): NonNullable<AgentAttempt["end"]> {
  if (caps?.hit != null) return { kind: "limit", code: run.exit_code, limit: caps.hit.cap };
  if (hit !== null) return { kind: "limit", code: run.exit_code, limit: "money" };
  if (run.interrupted_by !== null) return { kind: "stopped", code: run.exit_code };
  if (run.condition === "COMMAND_TIMED_OUT") return { kind: "timeout", code: run.exit_code };
  return run.exit_code === null ? { kind: "signal", code: null } : { kind: "exited", code: run.exit_code };
}

/** What the agent printed, next to its attempt: the catalytic run may be pruned, the record of the agent stays. */
function keepOutput({ run }: AgentRecord, { n, proof }: AgentAttempt): void {
  if (proof === null) return;
  for (const [from, stream] of [
    ["STDOUT.log", "stdout"],
    ["STDERR.log", "stderr"],
  ] as const) {
    takeRecorded(run, n, stream, join(proof.directory, from));
  }
}
