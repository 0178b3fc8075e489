import { execFileSync } from "node:child_process";
import type { Bench } from "../harness.ts";
import { BIN } from "../places.ts";

/** How much the command line adds to the start of Node itself. */
export const cliStart: Bench = {
  name: "cli-start",
  what: "verbatim --version, a whole process",
  baseline: "node -e 0",
  corpus: "none",
  sizes: [1],
  goal: { kind: "time", atMost: 1.6 },
  async prepare() {
    const start = (...args: string[]): void => void execFileSync(process.execPath, args, { stdio: "ignore" });
    return { ours: () => start(BIN, "--version"), baseline: () => start("-e", "0") };
  },
};
