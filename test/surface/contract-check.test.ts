import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runInProcess } from "../support/cli-in-process.ts";

/** What the product writes passes its own contracts; the same with one field changed does not, hash by hash. */

let cwd = "";

const run = async (argv: readonly string[]) => {
  const said = await runInProcess(argv, cwd);
  expect(said.stderr === "" || said.exit === 0, `${argv.join(" ")}: ${said.stderr}`).toBe(true);
  return said.stdout;
};

async function judge(object: string, text: string): Promise<readonly (readonly [string, string])[]> {
  writeFileSync(join(cwd, "judged"), text);
  const { exit, stdout } = await runInProcess(["contract", "check", object, "judged", "--json"], cwd);
  const { problems } = JSON.parse(stdout) as { problems: { code: string; pointer: string }[] };
  expect(exit).toBe(problems.length === 0 ? 0 : 1);
  return problems.map(({ code, pointer }) => [code, pointer]);
}

const written: Record<string, string> = {};

beforeAll(async () => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-contract-")));
  mkdirSync(join(cwd, "LAW", "CANON"), { recursive: true });
  writeFileSync(join(cwd, "LAW", "CANON", "DAY.md"), "# Day\nTwo boats came in.\n## Evening\nThe lamp was lit.\n");
  await run(["index", "build"]);
  await run(["symbol", "add", "@LOG/DAY", "--file", "LAW/CANON/DAY.md", "--slice", "lines[1:2]"]);
  const message = {
    intent: "read the log",
    refs: ["@LOG/DAY"],
    ops: [{ type: "READ", target: "@LOG/DAY", params: { output: "day" } }],
    budgets: { max_symbols: 9, max_sections: 9, max_bytes_expanded: 999, max_expands_per_step: 9 },
    required_outputs: ["day"],
  };
  writeFileSync(join(cwd, "message.json"), JSON.stringify(message));
  const { job_id } = JSON.parse(await run(["job", "submit", "message.json", "--json"])) as { job_id: string };
  await run(["bundle", "build", job_id, "--out", "bundle"]);
  await run([
    "catalytic",
    "run",
    "--run-id",
    "sweep",
    "--domain",
    ".verbatim/scratch/a",
    "--guard",
    "audit",
    "--",
    "true",
  ]);
  const ledger = await run(["ledger", "export"]);
  const plan = ledger.split("\n").find((line) => line.includes('"kind":"PLAN"'))!;
  written["section-index-line"] = await run(["index", "export"]);
  written["ledger-entry"] = ledger;
  written["plan"] = JSON.stringify((JSON.parse(plan) as { body: unknown }).body);
  written["receipt"] = (await run(["job", "receipts", job_id, "--json"])).split("\n")[0]!;
  written["bundle-manifest"] = readFileSync(join(cwd, "bundle", "bundle.json"), "utf8");
  written["proof"] = readFileSync(join(cwd, ".verbatim", "runs", "sweep", "PROOF.json"), "utf8");
  written["catalytic/ledger"] = readFileSync(join(cwd, ".verbatim", "runs", "sweep", "LEDGER.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .at(-1)!;
});

afterAll(() => rmSync(cwd, { recursive: true, force: true }));

describe("contract check of what the product wrote", () => {
  it.each(["section-index-line", "ledger-entry", "plan", "receipt", "bundle-manifest", "proof", "catalytic/ledger"])(
    "finds nothing wrong with a real %s",
    async (object) => {
      expect(await judge(object, written[object]!)).toEqual([]);
    },
  );

  it.each([
    ["section-index-line", /"line_start":2/, '"line_start":1', ["SECTION_ID_MISMATCH", "/section_id"]],
    ["ledger-entry", /"kind":"PLAN"/, '"kind":"PLANS"', ["LEDGER_HASH_MISMATCH", "/hash"]],
    ["plan", /lines\[1:2\]/, "lines[0:2]", ["PLAN_HASH_MISMATCH", "/plan_hash"]],
    ["receipt", /"day":"sha256:.{8}/, '"day":"sha256:00000000', ["RECEIPT_OUTPUT_MISMATCH", "/outputs/day"]],
    ["bundle-manifest", /"message_id":"msg_.{4}/, '"message_id":"msg_0000', ["BUNDLE_ID_MISMATCH", "/bundle_id"]],
    ["proof", /"domains_identical":true/, '"domains_identical":false', ["PROOF_HASH_MISMATCH", "/proof_hash"]],
    ["catalytic/ledger", /"intent":"/, '"intent":"not ', ["LEDGER_CHAIN_BROKEN", "/body_hash"]],
  ])("finds one field of a real %s changed", async (object, from, to, problem) => {
    const changed = written[object]!.replace(from, to);
    expect(changed).not.toBe(written[object]);
    expect(await judge(object, changed)).toEqual([problem]);
  });
});
