import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import { runDisk } from "../../../adapters/disk/runs/run-disk.ts";
import type { RoomPorts } from "../operations/ports.ts";
import { acquireLocks, haltLocks } from "../run/lock-files.ts";
import { examine } from "./doctor.ts";

/** A machine on which one process lives, and guards answer as told. */
function machine(
  abi: number | null,
  probes: Readonly<Record<string, string>> = { landlock: "ok", audit: "ok" },
  platform = "linux",
): RoomPorts {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-doctor-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return {
    guards: { probe: async (again: boolean) => (again ? probes : {}), landlockAbi: () => abi },
    host: {
      platform,
      host: "here",
      boot_id: "b",
      pid_ns: "n",
      pid: 7,
      pid_start: "s7",
      startOf: (pid: number) => (pid === 7 ? "s7" : null),
    },
    crypto: nodeCrypto,
    places: () => ({ root: "/r", state: join(folder, "state"), user_state: "/u", config: {} }),
    disk: { ...runDisk, fileSystem: (place: string) => (place.startsWith(folder) ? "ext4" : "tmpfs") },
    user_work: "/u/work",
  } as unknown as RoomPorts;
}

it.each([
  [2, ["chmod", "chown", "times", "xattr", "truncate"]],
  [3, ["chmod", "chown", "times", "xattr"]],
])("tells what landlock of version %s cannot deny", async (abi, gaps) => {
  const { guards } = await examine(machine(abi));
  expect(guards.find(({ name }) => name === "landlock")).toMatchObject({ works: true, gaps, reason: null, fix: null });
});

it("tries every guard again, tells why one does not work, and chooses the first that does", async () => {
  const probes = { "ns-overlay": "USERNS_DISABLED", "ns-bind": "ok", landlock: "ok", seatbelt: "ok" };
  const { guards, chosen, network_none } = await examine(machine(3, probes));
  const answers = Object.fromEntries(guards.map(({ name, works, reason }) => [name, works ? "works" : reason]));
  expect(answers).toEqual({
    "ns-overlay": "USERNS_DISABLED",
    "ns-bind": "works",
    landlock: "works",
    seatbelt: "NOT_THIS_PLATFORM",
    audit: "works",
  });
  expect(guards.find(({ name }) => name === "ns-overlay")).toMatchObject({
    blocks: [],
    fix: expect.stringContaining("Allow user namespaces"),
  });
  expect(guards.find(({ name }) => name === "ns-bind")!.blocks).not.toEqual([]);
  expect([chosen, network_none]).toEqual(["ns-bind", true]);
  expect(await examine(machine(3))).toMatchObject({ chosen: "landlock", network_none: false });
  expect(await examine(machine(null, {}))).toMatchObject({ chosen: "audit", network_none: false });
});

it("tells what is left of earlier runs, and where the layers are", async () => {
  const ports = machine(3);
  const { state } = ports.places();
  expect(await examine(ports)).toMatchObject({
    locks: [],
    dead_runs: [],
    upper: [
      { holds: "runs", place: join(state, "catalytic"), file_system: "ext4" },
      { holds: "views", place: "/u/work", file_system: "tmpfs" },
    ],
  });
  const claim = (run_id: string, path: string) => ({ run_id, root: "/r", paths: [path], shared: false });
  await acquireLocks(ports, state, claim("running", "a"));
  await acquireLocks(ports, state, claim("halted", "b"));
  haltLocks(ports, state, "halted");
  for (const [run_id, pid] of Object.entries({ running: 7, dead: 8 })) {
    const work = join(state, "catalytic", run_id);
    mkdirSync(work, { recursive: true });
    const owner = { host: "here", boot_id: "b", pid_ns: "n", pid, pid_start: `s${pid}` };
    const begin = { op: "BEGIN", run_id, root: "/r", record: `/r/runs/${run_id}`, ...owner };
    writeFileSync(join(work, "journal.jsonl"), `${JSON.stringify(begin)}\n`);
  }
  const { locks, dead_runs } = await examine(ports);
  expect(locks).toHaveLength(2);
  expect(locks).toEqual(
    expect.arrayContaining([
      { run_id: "running", path: "a", state: "held", halted: false },
      { run_id: "halted", path: "b", state: "held", halted: true },
    ]),
  );
  expect(dead_runs).toEqual(["dead"]);
});
