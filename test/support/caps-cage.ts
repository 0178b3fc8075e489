import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { launchCapped } from "../../src/adapters/guards/caps/launch-capped.ts";
import { type BindLauncher, findGroups, MECHANISMS } from "../../src/adapters/guards/mechanisms.ts";
import type { CapHit, Caps, HeldBy } from "../../src/core/contracts/caps.ts";
import { GUARD_FACTS, type GuardName } from "../../src/core/contracts/guards.ts";
import { isVerbatimError } from "../../src/core/errors/index.ts";
import type { LaunchRequest, RunningCommand } from "../../src/rooms/catalytic/ports.ts";

export interface CappedRequest {
  readonly guard: GuardName;
  readonly bind: BindLauncher;
  readonly base: string;
  readonly caps: Caps;
  readonly command: readonly string[];
  /** As on a machine whose kernel gives us no control group. */
  readonly ungrouped: boolean;
}

export interface Capped {
  readonly held: HeldBy | null;
  readonly hit: CapHit | null;
  readonly output: string;
  readonly exit_code: number;
  /** Sizes of the files that the command left in its folder, read while they are there. */
  readonly left: Readonly<Record<string, number>>;
}

/** Runs one command under caps, straight through a guard; a text says why the guard does not work here. */
export async function runCapped(request: CappedRequest): Promise<Capped | string> {
  const { guard, bind, base, caps } = request;
  const [root, work] = [join(base, "root"), join(base, "work")];
  const isNamespace = GUARD_FACTS[guard].class === "namespace";
  const layer = { index: 0, kind: guard === "ns-overlay" ? "overlay" : "copy", path: root } as const;
  const copy = join(work, "cp0");
  const output: Buffer[] = [];
  let held: HeldBy | null = null;
  let hit: CapHit | null = null;
  try {
    const running = await launchCapped<LaunchRequest, RunningCommand>(
      {
        guard,
        run_id: `caps-${process.pid}`,
        root,
        work,
        layers: isNamespace ? [layer] : [],
        writable: isNamespace ? [] : [copy],
        holes: [],
        keeps: [],
        command: request.command,
        cwd: isNamespace ? root : copy,
        env: { PATH: "/usr/bin:/bin" },
        network: "inherit",
        timeout_ms: 60_000,
        stdin: "null",
        caps: {
          ...caps,
          onHeld: (by) => {
            held = by;
          },
          onHit: (one) => {
            hit = one;
          },
        },
        onOutput: (_stream, bytes) => void output.push(Buffer.from(bytes)),
      },
      (one) => MECHANISMS[guard].launch(one, bind),
      request.ungrouped ? () => null : findGroups(guard, bind),
    );
    const { exit_code } = await running.ended;
    const place = isNamespace ? running.merged(layer) : copy;
    const left = Object.fromEntries(readdirSync(place).map((name) => [name, statSync(join(place, name)).size]));
    await running.release();
    return { held, hit, output: Buffer.concat(output).toString("utf8"), exit_code, left };
  } catch (thrown) {
    if (!isVerbatimError(thrown) || thrown.code !== "GUARD_START_FAILED") throw thrown;
    return thrown.message;
  }
}
