// Lands, or takes back, and kills itself just before its n-th step.

import type { CandidateFile } from "../../../src/rooms/workflow/contracts/candidate.ts";
import { planLanding } from "../../../src/rooms/workflow/landing/plan-landing.ts";
import { undoLanding } from "../../../src/rooms/workflow/landing/recover-landing.ts";
import { writeLanding } from "../../../src/rooms/workflow/landing/write-landing.ts";
import { type LandingPlaces, landingPorts, openRun } from "../../support/landing-repo.ts";

const [job, moment, text] = process.argv.slice(2);
const { places, tree, candidate } = JSON.parse(text!) as {
  readonly places: LandingPlaces;
  readonly tree: string;
  readonly candidate: CandidateFile[];
};

let steps = 0;

function mortal<T extends object>(target: T, names: readonly string[]): T {
  return new Proxy(target, {
    get(object, name) {
      const value: unknown = Reflect.get(object, name);
      if (typeof value !== "function" || !names.includes(String(name))) return value;
      return (...args: unknown[]) => {
        if (steps++ === Number(moment)) process.kill(process.pid, "SIGKILL");
        return Reflect.apply(value, object, args) as unknown;
      };
    },
  });
}

const ports = landingPorts(places);
const plan = job === "land" ? await planLanding(ports, { tree, objects: null }, candidate) : null;
const files = mortal(ports.files, ["makeFolder", "removeFolder", "stage", "place", "drop", "discard", "sync"]);
const folder = mortal(openRun(places.run), ["write", "writeAll"]);
if (plan !== null) await writeLanding({ ...ports, files }, { folder, l: 1 }, plan);
else undoLanding({ ...ports, files }, { folder, l: 1 });
console.log(`done after ${steps}`);
