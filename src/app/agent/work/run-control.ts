import { toHex } from "../../../core/hex.ts";
import type { CatalyticPorts, Interrupts, UserTerminal } from "../../../rooms/catalytic/index.ts";
import { AgentRecord, type Run } from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { recordProcess } from "./agent-process.ts";
import type { ControlHandlers, ControlSocket, Size } from "./control-ports.ts";
import { readLive } from "./live.ts";
import { SharedTerminal } from "./shared-terminal.ts";

type Launch = CatalyticPorts["guards"]["launch"];
type Running = Awaited<ReturnType<Launch>>;
type Signal = "SIGINT" | "SIGTERM";

const TOKEN_BYTES = 32;
/** An agent that was asked to end has this long, and after a second word this long. */
const ASKED_MS = 10_000;
const TOLD_MS = 2000;
const MOST_TOUCHED = 10_000;
/** What is counted on the disk is not counted again before this time. */
const COUNT_MS = 1000;

/** What others can do to a run that this process is at work on: watch it, type to its agent, end it. */
export class RunControl implements ControlHandlers {
  readonly #outside: AgentPorts;
  readonly #run: Run;
  readonly #listeners = new Set<(signal: Signal) => void>();
  #socket: ControlSocket | null = null;
  #terminal: SharedTerminal | null = null;
  #running: Running | null = null;
  #upper: string | null = null;
  #counted: { readonly at: number; readonly files: number } | null = null;
  #timers: NodeJS.Timeout[] = [];
  #isStopping = false;

  constructor(outside: AgentPorts, run: Run) {
    this.#outside = outside;
    this.#run = run;
  }

  /** Opens the socket of a run and writes down where it is. A run that cannot have one goes on without it, and says so. */
  async open(): Promise<void> {
    const place = this.#outside.control.place(this.#run.folder.dir);
    if (place === null) {
      this.#outside.notify("no private folder for a control socket: nobody can attach to this run");
      recordProcess(this.#run, this.#outside);
      return;
    }
    const token = toHex(this.#outside.catalytic().random.bytes(TOKEN_BYTES));
    this.#socket = await this.#outside.control.listen(place, token, this);
    recordProcess(this.#run, this.#outside, { socket: place, token });
  }

  /** What a stop says to work that is not a command. */
  get interrupts(): Interrupts {
    return {
      listen: (onSignal) => {
        this.#listeners.add(onSignal);
        return () => this.#listeners.delete(onSignal);
      },
    };
  }

  /** The terminal of the agent, shared by the caller's and by everybody who attaches; null: it gets none. */
  share(own: UserTerminal | null): UserTerminal | null {
    const isAlone = this.#outside.background !== null || this.#outside.race !== null;
    if (this.#socket === null || (own === null && !isAlone)) return own;
    this.#terminal = new SharedTerminal(own);
    return this.#terminal;
  }

  /** Lets the command of an attempt be watched and ended. */
  watch(ports: CatalyticPorts): CatalyticPorts {
    const { guards } = ports;
    return {
      ...ports,
      guards: {
        ...guards,
        launch: async (request) => {
          const onOutput: typeof request.onOutput = (stream, bytes) => {
            this.#socket?.output(bytes);
            request.onOutput(stream, bytes);
          };
          const running = await guards.launch({ ...request, onOutput });
          const [tree] = request.layers;
          this.#upper = tree === undefined ? null : (running.upper?.(tree) ?? null);
          this.#running = running;
          const over = () => {
            this.#running = null;
          };
          running.ended.then(over, over);
          this.#outside.background?.started(this.#run.id, this.#run.folder.dir);
          this.#socket?.tell();
          return running;
        },
      },
    };
  }

  /** Where a guard cannot hide the socket from the agent there is none: others stop the run by signals. */
  closeSocket(): void {
    if (this.#socket === null) return;
    this.#socket.close(null);
    this.#socket = null;
    recordProcess(this.#run, this.#outside);
    this.#outside.notify(
      "! this guard cannot hide the control socket from the agent, so nobody can attach to this run",
    );
  }

  /** The run stands where it stands; whoever watches is told. */
  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    const now = AgentRecord.load(this.#run)?.now ?? null;
    this.#socket?.close({ outcome: now?.state ?? null, reason: now?.reason ?? null });
    this.#socket = null;
  }

  state(): object {
    const record = AgentRecord.load(this.#run);
    const live = record === null ? null : readLive(this.#outside, record);
    return { ...live, files: this.#countTouched(), terminal: this.#terminal !== null && this.#running !== null };
  }

  onInput(bytes: Uint8Array, size: Size | null): void {
    this.#terminal?.type(bytes, size);
  }

  onSize(size: Size): void {
    this.#terminal?.resize(size);
  }

  onSignal(name: string): void {
    if (name === "STOP") this.#stop();
    else if (name === "KILL") this.#end();
    else if (name === "INT" || name === "TERM") this.#emit(`SIG${name}`);
  }

  /** Asks, asks again, ends. What the agent did until then is captured as after Ctrl-C. */
  #stop(): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.#emit("SIGINT");
    this.#after(ASKED_MS, () => {
      this.#running?.ask("SIGTERM");
      this.#after(TOLD_MS, () => this.#end());
    });
  }

  #end(): void {
    if (this.#running === null) this.#emit("SIGTERM");
    else {
      if (!this.#isStopping) this.#emit("SIGINT");
      this.#running.end();
    }
    this.#isStopping = true;
  }

  #emit(signal: Signal): void {
    for (const listener of [...this.#listeners]) listener(signal);
  }

  #after(ms: number, act: () => void): void {
    this.#timers.push(setTimeout(act, ms).unref());
  }

  #countTouched(): number | null {
    if (this.#upper === null || this.#running === null) return null;
    const at = this.#outside.clock.now();
    if (this.#counted === null || Math.abs(at - this.#counted.at) >= COUNT_MS) {
      this.#counted = { at, files: this.#outside.control.countTouched(this.#upper, MOST_TOUCHED) };
    }
    return this.#counted.files;
  }
}

/** What `work` does from now on hears what is said to the run over its socket, once that is open. */
export async function withControl<T>(
  outside: AgentPorts,
  run: Run,
  work: (control: RunControl) => Promise<T>,
): Promise<T> {
  const control = new RunControl(outside, run);
  return await outside.control.within(control, () => work(control));
}
