import { GUARD_FACTS, GUARD_NAMES, type GuardName } from "../../../core/contracts/guards.ts";
import type { RoomPorts } from "../operations/ports.ts";
import { listUnfinished } from "../recover/unfinished.ts";
import { listLocks } from "../run/lock-files.ts";
import { worksOf } from "../run/places.ts";
import { GUARD_FIXES, gapsOf, guardOrder } from "./guard-choice.ts";

/** Tries every guard again and says what it can do, which one would be chosen, and what is left from earlier runs. */
export async function examine(ports: RoomPorts) {
  const probes = await ports.guards.probe(true);
  const abi = ports.guards.landlockAbi();
  const here = guardOrder(ports.host.platform);
  const guards = GUARD_NAMES.map((name) => {
    const answer =
      name === "audit" ? "ok" : here.includes(name) ? (probes[name] ?? "NOT_THIS_PLATFORM") : "NOT_THIS_PLATFORM";
    const works = answer === "ok";
    return {
      name,
      works,
      reason: works ? null : answer,
      blocks: works ? [...GUARD_FACTS[name].blocks] : [],
      gaps: [...gapsOf(name, abi)],
      fix: works ? null : GUARD_FIXES[answer],
    };
  });
  const working = here.filter((name) => name === "audit" || probes[name] === "ok");
  const chosen: GuardName = working[0] ?? "audit";
  const { state } = ports.places();
  const locks = listLocks(ports.disk, ports.host, state).map(({ lock, state: owner }) => ({
    run_id: lock.run_id,
    path: lock.path,
    state: owner,
    halted: lock.halted === true,
  }));
  const dead = listUnfinished(ports, state)
    .filter(({ owner }) => owner === "dead")
    .map(({ run_id }) => run_id);
  return {
    guards,
    chosen,
    network_none: working.some((name) => GUARD_FACTS[name].network),
    upper: [
      { holds: "runs" as const, place: worksOf(state), file_system: ports.disk.fileSystem(worksOf(state)) },
      { holds: "views" as const, place: ports.user_work, file_system: ports.disk.fileSystem(ports.user_work) },
    ],
    locks,
    dead_runs: dead,
  };
}
