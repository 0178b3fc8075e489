import { isJsonObject, type JsonValue } from "../../../core/canonical/index.ts";
import { isVerbatimError, passFixOn, VerbatimError } from "../../../core/errors/index.ts";
import { hasOverride } from "../contracts/envelope.ts";
import { Capsules } from "../knowledge/capsules.ts";
import { Metrics } from "../operations/metrics.ts";
import type { WorldPorts, WorldWriteTransaction } from "../operations/ports.ts";
import { Reachability } from "../operations/reachability.ts";
import { type BeatStatus, Hub } from "../projection/hub.ts";
import { loadWorld } from "../projection/reading.ts";
import { toolLimitsOf } from "../settings.ts";
import { type BeatOutcome, runBeat } from "../writer/beat-loop.ts";
import { type BeatWork, commitBeat, keepCalls } from "./beat-commit.ts";
import { prepareBeat } from "./beat-prepare.ts";
import { Releases } from "./beat-release.ts";
import { claimRequest, extendLease, type InvocationLease, isStopRequested, requestStop, takeLock } from "./claims.ts";
import {
  type Answer,
  BEAT_CODE,
  BEAT_RESULT,
  checkInvocation,
  SENT_BY_OWNER,
  type Sending,
  toDone,
  toReplay,
  type ValidInvocation,
} from "./invocation.ts";
import { makeOutcome } from "./outcome.ts";
import { previewBeat } from "./previews.ts";
import { Queues } from "./queue.ts";
import { Writing } from "./writing.ts";

/** Invocations of the worlds of one store. One invocation is at most one write bundle, in one transaction. */
export class Beats {
  readonly hub = new Hub();
  readonly metrics = new Metrics();
  readonly reachability = new Reachability();
  readonly queues: Queues;
  readonly #ports: WorldPorts;
  readonly #capsules = new Capsules();
  /** When time last began to count for a world, by monotonic time. */
  readonly #marks = new Map<string, number>();
  readonly #started: number;
  /** When an empty beat was last tried for a world. */
  readonly #tried = new Map<string, number>();
  readonly #running = new Map<string, AbortController>();
  readonly #releases: Releases;

  constructor(ports: WorldPorts) {
    this.#ports = ports;
    this.queues = new Queues(ports.pace);
    this.#releases = new Releases(ports, this.metrics);
    this.#started = ports.pace.elapsed();
  }

