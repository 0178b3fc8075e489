import { spawn } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { VerbatimError } from "../../core/errors/index.ts";
import type { LaunchRequest, RunningCommand } from "../../rooms/catalytic/ports.ts";
import { childrenOf } from "../process/children.ts";
import { toStdin } from "../process/supervisor.ts";
import { ControlledLauncher, formatLimits, formatPairs, formatTerminal, startFailed } from "./control.ts";
import { writeNothing } from "./nothing.ts";
import { NAMESPACE_SCRIPT } from "./scripts.ts";
import { makeCallFilter } from "./seccomp.ts";
import { findTool } from "./tools.ts";

/** The tools the namespace guards need, or null when one is missing. */
export function findNamespaceTools(): Readonly<Record<"setpriv" | "unshare" | "perl", string>> | null {
  const [setpriv, unshare, perl] = ["setpriv", "unshare", "perl"].map(findTool);
  return setpriv && unshare && perl ? { setpriv, unshare, perl } : null;
}

/** Starts a command in namespaces of its own; resolves when it was actually started. */
export async function launchInNamespaces(request: LaunchRequest): Promise<RunningCommand> {
  const tools = findNamespaceTools();
  if (tools === null) throw startFailed("setpriv, unshare or perl is missing");
  prepare(request);
  const isRoot = process.getuid?.() === 0;
  writeFileSync(`${request.work}/launch`, formatSettings(request, tools, isRoot), { mode: 0o600 });
  const unshare = ["--mount", "--pid", "--ipc", "--uts", ...(request.network === "inherit" ? [] : ["--net"])];
  unshare.push("--fork", "--kill-child=SIGKILL", "--propagation", "private", "--mount-proc");
  if (!isRoot) unshare.push("--user", "--map-root-user");
  // Without the parent-death signal a kill -9 of the tool would leave the whole tree running.
  const argv = [
    "--pdeathsig",
    "KILL",
    tools.unshare,
    ...unshare,
    tools.perl,
    "-e",
    NAMESPACE_SCRIPT,
    `${request.work}/launch`,
  ];
  const [program, ...words] = [...(request.limits?.starter ?? []), tools.setpriv, ...argv];
  const child = spawn(program!, words, {
    stdio: [toStdin(request), "pipe", "pipe", "pipe"],
    cwd: "/",
    // A session of its own: Ctrl-C in the terminal must reach the tool only, which forwards it.
    detached: true,
    env: { PATH: "/usr/bin:/bin:/usr/sbin:/sbin", VERBATIM_RUN_ID: request.run_id, VERBATIM_RUN_WORK: request.work },
  });
  const launcher = new ControlledLauncher(child, request);
  const supervisor = await launcher.started();
  let inner: number | undefined;
  return {
    launcher: "perl",
    pid: child.pid!,
    ended: supervisor.ended,
    interrupt: (signal) => supervisor.interrupt(signal),
    ask: (signal) => supervisor.ask(signal),
    end: () => supervisor.end(),
    merged(layer) {
      if (layer.kind === "copy") return `${request.work}/cp${layer.index}`;
      inner ??= findInner(child.pid!);
      return `/proc/${inner}/root${layer.path}`;
    },
    upper(layer) {
      if (layer.kind === "copy") return null;
      if (layer.kind === "overlay") return `${request.work}/up${layer.index}`;
      // That of the home folder is in memory, which only the processes inside see.
      inner ??= findInner(child.pid!);
      return `/proc/${inner}/root${request.work}/hm${layer.index}/up${layer.index}`;
    },
    release: () => launcher.release(),
  };
}

/** The first process of the namespace, seen from outside: the only child of the launcher. */
function findInner(launcher: number): number {
  const inner = childrenOf(launcher)[0];
  if (inner === undefined) throw new VerbatimError("INTERNAL", { message: "the namespace of the command is gone" });
  return inner;
}

