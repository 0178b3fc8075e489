// A worker of a team that can be made to die at one of the points where that would hurt: POINT and the how manieth time.
import { Mirror } from "../../../src/adapters/git/mirror.ts";
import { openApp } from "../../../src/app/call.ts";

// More of the worker's input is JSON; TEST_CLOCK_MS puts its clock wrong.
const [folder = "", point = "never", nth = "1", slots = "1", more = "{}"] = process.argv.slice(2);
let left = Number(nth);

const wrong = Number(process.env["TEST_CLOCK_MS"] ?? 0);
const { now } = Date;
Date.now = () => now() + wrong;

function passing(name: string): void {
  if (name === point && --left <= 0) process.kill(process.pid, "SIGKILL");
}

const { git, push, readRef } = Mirror.prototype;
Mirror.prototype.git = async function (this: Mirror, args, more) {
  const answer = await git.call(this, args, more);
  // The commit is made; the intent that names it is not written yet.
  if (args[0] === "write-tree") passing("before-intent");
  return answer;
};
Mirror.prototype.push = async function (this: Mirror, ref, expected, commit) {
  passing("before-push");
  const answer = await push.call(this, ref, expected, commit);
  passing("after-push");
  return answer;
};
Mirror.prototype.readRef = async function (this: Mirror, ref) {
  const answer = await readRef.call(this, ref);
  passing("after-look");
  return answer;
};

const app = openApp({ surface: "cli", start: folder, env: process.env, platform: process.platform });
console.log("ready");
await app.call("team.worker", { slots: Number(slots), ...(JSON.parse(more) as object) });
await app.close();
