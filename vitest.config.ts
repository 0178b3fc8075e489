import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { recordRaisedCodes } from "./tools/code-recorder.ts";
import { PlainReporter } from "./tools/plain-reporter.ts";
import { RaisedCodesReporter } from "./tools/raised-codes.ts";

const globalSetup = "./test/support/global-setup.ts";
const long = Boolean(process.env["VERBATIM_LONG"]);

export default defineConfig({
  plugins: [recordRaisedCodes()],
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    exclude: ["**/node_modules/**", ...(long ? [] : ["test/long/**"])],
    setupFiles: ["./test/support/record-raised.ts", "./test/support/tidy-heap.ts"],
    globalSetup: existsSync(new URL(globalSetup, import.meta.url)) ? [globalSetup] : [],
    pool: "forks",
    // Test files share one set of loaded modules in each worker: loading them anew took longer than many of the tests.
    // A test that changes what is shared (the environment, the folder, a mocked module) puts it back.
    isolate: false,
    // The default leaves one core idle; one more than there are cores, because many tests wait for processes and servers.
    maxWorkers: Math.max(2, availableParallelism()) + 1,
    // Generous: a machine with other work to do makes a test slow, and that is no failure.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 200_000 } },
    teardownTimeout: 20_000,
    reporters: [["default", { summary: false }], new RaisedCodesReporter(), new PlainReporter()],
  },
});
