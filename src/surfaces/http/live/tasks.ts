import { randomBytes } from "node:crypto";
import type { App } from "../../../app/call.ts";
import type { CallOptions, Starting } from "../../../app/compose/compose.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { ProgressStep } from "../../../core/ports.ts";
import { formatTime } from "../../../core/time.ts";
import { toErrorBody } from "../failure.ts";

type TaskState = "waiting" | "running" | "done" | "failed" | "cancelled";

/** A task as whoever asks sees it. */
export interface TaskView {
  readonly task_id: string;
  readonly operation: string;
  readonly state: TaskState;
  readonly progress: ProgressStep | null;
  readonly made_at: string;
  readonly ended_at: string | null;
  readonly output?: unknown;
  readonly error?: unknown;
}

interface Task {
  readonly id: string;
  readonly operation: string;
  readonly input: unknown;
  /** The exact text of operation and input, to tell a request that comes again from another one. */
  readonly asked: string;
  readonly key: string;
  readonly starting: Starting | undefined;
  readonly made: number;
  /** Places that it takes among agents at work, and how many there are; null: it starts no agent. */
  readonly agents: { readonly takes: number; readonly of: number } | null;
  readonly stop: AbortController;
  state: TaskState;
  progress: ProgressStep | null;
  ended: number | null;
  result: { readonly output: unknown } | { readonly error: unknown } | null;
  work: Promise<void> | null;
}

/** An agent and its tests need a core each. */
const PARALLEL = 2;
/** Operations after whose answer an agent is at work. */
const STARTS: readonly string[] = ["agent.start"];
const MOST_WAITING = 100;
const KEPT_MS = 3_600_000;

/**
 * Calls that take longer than a request should: they run on in this process, at most two at once, the others wait in order.
 * Agents that were started hold a place of their own until their run is over.
 * A task is kept for an hour after its end. After a restart there is none, and the object itself says how far it came.
 */
export class Tasks {
  readonly #app: App;
  readonly #now: () => number;
  readonly #log: (thrown: unknown) => void;
  readonly #tasks = new Map<string, Task>();
  /** Agents that were started here and are at work. */
  #atWork = 0;
  readonly #closing = new AbortController();
  readonly #listeners = new Set<(task: TaskView) => void>();

  constructor(app: App, log: (thrown: unknown) => void = () => undefined, now: () => number = Date.now) {
    this.#app = app;
    this.#log = log;
    this.#now = now;
  }

  /** Told whenever a task changes. */
  onChange(listener: (task: TaskView) => void): void {
    this.#listeners.add(listener);
  }

