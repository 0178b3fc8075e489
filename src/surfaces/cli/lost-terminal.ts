import { closeSync, openSync } from "node:fs";
import { isatty } from "node:tty";

/**
 * Lets go of a terminal that is gone by the time this process ends. Node 20 then puts back the settings of the terminal it
 * began with, and aborts where the system refuses that; a stream that is something else by now it leaves alone.
 */
export function watchTerminal(): void {
  const terminals = [0, 1, 2].filter((fd) => isatty(fd));
  if (terminals.length > 0) process.once("exit", () => releaseLost(terminals));
}

function releaseLost(terminals: readonly number[]): void {
  for (const fd of terminals) {
    if (isatty(fd)) continue;
    closeSync(fd);
    // The lowest number that is free is this one.
    openSync("/dev/null", "r+");
  }
}
