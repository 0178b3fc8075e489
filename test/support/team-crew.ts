import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { ChildProgram, RunningChild } from "./child.ts";
import { Relay } from "./relay.ts";
import type { Crewed, Fleet } from "./team-fleet.ts";

const HOUR_MS = 3_600_000;
const MORE = { kinds: ["read", "effect", "land"], min_free: 1_000_000, grace: 5 };

/** A machine with a worker on it: it has a state of its own, its own way to the database, and a clock that is wrong. */
export interface Machine {
  readonly name: string;
  readonly workspace: Crewed;
  readonly relay: Relay;
  readonly env: Readonly<Record<string, string>>;
  child: RunningChild | null;
}

/** Workers that are started again whenever they end, until they are told to stop. */
export class Crew {
  readonly machines: Machine[] = [];
  /** What workers said that ended by themselves. */
  readonly surprises: string[] = [];
  readonly #program: ChildProgram;
  #plans: string[] = [];
  #isOver = false;
  kills = 0;

  constructor(program: ChildProgram) {
    this.#program = program;
  }

  /** Adds a machine and starts its worker. `url` is where the database is, or a pooler before it. */
  async add(fleet: Fleet, workspace: Crewed, name: string, url: string, env: Record<string, string> = {}) {
    const isSocket = new URL(url).searchParams.has("host");
    const relay = new Relay(join(fleet.folder, `way-${name}`), isSocket ? url : fleet.url);
    if (isSocket) await relay.open();
    const clock = this.machines.length % 2 === 0 ? HOUR_MS : -HOUR_MS;
    const own = workspace.env(isSocket ? relay.address(url) : url, `state-${name}`);
    const machine: Machine = {
      name,
      workspace,
      relay,
      env: { ...own, TEST_CLOCK_MS: String(clock), ...env },
      child: null,
    };
    this.machines.push(machine);
    this.#start(machine);
    return machine;
  }

  /** Points at which the next workers that are started kill themselves. */
  plan(...points: string[]): void {
    this.#plans.push(...points);
  }

  get planned(): number {
    return this.#plans.length;
  }

  #start(machine: Machine): void {
    const [point = "never", nth = "1"] = this.#plans.shift()?.split(" ") ?? [];
    const args = [machine.workspace.checkout, point, nth, "2", JSON.stringify(MORE)];
    const child = this.#program.start(args, { env: machine.env });
    machine.child = child;
    void child.ended.then(({ code, signal, errors }) => {
      if (signal === "SIGKILL") this.kills++;
      else if (!this.#isOver) this.surprises.push(`${machine.name}: ${code ?? signal}: ${errors}`);
      machine.child = null;
      if (!this.#isOver) this.#start(machine);
    });
  }

  /** Kills one of those that run; false when there is none that could be. */
  kill(pick: number): boolean {
    const running = this.machines.filter(({ child }) => child !== null && child.lines.length > 0);
    const chosen = running[pick % Math.max(1, running.length)];
    return chosen?.child?.process.kill("SIGKILL") ?? false;
  }

  /** Tells all of them to stop, and says how they ended. */
  async stop(): Promise<(number | string | null)[]> {
    this.#isOver = true;
    const running = this.machines.flatMap(({ child }) => (child === null ? [] : [child]));
    for (const child of running) child.process.kill("SIGTERM");
    const ends = await Promise.all(running.map(({ ended }) => ended));
    // Whoever was told before they listened was ended by the signal.
    return ends.filter((_, n) => running[n]!.lines.length > 0).map(({ code, signal }) => code ?? signal);
  }

  /** Starts a worker on every machine again. */
  resume(): void {
    this.#isOver = false;
    for (const machine of this.machines) this.#start(machine);
  }

  async remove(): Promise<void> {
    this.#isOver = true;
    const running = this.machines.flatMap(({ child }) => (child === null ? [] : [child]));
    for (const child of running) child.process.kill("SIGKILL");
    await Promise.all(running.map(({ ended }) => ended));
    for (const { relay } of this.machines) {
      relay.thaw();
      await relay.cut();
    }
  }

  /** Work trees that are still there. */
  leftovers(): string[] {
    return this.machines.flatMap(({ env }) => {
      const work = join(env["VERBATIM_STATE"]!, "team", "work");
      mkdirSync(work, { recursive: true });
      return readdirSync(work).flatMap((one) => readdirSync(join(work, one)).filter(() => existsSync(work)));
    });
  }
}
