import type { OperationName } from "verbatim-agent/api";
import { ask, type Input, newKey, type Output, Refused, Unreachable } from "./client.ts";
import { openedSession } from "./session.ts";

interface TaskAnswer<T> {
  readonly task_id: string;
  readonly state: "waiting" | "running" | "done" | "failed" | "cancelled";
  readonly progress: { readonly label: string; readonly done?: number; readonly total?: number } | null;
  readonly output?: T;
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly where: string | null;
    readonly fix: string;
  };
}

/** How often an end is asked for, should its event be lost. */
const LOOK_MS = 1000;

const waiting = new Map<string, () => void>();

/** An event said that this task changed. */
export function noteTask(id: string): void {
  waiting.get(id)?.();
}

/** A task was asked to stop and did. */
export class Cancelled extends Error {}

/**
 * Begins a long call and waits for its end. The key makes it happen once: sending it again after a lost answer finds the
 * task that was begun.
 */
export async function runTask<N extends OperationName>(
  operation: N,
  input: Input<N>,
  options: {
    readonly key?: string;
    readonly signal?: AbortSignal;
    readonly onProgress?: (text: string) => void;
    /** Others are before it. */
    readonly onWaiting?: () => void;
  } = {},
): Promise<Output<N>> {
  const key = options.key ?? newKey();
  const begun = await again(() => ask<TaskAnswer<Output<N>>>("POST", "/tasks", { operation, input, key }));
  const path = `/tasks/${begun.task_id}`;
  const cancel = () => void ask("DELETE", path).catch(() => undefined);
  options.signal?.addEventListener("abort", cancel, { once: true });
  try {
    for (let task = begun; ; task = await again(() => look<TaskAnswer<Output<N>>>(path))) {
      if (task.state === "done") return task.output as Output<N>;
      if (task.state === "cancelled") throw new Cancelled();
      if (task.state === "failed" && task.error !== undefined) throw new Refused(409, task.error);
      if (task.state === "waiting") options.onWaiting?.();
      if (task.progress !== null) options.onProgress?.(task.progress.label);
      await change(begun.task_id);
    }
  } finally {
    options.signal?.removeEventListener("abort", cancel);
    waiting.delete(begun.task_id);
  }
}

/** Asks how far it came. Where the session ended meanwhile, whoever opens the next one is told. */
async function look<T>(path: string): Promise<T> {
  for (;;) {
    try {
      return await ask<T>("GET", path);
    } catch (thrown) {
      if (!(thrown instanceof Refused) || thrown.status !== 401) throw thrown;
      await openedSession();
    }
  }
}

function change(id: string): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, LOOK_MS);
    waiting.set(id, () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** A server that is away for a moment loses nothing: the same request is sent again. */
async function again<T>(send: () => Promise<T>): Promise<T> {
  for (let left = 30; ; left--) {
    try {
      return await send();
    } catch (thrown) {
      if (!(thrown instanceof Unreachable) || left === 0) throw thrown;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }
}
