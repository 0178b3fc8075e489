import { constants } from "node:os";
import type { Ending } from "../../rooms/catalytic/ports.ts";

/** The name of a signal number, such as SIGKILL. */
function signalName(number: number): string | null {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? null;
}

/** How a command ended, in the words of a proof: 124 for a timeout, 128+n for a signal. */
export function toEnding(parts: {
  readonly code: number | null;
  readonly signal: number;
  readonly timed_out: boolean;
  readonly interrupted: boolean;
  readonly orphans_killed: number;
}): Ending {
  const { code, signal, timed_out, interrupted, orphans_killed } = parts;
  const name = signal === 0 ? null : (signalName(signal) ?? `SIG${signal}`);
  const exit_code = timed_out ? 124 : signal !== 0 ? 128 + signal : (code ?? 0);
  return { exit_code, signal: name, timed_out, interrupted, orphans_killed };
}
