import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { BIN } from "./cli.ts";
import { makeDice } from "./patch-fuzz.ts";
import { COMMAND, GOOD_PATCH, SampleRepository } from "./sample-repository.ts";

function start(repository: SampleRepository, args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [BIN, "workflow", ...args], {
    cwd: repository.root,
    env: repository.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
}

const ended = (child: ChildProcess) => new Promise<number | null>((done) => child.on("close", (code) => done(code)));

/** Waits until an event of the run is on disk, then a little longer, then kills. */
async function killAfter(child: ChildProcess, dir: string, event: string, extraMs: number): Promise<void> {
  const closed = ended(child);
  let over = false;
  void closed.then(() => {
    over = true;
  });
  while (!over && !readFileSync(join(dir, "events.jsonl"), "utf8").includes(`"${event}"`)) {
    await new Promise((done) => setTimeout(done, 2));
  }
  await new Promise((done) => setTimeout(done, extraMs));
  child.kill("SIGKILL");
  await closed;
}

export interface KillReport {
  readonly kills: number;
  readonly status: unknown;
  readonly changed: readonly string[];
  readonly halfWritten: readonly string[];
  readonly validAfter: boolean;
  /** Catalytic runs without an end, and work directories nobody removed. */
  readonly unfinished: readonly string[];
}

/** Kills `advance` at chosen and at random points until it comes through, and looks at what is left each time. */
export async function killUntilPassed(
  points: readonly string[],
  more: number,
  seed: number,
  isolation: "worktree" | "catalytic" = "worktree",
): Promise<KillReport> {
  const repository = new SampleRepository({ verify: { isolation, gates: { lite: [{ argv: COMMAND }] } } });
  repository.env["XDG_STATE_HOME"] = join(repository.folder, "state");
  const dice = makeDice(seed);
  try {
    const before = repository.manifest();
    const dir = await repository.plan("killed");
    await repository.app.close();
    await repository.submit("diff.patch", GOOD_PATCH, "killed");
    const halfWritten: string[] = [];
    let kills = 0;
    for (const point of [...points, ...Array.from({ length: more }, () => "RUN_CREATED")]) {
      const child = start(repository, ["advance", "killed"]);
      await killAfter(child, dir, point, point === "RUN_CREATED" ? 100 + dice(500) : dice(25));
      kills++;
      const status = await repository.call("status", { run: "killed" });
      if (typeof status["code"] !== "string") throw new Error("status does not answer");
      halfWritten.push(...findBroken(dir));
      if (status["status"] === "pass") break;
    }
    const last = await repository.call("advance", { run: "killed" });
    const after = repository.manifest();
    const changed = Object.keys({ ...before, ...after }).filter((path) => before[path] !== after[path]);
    const validAfter = (await repository.call("validate", { target: "killed" }))["ok"] === true;
    const unfinished = findUnfinished(repository);
    return { kills, status: last["status"], changed, halfWritten, validAfter, unfinished };
  } finally {
    await repository.remove();
  }
}

function findUnfinished(repository: SampleRepository): string[] {
  const list = (place: string) => (existsSync(place) ? readdirSync(place) : []);
  const runs = join(repository.root, ".verbatim/runs");
  const open = list(runs).filter((id) => {
    const { status } = JSON.parse(readFileSync(join(runs, id, "STATUS.json"), "utf8")) as { readonly status: string };
    return !["succeeded", "failed"].includes(status);
  });
  return [...open, ...list(join(repository.folder, "state/verbatim/work"))];
}

/** JSON files that do not parse. Temporary files are never read by anybody. */
function findBroken(dir: string): string[] {
  return ["", "artifacts", "reviews"].flatMap((folder) =>
    readdirSync(join(dir, folder)).flatMap((name) => {
      if (!name.endsWith(".json") || name.startsWith(".tmp-")) return [];
      try {
        JSON.parse(readFileSync(join(dir, folder, name), "utf8"));
        return [];
      } catch (thrown) {
        return [`${folder}/${name}: ${String(thrown)}`];
      }
    }),
  );
}
