import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { PlainReporter } from "./tools/plain-reporter.ts";
import { RaisedCodesReporter, recordRaisedCodes } from "./tools/raised-codes.ts";

const globalSetup = "./test/support/global-setup.ts";
const long = Boolean(process.env["VERBATIM_LONG"]);

export default defineConfig({
  plugins: [recordRaisedCodes()],
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    exclude: ["**/node_modules/**", ...(long ? [] : ["test/long/**"])],
    globalSetup: existsSync(new URL(globalSetup, import.meta.url)) ? [globalSetup] : [],
    setupFiles: ["./test/support/record-raised.ts"],
    pool: "forks",
    // The default leaves one core idle; one more than there are cores, because many tests wait for processes and servers.
    maxWorkers: Math.max(2, availableParallelism()) + 1,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 20_000,
    reporters: [["default", { summary: false }], new RaisedCodesReporter({ strict: false }), new PlainReporter()],
  },
});
