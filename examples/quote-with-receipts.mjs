// @ts-check
// Quotes a slice of a document, and finds the receipt of that quotation in the ledger.
import { createHash } from "node:crypto";
import { isVerbatimError, openWorkspace } from "verbatim-agent";
import { check, makeSample } from "./sample.mjs";

const sample = makeSample();
const workspace = openWorkspace(sample.repository, { env: sample.env });
try {
  await workspace.context.indexBuild({});
  const { results } = await workspace.context.search({ query: "low water" });
  const address = results[0];
  check(address !== undefined, "the search finds an address");

  const refs = [address.section_id];
  const { expansions, budget } = await workspace.context.expand({ refs, slice: "lines[0:3]" });
  const quoted = expansions[0];
  check(quoted?.content === "## Low water\n\nLow water is at noon.", "the slice is what the file says, byte for byte");
  console.log(`${quoted.bytes} bytes, ${budget.limits.max_bytes_expanded - budget.used.max_bytes_expanded} left`);

  const { entries } = await workspace.ledger.show({ stream: "context" });
  const receipt = entries.find(({ kind }) => kind === "EXPANSION");
  const hash = createHash("sha256").update(quoted.content).digest("hex");
  check(
    JSON.stringify(receipt)?.includes(`"content_hash":"${hash}"`),
    "its receipt in the ledger has the hash of those bytes",
  );

  const refused = await workspace.context
    .expand({ refs, slice: "lines[0:3]", max_bytes: 10 })
    .catch((/** @type {unknown} */ error) => error);
  check(isVerbatimError(refused) && refused.code === "BUDGET_BYTES", "what is over the budget is refused, not cut");
  check((await workspace.ledger.verify({})).ok, "the ledger verifies");
} finally {
  await workspace.close();
  sample.remove();
}
