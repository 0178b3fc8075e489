import { createHash } from "node:crypto";
import type { Worker } from "../../rooms/world/ports.ts";
import { readHost } from "./host.ts";

const HOLDER = /^([0-9a-f]{16})\/([1-9][0-9]{0,9})\/([0-9]{1,20}|unknown)(?:\/|$)/;

/** This process as holders of locks are named: machine, number, when it began. */
export function readWorker(): Worker {
  const { host, boot_id, pid_ns, pid, pid_start, startOf } = readHost();
  // Numbers of processes mean something only on one machine that has not been started anew.
  const machine = createHash("sha256")
    .update(JSON.stringify([host, boot_id, pid_ns]))
    .digest("hex")
    .slice(0, 16);
  return {
    name: `${machine}/${pid}/${pid_start}`,
    isGone(holder) {
      const [, where, number, began] = HOLDER.exec(holder) ?? [];
      if (where !== machine || number === undefined) return false;
      const now = startOf(Number(number));
      return now === null || (began !== "unknown" && now !== "unknown" && now !== began);
    },
  };
}
