import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { GOOD_PATCH, SampleRepository } from "../../../../test/support/sample-repository.ts";

const repository = new SampleRepository({
  mandatory_docs: [],
  verify: { gates: { full: [{ argv: ["sh", "-c", "exit 7"] }] } },
});
afterAll(() => repository.remove());

it.each([
  ["lite", "pass", ["lite"]],
  ["full", "fail", ["lite", "full"]],
])("a direct run up to the gate %s ends with %s, and runs no other commands", async (gate, status, ran) => {
  const created = await repository.call("new", { goal: "g", run_id: gate, direct: true, verify: ["true"], gate });
  await repository.submit("diff.patch", GOOD_PATCH, gate);
  expect(await repository.call("advance", { run: gate, no_apply: true })).toMatchObject(
    status === "pass" ? { code: "CANDIDATE_VERIFIED" } : { status, stop_reason: "max_iterations" },
  );
  const file = join(String(created["run_dir"]), "artifacts/verify_report.json");
  const report = JSON.parse(readFileSync(file, "utf8")) as {
    readonly commands: readonly { readonly cmd: string; gate: string }[];
  };
  expect(report).toMatchObject({ result: status.toUpperCase(), gate });
  expect(report.commands.filter(({ cmd }) => !cmd.startsWith("verbatim:")).map((one) => one.gate)).toEqual(ran);
});

it.each([
  ["none", [], "Scope-Deny: none"],
  ["one", ["src/list.js"], "Scope-Deny:\n- src/list.js"],
])("a plan names what must stay as it is: %s", async (run_id, deny, named) => {
  const created = await repository.call("new", { goal: "g", run_id, direct: true, verify: ["true"], deny });
  const plan = readFileSync(join(String(created["run_dir"]), "artifacts/PLAN.md"), "utf8");
  expect(plan).toContain(`\nScope-Allow:\n- .\n${named}\nGates: `);
});