  /** Runs an invocation, or answers it from what was stored. */
  async invoke(worldId: string, value: JsonValue, sending: Sending = SENT_BY_OWNER): Promise<Answer> {
    return this.live(await checkInvocation(this.#ports, worldId, value, sending));
  }

  /** The same for an invocation that was checked. */
  async live(checked: ValidInvocation): Promise<Answer> {
    const run = checked.envelope.mode.kind === "NO_OP" ? this.#refresh(checked) : this.#beat(checked);
    const answer = await run.catch(refuseAsUnavailable);
    if (answer.replayed) this.metrics.count("replays_total");
    else this.metrics.count("beats_total", { name: "result", value: answer.headers[BEAT_RESULT] ?? "" });
    const code = answer.headers[BEAT_CODE];
    if (code !== undefined && !answer.replayed) this.metrics.count("rejections_total", { name: "code", value: code });
    return answer;
  }

  /** What the writers of an invocation would be sent; a text stands for the operator's words. */
  async preview(worldId: string, value: JsonValue, text: string | null, messages: boolean) {
    const envelope = text === null ? value : await this.#envelope(worldId, text);
    const request = isJsonObject(envelope) ? { request_id: "preview", ...envelope } : envelope;
    const options = { messages, elapsed_ms: this.#elapsed(worldId) };
    return previewBeat(this.#ports, worldId, request, SENT_BY_OWNER, options);
  }

  async #envelope(worldId: string, input_text: string): Promise<JsonValue> {
    const { cast } = await this.#ports.store.read((tx) => loadWorld(tx.world, worldId));
    return {
      invoker: { invoker_id: "SYSTEM_INVOKER", invoker_role: "INVOKER" },
      operator: { operator_id: cast.operator_id, input_text },
      mode: { kind: "BEAT" },
    };
  }

  /** Stops the writer of a beat, whichever process it runs in; says whether there is one to stop. */
  async stop(worldId: string, requestId: string): Promise<boolean> {
    const isPending = await requestStop(this.#ports, worldId, requestId);
    if (isPending) this.#running.get(`${worldId}\n${requestId}`)?.abort();
    return isPending;
  }

  /** NO_OP: shows, writes nothing but its own answer. */
  async #refresh(checked: ValidInvocation): Promise<Answer> {
    const { world_id, envelope, body_sha256, cursor, speaker } = checked;
    const { request_id } = envelope;
    const ports = this.#ports;
    await this.#releases.settle();
    const claimed = await claimRequest(ports, { world_id, request_id, body: body_sha256, holder: "" }, null);
    if (claimed.result === "REPLAY") return toReplay(claimed.stored);
    const lease: InvocationLease = { world_id, number: claimed.number, request_id, fence: claimed.fence, holder: "" };
    const headers = { [BEAT_RESULT]: "REFRESH" };
    const show = async (tx: WorldWriteTransaction): Promise<string> => {
      const world = await loadWorld(tx.world, world_id);
      const parts = { request_id, viewer: speaker.viewer, mode: "NO_OP", cursor, bundle: null } as const;
      const text = JSON.stringify(await makeOutcome(ports, tx.world, world, world, parts));
      const stored = await tx.world.invocation(world.number, request_id);
      if (stored?.status === "PENDING" && stored.fence === claimed.fence) {
        await tx.world.putInvocation(world.number, toDone(stored, text, headers, null));
      }
      return text;
    };
    try {
      return { body: await ports.store.transact(show), headers, replayed: false };
    } catch (thrown) {
      await this.#releases.letGo(lease, checked, thrown);
      throw thrown;
    }
  }

  async #beat(checked: ValidInvocation): Promise<Answer> {
    const { world_id, envelope, body_sha256 } = checked;
    const { request_id } = envelope;
    const ports = this.#ports;
    const holder = `${ports.worker.name}/${ports.ids.uuid()}`;
    let hasTurn = this.queues.tryTake(world_id);
    let lease: InvocationLease | null = null;
    const used = { tools: 0 };
    const giveUp = () => {
      if (hasTurn) this.queues.give(world_id);
      hasTurn = false;
    };
    const speaker = checked.speaker.id;
    let ended: Pick<BeatStatus, "result" | "code"> = UNENDED;
    this.hub.status(world_id, { request_id, phase: "QUEUED", tools_used: 0, speaker, ...UNENDED });
    try {
      await this.#releases.settle();
      const turn = { held: () => hasTurn, giveUp };
      const claimed = await claimRequest(ports, { world_id, request_id, body: body_sha256, holder }, turn);
      if (claimed.result === "REPLAY") {
        const replay = toReplay(claimed.stored);
        ended = toEnd(replay);
        return replay;
      }
      lease = { world_id, number: claimed.number, request_id, fence: claimed.fence, holder };
      if (!hasTurn) {
        hasTurn = await this.queues.take(world_id, ports.times.queue_ms);
        if (!hasTurn) throw new VerbatimError("WORLD_BUSY", { where: world_id });
      }
      const before = ports.pace.elapsed();
      if (!claimed.locked) await takeLock(ports, world_id, holder, ports.times.queue_ms);
      this.metrics.observe("lock_wait_seconds", ports.pace.elapsed() - before);
      const answer = await this.#work(checked, lease, used);
      ended = toEnd(answer);
      return answer;
    } catch (thrown) {
      if (lease !== null) await this.#releases.letGo(lease, checked, thrown);
      throw thrown;
    } finally {
      giveUp();
      this.hub.status(world_id, { request_id, phase: "DONE", tools_used: used.tools, speaker, ...ended });
    }
  }

  async #work(asked: ValidInvocation, lease: InvocationLease, used: { tools: number }): Promise<Answer> {
    const ports = this.#ports;
    const { world_id, envelope } = asked;
    const key = `${world_id}\n${envelope.request_id}`;
    const abort = new AbortController();
    this.#running.set(key, abort);
    const letPulseEnd = startPulse(ports, lease, abort);
    try {
      const prepared = await prepareBeat(ports, this.#capsules, asked, this.#elapsed(world_id));
      const { world, move, frames, turns, stopped } = prepared;
      const checked = { ...asked, runs_writer: prepared.runs_writer };
      if (stopped) abort.abort();
      const writing = new Writing(ports, this.hub, world, frames, {
        request_id: envelope.request_id,
        invoker_id: envelope.invoker.invoker_id,
        speaker: checked.speaker.id,
        world_time: move.world_time,
        signal: abort.signal,
      });
      const written = await runBeat(
        {
          cast: world.cast,
          zones: ports.zones,
          request_id: envelope.request_id,
          now_ms: move.clock_ms,
          limits: toolLimitsOf(world.state.settings),
          passes: frames.map(({ plan }) => plan),
        },
        writing,
      );
      const outcome = toOutcome(checked, written);
      used.tools = outcome.tool_calls;
      this.metrics.observe("writer_seconds", writing.elapsed());
      for (const tool of writing.toolsAsked) this.metrics.count("tool_calls_total", { name: "tool", value: tool });
      for (const ms of writing.searchTimes) this.metrics.observe("search_seconds", ms);
      const isNothing = envelope.operator.input_text === "" && !hasOverride(envelope) && outcome.lines.length === 0;
      if ((outcome.result === "WRITER_UNAVAILABLE" || outcome.result === "WRITER_REFUSED") && isNothing) {
        await ports.store.transact(async (tx) => keepCalls(tx, lease.number, writing));
        const { code = null, message } = outcome.error ?? {};
        throw new VerbatimError("WRITER_UNAVAILABLE", {
          ...(message === undefined ? {} : { message }),
          where: world_id,
          details: { code },
        });
      }
      this.hub.status(world_id, {
        request_id: envelope.request_id,
        phase: "WRITING",
        tools_used: outcome.tool_calls,
        speaker: checked.speaker.id,
        ...UNENDED,
      });
      return await this.#commit(checked, lease, { move, frames, turns, writing, outcome });
    } finally {
      letPulseEnd();
      this.#running.delete(key);
    }
  }

  async #commit(checked: ValidInvocation, lease: InvocationLease, work: BeatWork): Promise<Answer> {
    const ports = this.#ports;
    const { world_id } = checked;
    const { outcome, frames } = work;
    const headers: Record<string, string> = { [BEAT_RESULT]: outcome.result };
    if (outcome.error !== null) headers[BEAT_CODE] = outcome.error.code;
    const started = ports.pace.elapsed();
    const body = await commitBeat(ports, checked, lease, work, headers);
    this.metrics.observe("commit_seconds", ports.pace.elapsed() - started);
    for (const { rehydration } of frames) {
      if (rehydration !== null) this.metrics.count("rehydrations_total", { name: "result", value: "ok" });
    }
    this.#marks.set(world_id, ports.pace.elapsed());
    this.hub.committed(world_id);
    return { body, headers, replayed: false };
  }

  /** Lets an empty beat pass in a world whose owner wants one every so often, when nothing else happens in it. */
  async passTime(worldId: string): Promise<boolean> {
    const { state } = await this.#ports.store.read((tx) => loadWorld(tx.world, worldId));
    const { autonomy_interval_s, operator_id } = state.settings;
    const now = this.#ports.pace.elapsed();
    // A writer that is down is asked once an interval, not whenever someone looks.
    const since = Math.min(this.#elapsed(worldId), now - (this.#tried.get(worldId) ?? Number.NEGATIVE_INFINITY));
    const isDue = autonomy_interval_s !== null && since >= autonomy_interval_s * 1000;
    if (!isDue || state.paused || !this.queues.tryTake(worldId)) return false;
    this.queues.give(worldId);
    this.#tried.set(worldId, now);
    await this.invoke(worldId, {
      request_id: `auto:${worldId}:${state.next_beat}`,
      invoker: { invoker_id: "SYSTEM_INVOKER", invoker_role: "INVOKER" },
      operator: { operator_id, input_text: "" },
      mode: { kind: "BEAT" },
    });
    return true;
  }

  #elapsed(worldId: string): number {
    return this.#ports.pace.elapsed() - (this.#marks.get(worldId) ?? this.#started);
  }
}

const UNENDED = { result: null, code: null } as const;

function toEnd({ headers }: Answer): Pick<BeatStatus, "result" | "code"> {
  return { result: headers[BEAT_RESULT] ?? null, code: headers[BEAT_CODE] ?? null };
}

/** What a beat came to where no writer was asked: the line alone, or the lines that its caller gives. */
function toOutcome({ runs_writer, again }: ValidInvocation, written: BeatOutcome): BeatOutcome {
  const lines = again?.lines ?? null;
  if (lines !== null) return { ...written, lines, result: lines.length > 0 ? "WROTE" : "SILENCE" };
  return runs_writer ? written : { ...written, result: "LINE" };
}

/** A store that takes no writes is a state that passes, whatever the reason: the caller keeps the text and tries again. */
function refuseAsUnavailable(thrown: unknown): never {
  if (!isVerbatimError(thrown) || !(thrown.code === "DISK_FULL" || thrown.code === "FOLDER_READ_ONLY")) throw thrown;
  throw new VerbatimError("STORE_UNAVAILABLE", {
    message: `${thrown.message} Nothing was written.`,
    fix: passFixOn(thrown, "Then resend your text with the same request id."),
    cause: thrown,
  });
}

const STOP_LOOK_MS = 500;

/**
 * Keeps the claim and the lock of a beat while its writer works, and stops the writer when they are lost or someone
 * wants it stopped. Gives back what ends it.
 */
function startPulse(ports: WorldPorts, lease: InvocationLease, abort: AbortController): () => void {
  const beatOften = Math.max(1, Math.floor(Math.min(ports.times.lease_ms, ports.times.lock_ms) / 3));
  const stopHeart = ports.pace.every(beatOften, () => {
    extendLease(ports, lease).then(
      (held) => {
        if (!held) abort.abort();
      },
      () => abort.abort(),
    );
  });
  const stopWatching = watchForStop(ports, lease, abort);
  return () => {
    stopHeart();
    stopWatching();
  };
}

/** Looks now and then whether another process wants the writer stopped. */
function watchForStop({ store, pace }: WorldPorts, lease: InvocationLease, abort: AbortController): () => void {
  return pace.every(STOP_LOOK_MS, () => {
    store
      .read((tx) => tx.world.invocation(lease.number, lease.request_id))
      .then(
        (stored) => {
          if (isStopRequested(stored)) abort.abort();
        },
        // The heartbeat finds out what is wrong with the store.
        () => undefined,
      );
  });
}
