import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { launchInNamespaces } from "../../src/adapters/guards/namespace.ts";
import type { Bench } from "../harness.ts";

const LIMIT_MS = 60;

/** How long it takes until a command runs under the strongest guard. The goal is a number of milliseconds. */
export const catalyticStart: Bench = {
  name: "catalytic-start",
  what: "N starts of true under ns-overlay, from the call until the command runs",
  baseline: `N times ${LIMIT_MS} ms, which is the goal`,
  corpus: "one empty domain",
  sizes: [5],
  goal: { kind: "time", atMost: 1.0 },
  async prepare(size) {
    const base = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-bench-")));
    const domain = join(base, "domain");
    mkdirSync(domain);
    let count = 0;
    const start = async () => {
      const work = join(base, `work-${++count}`);
      mkdirSync(work);
      const running = await launchInNamespaces({
        guard: "ns-overlay",
        run_id: `bench-${count}`,
        root: base,
        work,
        layers: [{ index: 0, kind: "overlay", path: domain }],
        writable: [],
        holes: [],
        keeps: [],
        command: ["true"],
        cwd: base,
        env: { PATH: "/usr/bin:/bin" },
        network: "inherit",
        timeout_ms: 10_000,
        stdin: "null",
        onOutput: () => undefined,
      });
      return running;
    };
    return {
      async ours() {
        for (let i = 0; i < size; i++) {
          const running = await start();
          // What follows the start is not part of it, but has to end.
          void running.ended.then(() => running.release());
        }
      },
      baseline: size * LIMIT_MS,
      async close() {
        await wait(500);
        rmSync(base, { recursive: true, force: true });
      },
    };
  },
};