/** Makes the folders the launcher mounts on. */
function prepare({ work, layers }: LaunchRequest): void {
  for (const name of ["dv", "tmp"]) mkdirSync(`${work}/${name}`, { recursive: true });
  writeNothing(`${work}/nothing`);
  for (const { index, kind, path } of layers) {
    const names = { copy: ["lo"], home: ["lo", "hm"], overlay: ["lo", "up", "wk"] }[kind];
    for (const name of names) mkdirSync(`${work}/${name}${index}`, { recursive: true });
    if (kind !== "overlay") continue;
    // The upper folder shows as the merged one: it has the owner and the mode of the lower.
    const { mode, uid, gid } = statSync(path);
    if (process.getuid?.() === 0) chownSync(`${work}/up${index}`, uid, gid);
    chmodSync(`${work}/up${index}`, mode & 0o7777);
  }
}

/** What the relay of a command with a network of its own is told, and the filter of its system calls. */
function formatNetwork({ network, relay = [] }: LaunchRequest): [string, string][] {
  const filter = makeCallFilter(process.arch, network !== "inherit");
  if (filter === null) throw startFailed(`there is no filter of system calls for ${process.arch}`);
  const reach = network === "inherit" ? [] : relay;
  return [["filter", filter.toString("hex")], ...reach.map((word): [string, string] => ["reach", word])];
}

/** Inside the user namespace of the command, where nobody else's processes count; with it the tool that sets it. */
function formatProcesses({ limits }: LaunchRequest): [string, string][] {
  const prlimit = findTool("prlimit");
  if (limits === undefined || limits.processes === null || prlimit === null) return [];
  return [
    ["nproc", String(limits.processes)],
    ["prlimit", prlimit],
  ];
}

function formatSettings(request: LaunchRequest, tools: { setpriv: string; unshare: string }, isRoot: boolean): string {
  const { work, root, cwd, network } = request;
  const coversRoot = request.layers.some(({ path }) => path === root);
  const pairs: [string, string][] = [
    ["arch", process.arch],
    ["mode", isRoot ? "root" : "user"],
    ["uid", String(process.getuid?.() ?? 0)],
    ["gid", String(process.getgid?.() ?? 0)],
    ["work", work],
    ["probe", coversRoot ? "" : root],
    ["cwd", cwd],
    ["net", network],
    ...formatNetwork(request),
    ["setpriv", tools.setpriv],
    ["unshare", tools.unshare],
    ["outer", root],
    ...formatTerminal(request),
    ...formatLimits(request),
    ...formatProcesses(request),
  ];
  if (!work.startsWith(`${root}/`)) pairs.push(["outer", work]);
  // A home or a kept place below the private temporary folder would be hidden by it.
  for (const { path } of request.layers) if (path !== root) pairs.push(["outer", path]);
  for (const { to } of request.keeps) pairs.push(["outer", to]);
  for (const path of request.visible ?? []) if (!path.startsWith(`${root}/`)) pairs.push(["outer", path]);
  for (const { index, kind, path } of request.layers) pairs.push(["layer", `${index}:${kind}:${path}`]);
  for (const { from, to } of request.holes) pairs.push(["hole", `${from}:${to}`]);
  for (const { from, to } of request.keeps) pairs.push(["keep", `${from}:${to}`]);
  for (const path of request.hidden ?? []) pairs.push(["hide", path]);
  for (const { how, from, path } of request.written ?? []) pairs.push(["put", `${how}:${from}:${path}`]);
  for (const path of request.masked ?? []) pairs.push(["mask", path]);
  if (request.replaced !== undefined) pairs.push(["new", request.replaced.from], ["old", request.replaced.to]);
  for (const path of request.shown ?? []) pairs.push(["show", path]);
  for (const [name, value] of Object.entries(request.env)) pairs.push(["env", `${name}=${value}`]);
  for (const arg of request.command) pairs.push(["arg", arg]);
  return formatPairs(pairs);
}
