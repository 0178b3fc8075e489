import type { RunControl } from "./run-control.ts";

export interface Size {
  readonly rows: number;
  readonly columns: number;
}

/** What the control socket of a run asks of the run. */
export interface ControlHandlers {
  state(): object;
  onInput(bytes: Uint8Array, size: Size | null): void;
  onSize(size: Size): void;
  onSignal(name: string): void;
}

/** The socket of a run, from its own side. */
export interface ControlSocket {
  output(bytes: Uint8Array): void;
  event(value: object): void;
  tell(): void;
  close(end: object | null): void;
}

/** What a run says to somebody who watches it. */
interface ControlListener {
  onBytes?(bytes: Uint8Array): void;
  onState?(state: Readonly<Record<string, unknown>>): void;
  onEnd?(end: Readonly<Record<string, unknown>> | null): void;
}

/** The socket of a run, from the side of whoever joined it. */
export interface ControlLine {
  type(bytes: Uint8Array): void;
  resize(size: Size): void;
  signal(name: string): void;
  close(): void;
}

/** A run that was started in a process of its own. */
interface StartedRun {
  readonly run_id: string;
  readonly pid: number;
  /** The race it is a member of, and who else is; null: it is none. */
  readonly race: { readonly race_id: string; readonly run_ids: readonly string[] } | null;
}

/** How runs at work are reached by others, on this machine and by its user alone. */
export interface ControlPorts {
  /** Where the socket of a run would lie; null: no private folder has a path that is short enough. */
  place(runDir: string): string | null;
  listen(place: string, token: string, handlers: ControlHandlers): Promise<ControlSocket>;
  join(
    place: string,
    hello: { readonly token: string; readonly read_only: boolean; readonly bytes?: boolean; readonly size?: Size },
    listener: ControlListener,
  ): Promise<ControlLine | null>;
  /** The control of the run that this call is at work on, or null. */
  current(): RunControl | null;
  /** Work that hears what is said to a run over its socket. */
  within<T>(control: RunControl, work: () => Promise<T>): Promise<T>;
  /** A signal to a process of ours; false: it is not there any more. */
  signal(pid: number, name: "SIGINT" | "SIGTERM" | "SIGKILL"): boolean;
  /** How many files lie in the upper folder of a view, at most so many; its `.git` is left out. */
  countTouched(folder: string, most: number): number;
  /** Runs agents in a process of its own; resolves when the first has really started. Throws what kept it from that. */
  startDetached(
    operation: "agent.run" | "agent.race" | "agent.continue",
    input: object,
    onNote: (text: string) => void,
  ): Promise<StartedRun>;
  /** Folders of all runs on this machine in which a process says that it is at work. */
  listBusyRuns(): readonly string[];
}
