import { execFile } from "node:child_process";
import { accessSync, constants, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type CaseWords, isVerbatimError, wordsAt } from "../../core/errors/index.ts";
import { verifyLedger } from "../../core/ledger/verify.ts";
import { count } from "../../core/text/index.ts";
import { gapsOf, guardOrder } from "../../rooms/catalytic/index.ts";
import { CODE_GRAMMARS } from "../../rooms/context/index.ts";
import { builtInProfiles } from "../../rooms/workflow/index.ts";
import type { HallPorts } from "./ports.ts";

interface Check {
  readonly name: string;
  readonly status: "ok" | "warn" | "fail";
  readonly message: string;
  readonly fix: string | null;
}

const run = promisify(execFile);

/** Tries what the product needs, one line each, in words for whoever asked. Changes nothing. */
export async function diagnose(ports: HallPorts): Promise<Check[]> {
  const say = (words: string | CaseWords): string => wordsAt(ports.surface, words);
  const checks = [
    checkNode(),
    await checkGit(),
    checkFolder(ports),
    ...(await checkRepository(ports)),
    checkModes(ports),
    checkConfig(ports),
    checkGrammars(ports),
    checkProfiles(),
    ...(await checkStore(ports)),
    ...(await checkGuards(ports)),
    ...checkSystem(ports),
  ];
  return checks.map(({ message, fix, ...check }) => ({
    ...check,
    message: say(message),
    fix: fix === null ? null : say(fix),
  }));
}

/** A line before it is known who reads it. */
interface Found extends Pick<Check, "name" | "status"> {
  readonly message: string | CaseWords;
  readonly fix: string | CaseWords | null;
}

function ok(name: string, message: string | CaseWords): Found {
  return { name, status: "ok", message, fix: null };
}

function failed(name: string, thrown: unknown): Found {
  if (isVerbatimError(thrown)) {
    const where = thrown.where === undefined ? "" : ` (${thrown.where})`;
    return {
      name,
      status: "fail",
      message: `${thrown.code}: ${thrown.message}${where}`,
      fix: { cli: thrown.fix, others: thrown.fixAt("http") },
    };
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return {
    name,
    status: "fail",
    message,
    fix: { cli: "Run verbatim doctor --debug and report what it prints.", others: "Report it." },
  };
}

function checkNode(): Found {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return ok("node", process.versions.node);
  return { name: "node", status: "fail", message: process.versions.node, fix: "Install Node.js 20.19 or newer." };
}

async function checkGit(): Promise<Found> {
  try {
    const { stdout } = await run("git", ["--version"], { timeout: 10_000 });
    return ok("git", stdout.trim().replace(/^git version /, ""));
  } catch (thrown) {
    const fix = "Install git; workflow runs and the patch gate need it.";
    return { name: "git", status: "warn", message: `git does not respond (${(thrown as Error).message})`, fix };
  }
}

function checkFolder({ workspace }: HallPorts): Found {
  const folder = existsSync(workspace.state) ? workspace.state : workspace.root;
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    if (workspace.known) return ok("workspace", workspace.root);
    return ok("workspace", {
      cli: `${workspace.root} (not set up yet; verbatim init proposes a configuration)`,
      others: `${workspace.root} (not set up yet)`,
    });
  } catch (thrown) {
    const message = `${folder} is not writable (${(thrown as NodeJS.ErrnoException).code})`;
    return {
      name: "workspace",
      status: "fail",
      message,
      fix: { cli: "Change its permissions, or work elsewhere with -C DIR.", others: "Change its permissions." },
    };
  }
}

/** Said only where no agent could work in the repository: git refuses it, or it has no commit. */
async function checkRepository({ workspace, requireCommit }: HallPorts): Promise<Found[]> {
  if (workspace.workTree === null) return [];
  try {
    await requireCommit(workspace.workTree);
    return [];
  } catch (thrown) {
    return [{ ...failed("repository", thrown), status: "warn" }];
  }
}

/** Arguments, goals and recorded output may hold secrets; what others can read of them is worth knowing. */
function checkModes(ports: HallPorts): Found {
  const name = "private";
  try {
    const wide = findWidePlaces(ports);
    if (wide.length === 0) return ok(name, "only you can read what is stored about your work");
    const places = wide.join(" ");
    const message = `other users have access to ${places}, where arguments, goals and recorded output are stored`;
    return {
      name,
      status: "warn",
      message,
      fix: { cli: `chmod go= ${places}`, others: "Take the rights of other users away." },
    };
  } catch (thrown) {
    return failed(name, thrown);
  }
}

/** Every guard is actually tried, in the folder where runs would work or, before the first run, in a temporary one. */
async function checkGuards(ports: HallPorts): Promise<Found[]> {
  const { workspace, platform } = ports;
  const isThere = existsSync(workspace.state);
  const fix = {
    cli: "See what each guard needs: verbatim catalytic doctor",
    others: "See in a terminal what each guard needs: the doctor of the catalytic room says it.",
  };
  let folder: string | null = null;
  try {
    if (!isThere) folder = mkdtempSync(join(tmpdir(), "verbatim-doctor-"));
    const guards = ports.openGuards(folder ?? workspace.state);
    const answers = await guards.probe(true);
    const tried = guardOrder(platform).filter((name) => name !== "audit");
    const works = tried.filter((name) => answers[name] === "ok");
    const rest = tried
      .filter((name) => answers[name] !== "ok")
      .map((name) => `${name} ${answers[name] ?? "not tried"}`);
    const verify = checkVerify(ports, works);
    if (works.length > 0) {
      const open = works.includes("landlock") ? [describeLandlock(guards.landlockAbi())] : [];
      return [ok("guards", [`${works.join(", ")} tested and working`, ...open, ...rest].join("; ")), verify];
    }
    const message = ["no guard works here: runs are watched but not confined", ...rest].join("; ");
    return [{ name: "guards", status: "warn", message, fix }, verify];
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    return [{ name: "guards", status: "warn", message: `the guards cannot be tested here (${why})`, fix }];
  } finally {
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
  }
}

