import { spawn, spawnSync } from "node:child_process";
import { closeSync, constants, existsSync, lstatSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import type { LaunchRequest, RunningCommand } from "../../rooms/catalytic/ports.ts";
import { sendSignal } from "../process/children.ts";
import { endMarked } from "../process/leftovers.ts";
import { type Leash, toStdin } from "../process/supervisor.ts";
import { ControlledLauncher, startFailed } from "./control.ts";
import { writeNothing } from "./nothing.ts";
import { BUBBLEWRAP_SCRIPT, SHUT_SCRIPT, UNABSTRACT_SCRIPT } from "./scripts.ts";
import { makeCallFilter } from "./seccomp.ts";
import { findTool } from "./tools.ts";

/**
 * The first process inside: it says READY when everything is in place, waits for the command, counts what the command
 * left and says EXIT. The kernel ends the rest with it. Signals to the group are for the command: it outlives them, and its
 * own words about them must not reach the log.
 */
const toFirstProcess = (request: LaunchRequest) => `for d in "$1" "$2"; do
  if [ -n "$d" ] && (: > "$d/.verbatim-guard-probe") 2>/dev/null; then
    rm -f "$d/.verbatim-guard-probe"; echo "guard: $d can still be written" >&2; exit 125
  fi
done
relay=$3
shift 3
trap : HUP INT QUIT TERM
echo READY >&3
exec 5>&2 2>/dev/null
${limitCommand(request)} 2>&5 3>&- 5>&- 6>&- 7>&-
code=$?
left=-1
if [ -n "$relay" ]; then
  state=X
  read -r pid name state rest < "/proc/$relay/stat" && left=-2
  case $state in Z|X) echo LOST >&3;; esac
fi
for p in /proc/[0-9]*; do left=$((left + 1)); done
echo "EXIT $code 0 $left" >&3
exit 0`;

/** The command, in its control groups and with the limits of the kernel that a shell can set. */
function limitCommand({ limits }: LaunchRequest): string {
  if (limits === undefined) return `"$@"`;
  const join = limits.groups.map((_, i) => `echo 0 >&${GROUP_FD + i}; exec ${GROUP_FD + i}>&-`);
  const count = limits.processes === null ? [] : [toProcessLimit(limits.processes)];
  // A shell counts in blocks of 512 bytes.
  const file = `ulimit -f ${Math.max(1, Math.floor(limits.file / 512))}`;
  return `(set -e; ${[...join, file, ...count].join("; ")}; set +e; exec "$@")`;
}

/** Shells disagree about the letter. */
function toProcessLimit(most: number): string {
  return `ulimit -u ${most} 2>/dev/null || ulimit -p ${most}`;
}

/** Where the process inside finds the folder of the way out, the filter of its sockets, and its groups. */
const FOLDER_FD = 6;
const FILTER_FD = 7;
/** The variables of the command, as words for bubblewrap: in its arguments everybody could read them. */
const VARIABLES_FD = 5;
/** The control groups of the command, at most two. */
const GROUP_FD = 8;

/** Private folders of the system: their content is hidden from the command. */
const HIDDEN_FOLDERS = ["/run/user", "/run/dbus", "/run/podman", "/run/containerd"];
const HIDDEN_SOCKETS = ["/run/docker.sock", "/var/run/docker.sock"];
const READ_ONLY_IN_PROC = ["/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus"];
/** What root may still do to the files of a domain that belong to others. */
const KEPT_CAPABILITIES = ["CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID"];

/**
 * Starts a command in namespaces made by bubblewrap, which needs neither perl nor util-linux. Only copies can be
 * swapped in: bubblewrap of the common distributions has no overlays.
 */
export async function launchInBubblewrap(
  request: LaunchRequest,
  perl: string | null = findTool("perl"),
): Promise<RunningCommand> {
  const bwrap = findTool("bwrap");
  if (bwrap === null) throw startFailed("bwrap is missing");
  if (perl === null && hasSecrets(request)) {
    throw startFailed("perl is missing, which keeps it from sockets without a path; with --network none it needs none");
  }
  mkdirSync(`${request.work}/tmp`, { recursive: true });
  writeNothing(nothingIn(request.work));
  const sh = ["/bin/sh", "-c", toFirstProcess(request), "sh", request.work, coversRoot(request) ? "" : request.root];
  const inner = [
    ...toUnabstract(request, perl),
    ...startRelay(request, perl),
    ...sh,
    ...(needsRelay(request) ? [] : [""]),
  ];
  const argv = [...toArguments(request), "--", ...inner, ...request.command];
  const files = openFiles(request);
  // Without perl what the caller left open stays open: no shell closes descriptors above 9 everywhere.
  const shut = perl === null ? [] : [perl, "-e", SHUT_SCRIPT, process.arch, String(4 + files.length)];
  const [program, ...words] = [...shut, bwrap, ...argv] as [string, ...string[]];
  const child = spawn(program, words, {
    stdio: [toStdin(request), "pipe", "pipe", "pipe", "pipe", ...files],
    cwd: "/",
    detached: true,
    // The command's variables would steer bubblewrap itself, outside: the linker loads what LD_PRELOAD names.
    env: { PATH: "/usr/bin:/bin", VERBATIM_RUN_ID: request.run_id, VERBATIM_RUN_WORK: request.work },
  });
  for (const file of files) if (file !== "ignore") closeSync(file);
  const inside = readFirstPid(child.stdio[4] as NodeJS.ReadableStream);
  // The first process is in the command's group and ignores its signals. It has no more rights than the command,
  // which can get into it, so it is not asked to end: the kernel ends everything inside with it.
  const leash: Leash = {
    signal: (name) => void inside.then((pid) => sendSignal([-pid], name)),
    kill: () => launcher.destroy(),
  };
  const launcher = new ControlledLauncher(child, request, leash);
  const supervisor = await launcher.started();
  return {
    launcher: "bubblewrap",
    pid: child.pid!,
    ended: supervisor.ended.then(async (ending) => {
      await launcher.exited;
      await endMarked(request, [process.pid]);
      return ending;
    }),
    interrupt: (name) => supervisor.interrupt(name),
    ask: (name) => supervisor.ask(name),
    end: () => supervisor.end(),
    merged: (layer) => `${request.work}/cp${layer.index}`,
    release: () => launcher.release(),
  };
}

/** Ports below 1024 cannot be had inside, so there is no name service: names go through the proxy only. */
const RELAYED = ["proxy:1", "server:1"];

function needsRelay({ relay = [] }: LaunchRequest): boolean {
  return relay.some((word) => RELAYED.includes(word));
}

/** The relay is started by perl, which then becomes the first process. */
function startRelay(request: LaunchRequest, perl: string | null): string[] {
  if (!needsRelay(request)) return [];
  if (perl === null) throw startFailed("perl is missing, which passes connections on");
  const words = request.relay!.filter((word) => RELAYED.includes(word));
  return [perl, "-e", BUBBLEWRAP_SCRIPT, process.arch, String(FOLDER_FD), words.join(","), String(SHELL_WORDS)];
}

/** With a network of its own a command has none of the machine's sockets without a path; with the machine's, perl keeps it off. */
function toUnabstract({ network }: LaunchRequest, perl: string | null): string[] {
  return perl === null || network !== "inherit" ? [] : [perl, "-e", UNABSTRACT_SCRIPT];
}

/** Whether things are hidden from a command that a service of the machine, asked through such a socket, could tell it. */
function hasSecrets({ network, hidden = [] }: LaunchRequest): boolean {
  return network === "inherit" && hidden.length > 0;
}

/** Words of the shell before the number of the relay. */
const SHELL_WORDS = 6;

/** The folder of the way out, which only the relay gets to see, the filter of the command, and its control groups. */
function openFiles(request: LaunchRequest): (number | "ignore")[] {
  const variables = openVariables(request);
  const groups = (request.limits?.groups ?? []).map((file) => openSync(file, constants.O_WRONLY));
  const filter = makeCallFilter(process.arch, request.network !== "inherit");
  if (filter === null) throw startFailed(`there is no filter of system calls for ${process.arch}`);
  writeFileSync(`${request.work}/filter`, filter, { mode: 0o600 });
  const folder = needsRelay(request) ? openSync(request.work, constants.O_RDONLY | constants.O_DIRECTORY) : "ignore";
  return [variables, folder, openSync(`${request.work}/filter`, constants.O_RDONLY), ...groups];
}

/** A file with the variables; what bubblewrap has read it closes. */
function openVariables({ work, env }: LaunchRequest): number {
  const words = Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]);
  writeFileSync(`${work}/variables`, ["--clearenv", ...words].map((word) => `${word}\0`).join(""), { mode: 0o600 });
  return openSync(`${work}/variables`, constants.O_RDONLY);
}