  /** Begins a task, or finds the one that was begun under this key. IDEMPOTENCY_BODY_MISMATCH for another one. */
  async start(operation: string, input: unknown, key: string, starting?: Starting): Promise<TaskView> {
    this.#forgetOld();
    const asked = JSON.stringify([operation, input]);
    const known = [...this.#tasks.values()].find((task) => task.key === key);
    if (known !== undefined) {
      if (known.asked === asked) return toView(known);
      throw new VerbatimError("IDEMPOTENCY_BODY_MISMATCH", {
        message: "this key was already used for another task",
        where: "/key",
      });
    }
    // What is wrong with it is said now, to whoever sent it, and not to whoever looks later.
    await this.#app.requireCall(operation, input);
    if (this.#list("waiting").length >= MOST_WAITING) {
      throw new VerbatimError("RATE_LIMITED", {
        message: "too many tasks are waiting",
        details: { retry_after_s: 10 },
      });
    }
    const agents = await this.#placesOf(operation, input);
    const id = `t_${randomBytes(12).toString("hex")}`;
    const task: Task = {
      id,
      operation,
      input,
      asked,
      key,
      starting,
      agents,
      made: this.#now(),
      stop: new AbortController(),
      state: "waiting",
      progress: null,
      ended: null,
      result: null,
      work: null,
    };
    this.#tasks.set(id, task);
    this.#startWaiting();
    this.#tell(task);
    return toView(task);
  }

  /** TASK_NOT_FOUND for one that is unknown or was forgotten. */
  view(id: string): TaskView {
    return toView(this.#find(id));
  }

  /** Ends a task that waits; one that runs is asked to stop, and says itself when it has. */
  cancel(id: string): TaskView {
    const task = this.#find(id);
    if (task.state === "waiting") this.#end(task, "cancelled", null);
    else task.stop.abort();
    return toView(task);
  }

  /** Stops everything, for the end of the server. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const task of this.#list("waiting")) this.#end(task, "cancelled", null);
    const running = this.#list("running");
    for (const { stop } of running) stop.abort();
    await Promise.all(running.flatMap(({ work }) => work ?? []));
  }

  #find(id: string): Task {
    this.#forgetOld();
    const task = this.#tasks.get(id);
    if (task === undefined) throw new VerbatimError("TASK_NOT_FOUND", { where: id });
    return task;
  }

  #list(state: TaskState): Task[] {
    return [...this.#tasks.values()].filter((task) => task.state === state);
  }

  #startWaiting(): void {
    // An agent goes on after the call that started it, so agents have places of their own.
    const running = this.#list("running").filter(({ agents }) => agents === null).length;
    const isOne = (task: Task) => task.agents === null;
    const calls = this.#list("waiting").filter(isOne);
    const starts = this.#list("waiting").filter((task) => !isOne(task));
    const next = calls.slice(0, Math.max(0, PARALLEL - running));
    for (const task of starts) {
      const { takes, of } = task.agents!;
      if (this.#atWork + takes > of) break;
      this.#atWork += takes;
      next.push(task);
    }
    for (const task of next) {
      task.state = "running";
      task.work = this.#run(task);
      this.#tell(task);
    }
  }

  async #run(task: Task): Promise<void> {
    const progress = {
      report: (step: ProgressStep) => {
        task.progress = step;
        this.#tell(task);
      },
    };
    const held: Promise<unknown>[] = [];
    const hold: CallOptions["hold"] = (work) => {
      // Whether the run is over is all that matters here; how it ended is in its record.
      held.push(work(this.#closing.signal).catch(() => undefined));
    };
    const { starting, operation, input, stop } = task;
    try {
      const options = { signal: stop.signal, progress, hold, ...(starting === undefined ? {} : { starting }) };
      const output = await this.#app.callUnknown(operation, input, options);
      this.#end(task, "done", { output });
    } catch (thrown) {
      const { status, body } = toErrorBody(thrown);
      if (status >= 500) this.#log(thrown);
      const { error } = body as { readonly error: unknown };
      this.#end(task, task.stop.signal.aborted ? "cancelled" : "failed", { error });
    }
    void Promise.all(held).then(() => {
      this.#atWork -= task.agents?.takes ?? 0;
      if (!this.#closing.signal.aborted) this.#startWaiting();
    });
    this.#startWaiting();
  }

  async #placesOf(operation: string, input: unknown): Promise<Task["agents"]> {
    if (!STARTS.includes(operation)) return null;
    const { parallel: of } = await this.#app.call("agent.commands", {});
    const { count = 1 } = input as { readonly count?: number };
    return { takes: Math.min(count, of), of };
  }

  #end(task: Task, state: TaskState, result: Task["result"]): void {
    task.state = state;
    task.result = result;
    task.ended = this.#now();
    this.#tell(task);
  }

  #tell(task: Task): void {
    for (const listener of this.#listeners) listener(toView(task));
  }

  #forgetOld(): void {
    for (const [id, { ended }] of this.#tasks) {
      if (ended !== null && ended + KEPT_MS <= this.#now()) this.#tasks.delete(id);
    }
  }
}

function toView({ id, operation, state, progress, made, ended, result }: Task): TaskView {
  return {
    task_id: id,
    operation,
    state,
    progress,
    made_at: formatTime(made),
    ended_at: ended === null ? null : formatTime(ended),
    ...result,
  };
}
