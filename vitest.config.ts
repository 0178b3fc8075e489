import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { recordRaisedCodes } from "./tools/code-recorder.ts";
import { PlainReporter } from "./tools/plain-reporter.ts";
import { RaisedCodesReporter } from "./tools/raised-codes.ts";

const globalSetup = "./test/support/global-setup.ts";
const long = Boolean(process.env["VERBATIM_LONG"]);

const shared = {
  exclude: ["**/node_modules/**", ...(long ? [] : ["test/long/**"])],
  setupFiles: ["./test/support/record-raised.ts"],
  pool: "forks" as const,
  // Generous: a machine with other work to do makes a test slow, and that is no failure.
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 200_000 } },
  teardownTimeout: 20_000,
};

export default defineConfig({
  plugins: [recordRaisedCodes()],
  test: {
    globalSetup: existsSync(new URL(globalSetup, import.meta.url)) ? [globalSetup] : [],
    // The default leaves one core idle; one more than there are cores, because many tests wait for processes and servers.
    maxWorkers: Math.max(2, availableParallelism()) + 1,
    reporters: [["default", { summary: false }], new RaisedCodesReporter(), new PlainReporter()],
    projects: [
      {
        plugins: [recordRaisedCodes()],
        // Tests beside the source share one set of loaded modules in each worker: loading them anew took half their time.
        test: { ...shared, name: "source", include: ["src/**/*.test.ts"], isolate: false },
      },
      {
        plugins: [recordRaisedCodes()],
        test: { ...shared, name: "house", include: ["test/**/*.test.ts"] },
      },
    ],
  },
});
