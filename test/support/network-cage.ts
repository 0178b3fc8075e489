import { chownSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createGuards } from "../../src/adapters/guards/index.ts";
import type { Connection } from "../../src/core/network/connections.ts";
import type { HostEntry } from "../../src/core/network/host-names.ts";
import type { NetworkMode } from "../../src/rooms/catalytic/contracts/constants.ts";
import { makeScratchFolder } from "./scratch.ts";
import { SOMEBODY } from "./somebody.ts";

export interface Caged {
  readonly output: string;
  readonly exit_code: number;
  readonly orphans: number;
  readonly connections: readonly Connection[];
  readonly lost: boolean;
}

export interface CageRequest {
  readonly guard: "ns-overlay" | "ns-bind";
  readonly bind: "perl" | "bubblewrap";
  readonly command: readonly string[];
  readonly hosts: readonly HostEntry[];
  readonly network: NetworkMode;
  readonly server?: number;
  readonly base: string;
  resolve(name: string): Promise<readonly string[]>;
}

/** What the attacks may reach. */
export const LISTED: readonly HostEntry[] = [
  { host: "good.test", port: 443, private: true },
  { host: "good.test", port: 80, private: true },
  { host: "*.wild.test", port: 443, private: true },
  { host: "loop.test", port: 443, private: false },
  { host: "metadata.test", port: 443, private: false },
  { host: "mapped.test", port: 443, private: false },
  { host: "nowhere.test", port: 443, private: true },
];

/** A folder for one cage, not below the temporary folder, which a command has for itself. */
export function makeCageFolder(asSomebody = false): string {
  const base = makeScratchFolder("cage-");
  for (const folder of ["root", "work", "work/cp0"]) mkdirSync(join(base, folder));
  const { uid, gid } = SOMEBODY;
  if (asSomebody && uid !== undefined) {
    for (const folder of ["", "root", "work", "work/cp0"]) chownSync(join(base, folder), uid, gid);
  }
  return base;
}

/** Runs a command with a network of its own, straight through the guards. */
export async function runCaged(request: CageRequest): Promise<Caged> {
  const { base, guard } = request;
  const connections: Connection[] = [];
  const output: Buffer[] = [];
  let lost = false;
  const [root, work] = [join(base, "root"), join(base, "work")];
  const running = await createGuards(null, base, request.bind, request.resolve).launch({
    guard,
    run_id: `cage-${process.pid}`,
    root,
    work,
    layers: [{ index: 0, kind: guard === "ns-bind" ? "copy" : "overlay", path: root }],
    writable: [],
    holes: [],
    keeps: [],
    hidden: [work],
    command: request.command,
    cwd: root,
    env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin" },
    network: request.network,
    timeout_ms: 120_000,
    stdin: "null",
    reach: {
      hosts: request.hosts,
      onConnection: (connection) => void connections.push(connection),
      onLost: () => {
        lost = true;
      },
      ...(request.server === undefined
        ? {}
        : { server: { port: request.server, path: "/own", variable: "OWN_SERVER" } }),
    },
    onOutput: (_stream, bytes) => void output.push(Buffer.from(bytes)),
  });
  const { exit_code, orphans_killed: orphans } = await running.ended;
  await running.release();
  return { output: Buffer.concat(output).toString("utf8"), exit_code, orphans, connections, lost };
}

export function removeCage(base: string): void {
  rmSync(base, { recursive: true, force: true });
}
