import { isVerbatimError } from "../../src/core/errors/index.ts";
import { type MaskCageRequest, runMasked } from "./mask-cage.ts";

/** The same in a process of another user. */
const answer = await runMasked(JSON.parse(process.argv[2] ?? "") as MaskCageRequest).then(
  (output) => ({ output, why: null }),
  (thrown: unknown) => {
    if (!isVerbatimError(thrown) || thrown.code !== "GUARD_START_FAILED") throw thrown;
    return { output: "", why: thrown.message };
  },
);
process.stdout.write(`${JSON.stringify(answer)}\n`, () => process.exit(0));