function toArguments(request: LaunchRequest): string[] {
  const { root, work, layers, holes, keeps, cwd, network } = request;
  const isRoot = process.getuid?.() === 0;
  const argv = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"];
  for (const place of READ_ONLY_IN_PROC) if (existsSync(place)) argv.push("--ro-bind", place, place);
  for (const place of HIDDEN_FOLDERS) if (isFolder(place)) argv.push("--tmpfs", place, "--remount-ro", place);
  for (const place of HIDDEN_SOCKETS) if (existsSync(place)) argv.push("--ro-bind", "/dev/null", place);
  const replaced = ["/dev", ...["/tmp", "/var/tmp"].filter(isFolder)];
  const size = toSize(request);
  // Shared memory has a file system of its own, and nothing else of /dev is written.
  if (size.length > 0) argv.push("--perms", "1777", ...size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev");
  for (const place of replaced.slice(1)) argv.push("--perms", "1777", ...size, "--tmpfs", place);
  const { hidden = [], shown = [] } = request;
  const isBelow = (place: string, folders: readonly string[]) => folders.some((one) => place.startsWith(`${one}/`));
  const outer = hidden.filter((place) => !isBelow(place, [root]) && isFolder(place));
  for (const place of outer) argv.push("--tmpfs", place);
  replaced.push(...outer);
  // What is below a folder that was replaced comes back at its place; of the work directory of a view nothing does.
  const own = [root, ...(outer.includes(work) ? [] : [work]), ...layers.map(({ path }) => path)];
  for (const place of byLength([...own, ...(request.visible ?? []), ...shown])) {
    if (isBelow(place, replaced) && existsSync(place)) argv.push("--ro-bind", place, place);
  }
  for (const { index, path } of layers) argv.push("--bind", `${work}/cp${index}`, path);
  for (const { from, to } of holes) {
    const real = toOriginal(request, from);
    if (existsSync(real) && existsSync(to)) argv.push("--ro-bind", real, to);
  }
  const inner = hidden.filter((place) => isFolder(place) && !outer.includes(place));
  // Also in a place that came back, such as the repository behind a copy.
  const again = hidden.filter((place) => isBelow(place, [...(request.visible ?? []), root]) && isFolder(place));
  const covers = [...new Set([...inner, ...again])];
  for (const place of covers) argv.push("--tmpfs", place);
  for (const { from, to } of keeps) if (existsSync(to)) argv.push("--bind", toOriginal(request, from), to);
  if (coversRoot(request) && !outer.includes(work)) argv.push("--ro-bind", work, work);
  // Behind everything that came back or is kept: a hidden file may lie in it.
  const back = [root, ...(request.visible ?? []), ...keeps.map(({ to }) => to)];
  for (const place of hidden) {
    const isGone = isBelow(place, replaced) && !isBelow(place, back);
    if (!isGone && isOther(place)) argv.push("--ro-bind", nothingIn(work), place);
  }
  argv.push("--perms", "1777", ...size, "--tmpfs", `${work}/tmp`);
  for (const name of ["t", "c"]) argv.push("--perms", "0700", "--dir", `${work}/tmp/${name}`);
  for (const place of new Set([...outer, ...covers])) argv.push("--remount-ro", place);
  argv.push(
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    ...(network === "inherit" ? [] : ["--unshare-net"]),
    ...["--seccomp", String(FILTER_FD)],
  );
  if (isRoot) argv.push("--cap-drop", "ALL", ...KEPT_CAPABILITIES.flatMap((name) => ["--cap-add", name]));
  else argv.push("--unshare-user", "--uid", String(process.getuid?.()), "--gid", String(process.getgid?.()));
  argv.push("--args", String(VARIABLES_FD));
  argv.push("--die-with-parent", "--new-session", "--as-pid-1", "--json-status-fd", "4", "--chdir", cwd);
  return argv;
}

/** What lies on top of a hidden file. */
function nothingIn(work: string): string {
  return `${work}/nothing`;
}

let knowsSize: boolean | undefined;

/** How large the next temporary file system may get. Versions before 0.7 cannot say. */
function toSize({ limits }: LaunchRequest): string[] {
  if (limits === undefined) return [];
  knowsSize ??= spawnSync(findTool("bwrap")!, ["--help"], { encoding: "utf8" }).stdout.includes("--size");
  return knowsSize ? ["--size", String(limits.temporary)] : [];
}

/** From the outside in: a folder comes before what is in it. */
function byLength(places: readonly string[]): string[] {
  return [...places].sort((a, b) => a.length - b.length);
}

/** A view replaces the whole root, so nothing of the root itself is read-only. */
function coversRoot({ layers, root }: LaunchRequest): boolean {
  return layers.some(({ path }) => path === root);
}

/** Bubblewrap binds from the real tree, where the lower side of a layer is the layer's own path. */
function toOriginal({ layers }: LaunchRequest, from: string): string {
  const lower = /^lo([0-9]+)\/(.*)$/s.exec(from);
  const layer = lower === null ? undefined : layers.find(({ index }) => index === Number(lower[1]));
  return layer === undefined ? from : `${layer.path}/${lower![2]}`;
}

function isFolder(place: string): boolean {
  return lstatSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Anything but a folder: a file, a socket. */
function isOther(place: string): boolean {
  return lstatSync(place, { throwIfNoEntry: false })?.isDirectory() === false;
}

/** Bubblewrap says which process, seen from outside, is the first one inside. */
function readFirstPid(status: NodeJS.ReadableStream): Promise<number> {
  return new Promise((resolve) => {
    let text = "";
    status.on("error", () => undefined);
    status.on("data", (bytes: Buffer) => {
      text += bytes.toString();
      const found = /"child-pid": ([0-9]+)/.exec(text);
      if (found !== null) resolve(Number(found[1]));
    });
  });
}
