import { cpSync, readdirSync, rmSync } from "node:fs";
import { expect } from "vitest";
import { planLanding } from "../../src/rooms/workflow/landing/plan-landing.ts";
import { type Recovered, recoverLanding, undoLanding } from "../../src/rooms/workflow/landing/recover-landing.ts";
import { writeLanding } from "../../src/rooms/workflow/landing/write-landing.ts";
import { buildChild, type ChildProgram } from "./child.ts";
import { LandingRepo, type Written } from "./landing-repo.ts";

const BASE: Readonly<Record<string, Written>> = {
  changed: { mode: 0o640, text: "x\n" },
  "a/gone": "x\n",
  turned: "x\n",
  "folder/b": "x\n",
};
const CANDIDATE: Readonly<Record<string, Written>> = {
  changed: "y\n",
  "a/gone": null,
  turned: null,
  "turned/in": "new\n",
  "folder/b": null,
  folder: { to: "changed" },
};

class Killed extends Error {}

/** A landing of every kind of change that can be repeated from the beginning, and killed. */
export class KilledLanding {
  readonly repo = new LandingRepo(BASE);
  readonly manifests: Record<"before" | "after", Record<string, string>> = { before: {}, after: {} };
  #job = "";
  #child: ChildProgram | undefined;

  async prepare(): Promise<this> {
    const { repo } = this;
    this.#child = await buildChild("test/fault/children/landing.ts");
    repo.write({ untracked: "mine\n", changed: { mode: 0o640, text: "x\n" } });
    const candidate = await repo.candidate(CANDIDATE);
    this.#job = JSON.stringify({ places: repo.places, tree: repo.base.tree, candidate });
    this.manifests.before = repo.manifest();
    this.#copy("", "/saved-before");
    await this.#plan(repo.ports.files, repo.run);
    this.manifests.after = repo.manifest();
    this.#copy("", "/saved-after");
    return this;
  }

  /** Recovers as whoever comes next would. */
  recover(): Recovered {
    return recoverLanding(this.repo.ports, { folder: this.repo.run, l: 1 });
  }

  undo(): void {
    undoLanding(this.repo.ports, { folder: this.repo.run, l: 1 });
  }

  /** A real process that kills itself before a step; false: there is no such step, and it got through. */
  async killProcess(what: "land" | "undo", step: number): Promise<boolean> {
    this.#copy(what === "land" ? "/saved-before" : "/saved-after", "");
    const { ended, lines } = this.#child!.start([what, String(step), this.#job]);
    const { signal, errors } = await ended;
    if (signal === "SIGKILL") return true;
    expect({ errors, last: lines.at(-1)?.slice(0, 4) }).toEqual({ errors: "", last: "done" });
    return false;
  }

  /** The same in this process: from that step on nothing reaches the disk. */
  async killHere(what: "land" | "undo", step: number): Promise<boolean> {
    this.#copy(what === "land" ? "/saved-before" : "/saved-after", "");
    let steps = 0;
    const mortal = <T extends object>(target: T, names: readonly string[]): T =>
      new Proxy(target, {
        get(object, name) {
          const value: unknown = Reflect.get(object, name);
          if (typeof value !== "function" || !names.includes(String(name))) return value;
          return (...args: unknown[]) => {
            if (steps++ >= step) throw new Killed();
            return Reflect.apply(value, object, args) as unknown;
          };
        },
      });
    const names = ["makeFolder", "removeFolder", "stage", "place", "drop", "discard", "sync"];
    const files = mortal(this.repo.ports.files, names);
    const folder = mortal(this.repo.run, ["write", "writeAll"]);
    try {
      if (what === "land") await this.#plan(files, folder);
      else undoLanding({ ...this.repo.ports, files }, { folder, l: 1 });
      return false;
    } catch (thrown) {
      if (thrown instanceof Killed) return true;
      throw thrown;
    }
  }

  /** What a kill left is before or after, nothing unfinished lies about, and a second recovery has nothing to do. */
  check(what: "land" | "undo"): Recovered["state"] {
    const { state, kept } = this.recover();
    expect(kept).toEqual([]);
    const isAfter = state === "completed";
    expect(this.repo.manifest()).toEqual(isAfter ? this.manifests.after : this.manifests.before);
    const names = readdirSync(this.repo.root, { recursive: true }).map(String);
    expect(names.filter((name) => name.includes(".verbatim-"))).toEqual([]);
    expect(this.recover()).toEqual({ state: isAfter ? "completed" : null, kept: [] });
    if (what === "undo" && isAfter) {
      this.undo();
      expect(this.repo.manifest()).toEqual(this.manifests.before);
    }
    return state;
  }

  remove(): void {
    this.#child?.remove();
    this.repo.remove();
  }

  async #plan(files: LandingRepo["ports"]["files"], folder: LandingRepo["run"]): Promise<void> {
    const ports = this.repo.ports;
    const plan = await planLanding(ports, this.repo.base, await this.repo.candidate(CANDIDATE));
    await writeLanding({ ...ports, files }, { folder, l: 1 }, plan);
  }

  /** Tree and run directory, kept under a name and brought back. */
  #copy(from: string, to: string): void {
    for (const part of ["repo", "run"]) {
      const place = `${this.repo.folder}${to}/${part}`;
      rmSync(place, { recursive: true, force: true });
      const options = { recursive: true, preserveTimestamps: true, verbatimSymlinks: true };
      cpSync(`${this.repo.folder}${from}/${part}`, place, options);
    }
  }
}
