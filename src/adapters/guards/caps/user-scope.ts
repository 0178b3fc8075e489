import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { Caps } from "../../../core/contracts/caps.ts";
import { findTool } from "../tools.ts";

/** A scope that the user's own systemd makes around a launcher, with a control group for its command inside. */
export interface UserScope {
  /** What the launcher is started by. */
  readonly starter: readonly string[];
  /** The group that has the limits, and the one in it for the command. */
  readonly limited: string;
  readonly procs: string;
}

const PROBE_MS = 10_000;

/**
 * Runs inside the new scope, which is delegated to us: makes room for the launcher beside the group that is limited, because a
 * group with processes of its own cannot limit its children, and becomes the launcher.
 */
const SET_UP = `set -e
while IFS=: read -r n c p; do [ "$n$c" = 0 ] && s=$1$p; done < /proc/self/cgroup
mkdir "$s/keep" "$s/box"
echo 0 > "$s/keep/cgroup.procs"
echo "+memory +pids" > "$s/cgroup.subtree_control"
echo "$2" > "$s/box/memory.max"
for f in "memory.swap.max 0" "memory.oom.group 1"; do [ ! -e "$s/box/\${f% *}" ] || echo "\${f#* }" > "$s/box/\${f% *}"; done
echo "$3" > "$s/box/pids.max"
mkdir "$s/box/in"
shift 3
exec "$@"`;

/** Really goes in, and says where that was. */
const PROBE = `while IFS=: read -r n c p; do [ "$n$c" = 0 ] && s=$1$p; done < /proc/self/cgroup
echo 0 > "\${s%/keep}/box/in/cgroup.procs" && echo "\${s%/keep}"`;

/** Where the user's systemd puts scopes, by its socket; null: it does not, or gives them no limits. */
const tried = new Map<string, string | null>();

/**
 * A scope of the user's systemd; null where there is none that really limits. It is for users whose own group is not theirs to
 * divide, which is what one gets who comes by ssh. `mount` is where the second version of control groups is mounted.
 */
export function openUserScope(
  caps: Caps,
  mount: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
  run = findTool("systemd-run"),
): UserScope | null {
  const runtime = env["XDG_RUNTIME_DIR"];
  const tool = findTool("env");
  if (runtime?.startsWith("/") !== true || run === null || tool === null) return null;
  if (!existsSync(`${runtime}/systemd/private`)) return null;
  const start = (unit: string, rest: readonly string[], with_: Caps) => [
    ...[tool, `XDG_RUNTIME_DIR=${runtime}`, run, "--user", "--scope", "--quiet", "--collect", `--unit=${unit}`],
    ...["-p", "Delegate=yes", "--", "/bin/sh", "-c", SET_UP, "sh", mount],
    ...[String(with_.memory), String(with_.processes), ...rest],
  ];
  const name = () => `verbatim-${process.pid}-${randomBytes(6).toString("hex")}`;
  let slice = tried.get(runtime);
  if (slice === undefined) {
    const [program, ...words] = start(name(), ["/bin/sh", "-c", PROBE, "sh", mount], caps);
    const { status, stdout } = spawnSync(program!, words, {
      stdio: ["ignore", "pipe", "ignore"],
      timeout: PROBE_MS,
      encoding: "utf8",
      env: { PATH: "/usr/bin:/bin" },
    });
    const place = stdout.trim();
    slice = status === 0 && place.startsWith(`${mount}/`) ? dirname(place) : null;
    tried.set(runtime, slice);
  }
  if (slice === null) return null;
  const unit = name();
  const limited = `${slice}/${unit}.scope/box`;
  return { starter: start(unit, [], caps), limited, procs: `${limited}/in/cgroup.procs` };
}

/** The next scope is tried again: a command could not be started in one. */
export function forgetScopes(): void {
  tried.clear();
}
