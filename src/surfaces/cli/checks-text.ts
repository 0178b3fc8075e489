import type { Output } from "../../app/operations.ts";
import type { Io } from "./io.ts";

/** One line for each thing that was looked at, and under it what to do. */
export function printChecks(checks: Output<"hall.doctor">["checks"], io: Io): void {
  const paint = { ok: io.paint.good, warn: io.paint.warn, fail: io.paint.bad };
  for (const { name, status, message, fix } of checks) {
    io.line(`${paint[status](status.padEnd(4))}  ${name.padEnd(12)} ${message}`);
    if (fix !== null) io.line(`      ${"".padEnd(12)} fix: ${fix}`);
  }
}
