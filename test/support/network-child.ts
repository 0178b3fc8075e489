import { isVerbatimError } from "../../src/core/errors/index.ts";
import { type CageRequest, runCaged } from "./network-cage.ts";

/** A cage in a process of another user: the request, with the answers of the name service as a table. */
const [text = ""] = process.argv.slice(2);
const { table, ...request } = JSON.parse(text) as Omit<CageRequest, "resolve"> & {
  readonly table: Readonly<Record<string, readonly string[]>>;
};
const started = runCaged({ ...request, resolve: async (name) => table[name] ?? [] });
const [answer, caged] = await started.then(
  (ended) => ["ok", ended] as const,
  (thrown: unknown) => {
    if (!isVerbatimError(thrown) || thrown.code !== "GUARD_START_FAILED") throw thrown;
    return [thrown.message, null] as const;
  },
);
process.stdout.write(`${JSON.stringify({ answer, caged })}\n`, () => process.exit(0));
