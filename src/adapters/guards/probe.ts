import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { release } from "node:os";
import { dirname, join } from "node:path";
import { isHash, isJsonObject, parseJson } from "../../core/canonical/index.ts";
import { GUARD_FACTS, type GuardName } from "../../core/contracts/guards.ts";
import { isVerbatimError } from "../../core/errors/index.ts";
import { errnoCode } from "../../core/errors/system.ts";
import { guardOrder, type LaunchRequest, type ProbeAnswer, type RunningCommand } from "../../rooms/catalytic/ports.ts";
import { nodeCrypto } from "../crypto/node-crypto.ts";
import { findMarked } from "../process/leftovers.ts";
import { type BindLauncher, MECHANISMS } from "./mechanisms.ts";
import { findTool } from "./tools.ts";

type Launch = (request: LaunchRequest, bind: BindLauncher) => Promise<RunningCommand>;
type Answers = Partial<Record<GuardName, ProbeAnswer>>;

interface Found {
  readonly guards: Answers;
  readonly bind: BindLauncher;
}

/**
 * Really tries every guard of this platform by running a command that attacks, or takes what was found before. Of the
 * launchers of ns-bind the first that works is taken.
 */
export async function probeGuards(
  state: string | null,
  scratch: string,
  fresh: boolean,
  launch: Launch,
  binds: readonly BindLauncher[] = ["perl", "bubblewrap"],
): Promise<Found> {
  const key = state === null ? "" : cacheKey(scratch);
  if (state !== null && !fresh) {
    const known = readCache(state, key);
    if (known !== null) return known;
  }
  const guards: Answers = { audit: "ok" };
  let bind = binds[0]!;
  for (const name of guardOrder(process.platform)) {
    if (name === "audit") continue;
    for (const launcher of name === "ns-bind" ? binds : [bind]) {
      const answer = await probe(name, scratch, launch, launcher);
      // What the first launcher lacks says more than that the second is not installed.
      guards[name] = guards[name] === undefined || answer === "ok" ? answer : guards[name];
      if (name === "ns-bind" && answer === "ok") bind = launcher;
      if (answer === "ok") break;
    }
  }
  if (state !== null) {
    mkdirSync(dirname(state), { recursive: true, mode: 0o700 });
    writeFileSync(state, `${JSON.stringify({ key, guards, bind })}\n`, { mode: 0o600 });
  }
  return { guards, bind };
}

function cacheKey(scratch: string): string {
  const boot = existsSync("/proc/sys/kernel/random/boot_id")
    ? readFileSync("/proc/sys/kernel/random/boot_id", "utf8")
    : "";
  const tools = ["unshare", "setpriv", "perl", "bwrap", "sandbox-exec"].map((name) => {
    const place = findTool(name);
    if (place === null) return null;
    const { size, mtimeMs } = statSync(place);
    return [place, size, mtimeMs];
  });
  const device = statSync(scratch).dev;
  return nodeCrypto.sha256(JSON.stringify([boot, release(), process.getuid?.() ?? 0, device, tools]));
}

function readCache(place: string, key: string): Found | null {
  try {
    const value = parseJson(readFileSync(place));
    if (!isJsonObject(value) || value["key"] !== key || !isHash(key) || !isJsonObject(value["guards"])) return null;
    const bind = value["bind"];
    return bind === "perl" || bind === "bubblewrap" ? { guards: value["guards"] as Answers, bind } : null;
  } catch (thrown) {
    // A cache that cannot be read is not a cache: everything is tried again.
    if (errnoCode(thrown) === "ENOENT" || isVerbatimError(thrown)) return null;
    throw thrown;
  }
}

/** A command that must be able to write inside and nothing outside, and that leaves a writer behind. */
const ATTACK = [
  "echo in > in/f || exit 9",
  "echo x > out/victim; echo x > out/new; rm -f out/gone; chmod 777 out/victim",
  "(sleep 0.3; echo late > in/late; echo late > out/late) >/dev/null 2>&1 &",
  "exit 0",
].join("\n");

async function probe(name: GuardName, scratch: string, launch: Launch, bind: BindLauncher): Promise<ProbeAnswer> {
  const { findObstacle, explain } = MECHANISMS[name];
  const missing = await findObstacle(bind);
  if (missing !== null) return missing;
  const base = realpathSync(mkdtempSync(join(scratch, "probe-")));
  const work = join(base, "work");
  for (const folder of ["in", "out", "work", "work/cp0", "work/tmp"])
    mkdirSync(join(base, folder), { recursive: true });
  writeFileSync(join(base, "out/victim"), "victim");
  writeFileSync(join(base, "out/gone"), "gone");
  const runId = `probe-${name}-${process.pid}`;
  const { class: guardClass, restore_method, blocks } = GUARD_FACTS[name];
  const kind = restore_method === "discard-upper" ? "overlay" : "copy";
  const isNamespace = guardClass === "namespace";
  try {
    const layer = { index: 0, kind, path: join(base, "in") } as const;
    const request: LaunchRequest = {
      guard: name,
      run_id: runId,
      root: base,
      work,
      layers: isNamespace ? [layer] : [],
      writable: isNamespace ? [] : [join(base, "in")],
      holes: [],
      keeps: [],
      command: ["/bin/sh", "-c", ATTACK],
      cwd: base,
      env: { PATH: "/usr/bin:/bin", VERBATIM_RUN_ID: runId, VERBATIM_RUN_WORK: work },
      network: "inherit",
      timeout_ms: 10_000,
      stdin: "null",
      onOutput: () => undefined,
    };
    const running = await launch(request, bind);
    const ending = await running.ended;
    const inside = existsSync(join(running.merged(layer), "f")) && !existsSync(join(base, "out/late"));
    await running.release();
    const mode = lstatSync(join(base, "out/victim")).mode & 0o777;
    const intact =
      readFileSync(join(base, "out/victim"), "utf8") === "victim" &&
      existsSync(join(base, "out/gone")) &&
      !existsSync(join(base, "out/new")) &&
      (!blocks.includes("metadata") || mode !== 0o777);
    const dead = findMarked({ run_id: runId, work }).length === 0;
    return ending.exit_code === 0 && inside && intact && dead ? "ok" : "PROBE_LEAKED";
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    return explain(String(thrown.details?.["lines"] ?? ""));
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}