/** What of agents was never tried, or is not there, on this kind of machine. */
function checkSystem({ platform }: HallPorts): Found[] {
  const name = "agents";
  if (platform === "win32") {
    const fix = "Run Verbatim inside WSL2, on its own Linux file system.";
    return [{ name, status: "warn", message: "agents do not run on Windows itself (AGENT_NEEDS_WSL)", fix }];
  }
  if (platform !== "darwin") return [];
  const message = "what confines agents on macOS (seatbelt) was written without such a machine and never tried on one";
  return [{ name, status: "warn", message, fix: "Run agents that you do not trust inside a Linux machine." }];
}

/** What landlock leaves open depends on the kernel, so it is said with the version. */
export function describeLandlock(abi: number | null): string {
  return `landlock (ABI ${abi ?? "unknown"}) cannot deny ${gapsOf("landlock", abi).join(", ")}`;
}

/** Verification runs code of the candidate: with whose rights is worth knowing before it does. */
function checkVerify(ports: HallPorts, works: readonly string[]): Found {
  const name = "verify";
  try {
    const { isolation } = ports.config().workflow.verify;
    const isConfined = isolation !== "worktree" && works.some((guard) => guard.startsWith("ns-"));
    if (isConfined)
      return ok(name, "verify commands run in an isolated view: what they write does not reach your tree");
    const fix = 'With workflow.verify.isolation "auto" and a working namespace guard they run in an isolated view.';
    if (isolation !== "catalytic")
      return { name, status: "warn", message: "verify commands run with your rights", fix };
    return {
      name,
      status: "fail",
      message: "isolation is catalytic, but no guard here can confine verify commands",
      fix,
    };
  } catch (thrown) {
    return failed(name, thrown);
  }
}

function checkConfig(ports: HallPorts): Found {
  try {
    ports.config();
    const there = existsSync(ports.workspace.config);
    return ok("config", there ? ports.workspace.config : "no verbatim.config.json: the defaults are used");
  } catch (thrown) {
    return failed("config", thrown);
  }
}

/** Without the grammars nothing fails, and files of code are one section each: worth knowing before one searches them. */
function checkGrammars(ports: HallPorts): Found {
  const name = "outline";
  const grammars = `${CODE_GRAMMARS.package} ${CODE_GRAMMARS.version}`;
  const missing = ports.missingGrammars();
  if (missing === null) return ok(name, `sections of code are made with ${grammars}`);
  return {
    name,
    status: "warn",
    message: `files of code are one section each: ${grammars} cannot be used (${missing})`,
    fix: "Install verbatim-agent again with its optional packages (npm install --include=optional).",
  };
}

/** Profiles of agents are made from public descriptions; whoever tried one with a live login says so in it. */
function checkProfiles(): Found {
  const all = builtInProfiles();
  const unchecked = all.filter(({ profile }) => profile.checked == null).map(({ profile }) => profile.name);
  return ok(
    "profiles",
    unchecked.length === 0 ? `${all.length} built in` : `${all.length} built in, unchecked: ${unchecked.join(", ")}`,
  );
}

async function checkStore(ports: HallPorts): Promise<Found[]> {
  const remote = (ports.env["VERBATIM_DATABASE_URL"] ?? "") !== "";
  if (!remote && ports.isStoreAbsent()) return [ok("database", "no store yet: it is created when it is first needed")];
  try {
    const store = await ports.store("read");
    const facts = Object.entries(await store.facts()).map(([name, value]) => `${name} ${String(value)}`);
    const verdict = await store.read(({ ledger }) => verifyLedger(ledger, ports.crypto, ports.progress));
    const first = verdict.problems[0];
    const database = ok("database", facts.join(", "));
    if (first === undefined)
      return [
        database,
        ok("ledger", `${count(verdict.entries, "entry", "entries")} in ${count(verdict.streams, "stream")} verified`),
      ];
    const message = `${first.code} in stream ${first.stream} at position ${first.position}`;
    const fix = { cli: "See every problem: verbatim ledger verify", others: "Verify the ledger to see every problem." };
    return [database, { name: "ledger", status: "fail", message, fix }];
  } catch (thrown) {
    return [failed("database", thrown)];
  }
}

/** Places of the workspace and of the user that others have rights to, though arguments, goals and output are there. */
function findWidePlaces(ports: HallPorts): string[] {
  const { workspace, userState, userConfig } = ports;
  const { folder, state, blobs, database } = workspace;
  const keys = join(userConfig, "keys");
  const secret = existsSync(keys) ? readdirSync(keys).filter((name) => name.endsWith(".key")) : [];
  return [
    folder,
    state,
    blobs,
    join(folder, "runs"),
    ...["", "-wal", "-shm", "-journal"].map((side) => `${database}${side}`),
    userState,
    ports.findRunsRoot(),
    keys,
    ...secret.map((name) => join(keys, name)),
  ].filter((place) => ports.isWide(place));
}
