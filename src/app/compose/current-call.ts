import { AsyncLocalStorage } from "node:async_hooks";
import { LOCAL_SURFACES, type Surface } from "../../core/operation.ts";
import type { Progress } from "../../core/ports.ts";
import type { Interrupts } from "../../rooms/catalytic/index.ts";

/** What a surface knows about one call and about no other. */
export interface CallOptions {
  /** Ends the call: what listens for interrupts hears one, puts back what it began and stops. */
  readonly signal?: AbortSignal;
  /** Where progress of this call goes, instead of the workspace's own. */
  readonly progress?: Progress;
  /** Refuses, by throwing, an answer the surface could not carry; asked before the answer is recorded as given. */
  readonly assertDeliverable?: (output: unknown) => void;
  /** Signals that are meant for this call, besides those of the process. */
  readonly interrupts?: Interrupts;
  /** What of starting commands the surface lets this caller do. */
  readonly starting?: Starting;
  /** Told of work that goes on after the answer; ended when nobody is to wait for it any more. */
  readonly hold?: (work: (signal: AbortSignal) => Promise<unknown>) => void;
  /** Told when the answer was given before and is given again. */
  readonly onReplay?: () => void;
}

/** Any command, those that were allowed on this machine, or none. */
export type Starting = "typed" | "allowed" | "off";

// Many calls share one workspace and its caches, so what belongs to one call travels with its promises.
const calls = new AsyncLocalStorage<CallOptions>();

/** Runs a call with what its surface knows about it. */
export function withCall<T>(options: CallOptions | undefined, run: () => Promise<T>): Promise<T> {
  // Every promise of the process costs more once something travels with them, so only what has to does.
  const { signal, progress, assertDeliverable, starting } = options ?? {};
  const isPlain = [signal, progress, assertDeliverable, starting].every((one) => one === undefined);
  return options === undefined || isPlain ? run() : calls.run(options, run);
}

/** What the caller may start. A server that says nothing about it lets nobody. */
export function callStarting(surface: Surface): Starting {
  return LOCAL_SURFACES.includes(surface) ? "typed" : (calls.getStore()?.starting ?? "off");
}

/** Work of the current call that goes on after its answer. */
export function holdCall(work: (signal: AbortSignal) => Promise<unknown>): void {
  calls.getStore()?.hold?.(work);
}

/** Progress of the call that reports it. */
export function callProgress(own: Progress | undefined): Progress {
  return { report: (step) => (calls.getStore()?.progress ?? own)?.report(step) };
}

/** Refuses an answer that the surface of the current call cannot carry. */
export function assertOutputDeliverable(output: unknown): void {
  calls.getStore()?.assertDeliverable?.(output);
}

/** Signals of the process, and the end of the call that listens. */
export function callInterrupts(own: Interrupts): Interrupts {
  return {
    listen(onSignal) {
      const { signal, interrupts } = calls.getStore() ?? {};
      const joined = interrupts === undefined ? own : joinInterrupts(own, interrupts);
      return (signal === undefined ? joined : alsoWhen(signal, joined)).listen(onSignal);
    },
  };
}

/** Work inside a call that also hears other signals. */
export function withInterrupts<T>(interrupts: Interrupts, run: () => Promise<T>): Promise<T> {
  return calls.run({ ...calls.getStore(), interrupts }, run);
}

function joinInterrupts(one: Interrupts, other: Interrupts): Interrupts {
  return {
    listen(onSignal) {
      const unlisten = [one.listen(onSignal), other.listen(onSignal)];
      return () => {
        for (const stop of unlisten) stop();
      };
    },
  };
}

/** Interrupts that also come when a signal is given, before or while someone listens. */
export function alsoWhen(signal: AbortSignal, interrupts: Interrupts): Interrupts {
  return {
    listen(onSignal) {
      const end = () => onSignal("SIGTERM");
      const unlisten = interrupts.listen(onSignal);
      signal.addEventListener("abort", end, { once: true });
      if (signal.aborted) end();
      return () => {
        signal.removeEventListener("abort", end);
        unlisten();
      };
    },
  };
}
