import { beforeEach, describe, expect, it } from "vitest";
import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { VerbatimError } from "../../src/core/errors/index.ts";
import { type PlanPorts, planMessage } from "../../src/rooms/jobs/plan/plan.ts";
import type { PlanProblem } from "../../src/rooms/jobs/plan/plan-problem.ts";
import { harbourCorpus, makeMessage, read, type TestCorpus } from "../support/job-corpus.ts";
import { execute, makePatch, TestExecutePort, TestPatchPort, write } from "../support/job-rooms.ts";
import { RUN } from "../support/job-store.ts";

const TIDES = "LAW/CANON/TIDES.md";
const PATCH = makePatch({ [TIDES]: "new\n" });

let corpus: TestCorpus;
let ports: PlanPorts;

beforeEach(() => {
  corpus = harbourCorpus().add("@TOOLS/COUNT", "TOOLS/COUNT.json", '{"jobspec":"count"}');
  corpus.add("@CANON/PART", "LAW/CANON/PART.md", "part\n", "head(1)", "HEADING");
  ports = { crypto: nodeCrypto, corpus, patch: new TestPatchPort("."), execute: new TestExecutePort(".") };
});

async function problemsOf(...args: Parameters<typeof makeMessage>): Promise<PlanProblem[]> {
  const error = await planMessage(ports, makeMessage(...args), RUN).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "MESSAGE_UNRESOLVED", exit: 1 });
  return (error as VerbatimError).details!["problems"] as PlanProblem[];
}

const pairs = (problems: readonly PlanProblem[]) => problems.map(({ code, pointer }) => [code, pointer]);

describe("planning refuses", () => {
  it("everything that is wrong at once, each problem at its place", async () => {
    corpus.symbols.set("@CANON/LOST", { target_type: "FILE", file_path: "gone.md", slice: "head(1)" });
    const problems = await problemsOf(
      [
        read("@CANON/TIDES", "head(99)"),
        read("@CANON/LOST"),
        read("@CANON/GONE"),
        read("@CANON/GONE", "head(2)"),
        read("f".repeat(64), "head(1)"),
        write("@CANON/PART", PATCH),
        execute("@TOOLS/BELL"),
        execute("@CANON/PART"),
        read("@TOOLS/BELL"),
      ],
      {
        refs: [
          "@CANON/NONE",
          "@CANON/TIDES",
          "@CANON/LOST",
          "@CANON/GONE",
          "@CANON/GONE",
          "@CANON/PART",
          "@TOOLS/BELL",
        ],
      },
    );
    expect(pairs(problems)).toEqual([
      ["SLICE_OUT_OF_BOUNDS", "/ops/0/params/slice"],
      ["FILE_NOT_INDEXED", "/ops/1/target"],
      ["SECTION_NOT_FOUND", "/ops/4/target"],
      ["WRITE_TARGET_NOT_FILE", "/ops/5/target"],
      ["EXECUTE_TARGET_NOT_JOBSPEC", "/ops/6/target"],
      ["EXECUTE_TARGET_NOT_JOBSPEC", "/ops/7/target"],
      ["SYMBOL_UNKNOWN", "/refs/0"],
      ["SYMBOL_UNKNOWN", "/refs/3"],
    ]);
  });

  it("a slice of the symbol's own at the target, with the real sizes and a suggestion", async () => {
    corpus.add("@CANON/TIDES", TIDES, "one\ntwo\n", "head(3)");
    const [problem] = await problemsOf([read("@CANON/TIDES")]);
    expect(problem).toMatchObject({
      code: "SLICE_OUT_OF_BOUNDS",
      pointer: "/ops/0/target",
      details: { lines: 2, suggested_slice: "head(2)" },
    });
  });

  it("operations that this build cannot do, and still says what else is wrong with them", async () => {
    ports = { ...ports, patch: null, execute: null };
    const problems = await problemsOf([write("@CANON/PART", PATCH), execute("@TOOLS/COUNT"), read("@TOOLS/BELL")]);
    expect(pairs(problems)).toEqual([
      ["WRITE_TARGET_NOT_FILE", "/ops/0/target"],
      ["OP_UNAVAILABLE", "/ops/0/type"],
      ["OP_UNAVAILABLE", "/ops/1/type"],
    ]);
  });
});

describe("a plan", () => {
  it("passes on what is not the message's fault", async () => {
    const down = new VerbatimError("STORE_UNAVAILABLE");
    const broken = { ...ports, corpus: { look: () => Promise.reject(down) } };
    await expect(planMessage(broken, makeMessage([read("@TOOLS/BELL")]), RUN)).rejects.toBe(down);
  });

  it("pins what every operation means: slice, patch or JobSpec, and what it was resolved to", async () => {
    const ops = [
      read("@CANON/LAMPS", undefined, "lamps"),
      read(corpus.sectionOf(TIDES), "chars[2:7]"),
      write("@CANON/TIDES", PATCH, "patch"),
      execute("@TOOLS/COUNT", "proof"),
    ];
    const { steps } = await planMessage(ports, makeMessage(ops), RUN);
    expect(steps.map(({ step: { step_id: _, ...step } }) => step)).toEqual([
      {
        ordinal: 1,
        op: "READ_SYMBOL",
        refs: { symbol_id: "@CANON/LAMPS" },
        constraints: { slice: "head(2)" },
        expected_outputs: { lamps: "content_hash" },
      },
      {
        ordinal: 2,
        op: "READ_SECTION",
        refs: { section_id: corpus.sectionOf(TIDES) },
        constraints: { slice: "chars[2:7]" },
        expected_outputs: {},
      },
      {
        ordinal: 3,
        op: "WRITE",
        refs: { symbol_id: "@CANON/TIDES" },
        constraints: { patch_sha256: nodeCrypto.sha256(PATCH) },
        expected_outputs: { patch: "patch_sha256" },
      },
      {
        ordinal: 4,
        op: "EXECUTE",
        refs: { symbol_id: "@TOOLS/COUNT" },
        constraints: { jobspec_sha256: nodeCrypto.sha256('{"jobspec":"count"}') },
        expected_outputs: { proof: "proof_hash" },
      },
    ]);
    expect(steps.map(({ resolved }) => resolved)).toEqual([
      {
        ordinal: 1,
        section_id: corpus.sectionOf("LAW/CANON/LAMPS.md"),
        file_path: "LAW/CANON/LAMPS.md",
        bytes: 20,
        content_hash: nodeCrypto.sha256("# Lamps\nRed to port."),
      },
      {
        ordinal: 2,
        section_id: corpus.sectionOf(TIDES),
        file_path: TIDES,
        bytes: 5,
        content_hash: nodeCrypto.sha256("Tides"),
      },
      { ordinal: 3, section_id: corpus.sectionOf(TIDES), file_path: TIDES },
      { ordinal: 4, section_id: corpus.sectionOf("TOOLS/COUNT.json"), file_path: "TOOLS/COUNT.json" },
    ]);
  });

  it("charges reads only, a section once by symbol and by id, and unused refs too", async () => {
    const ops = [read("@CANON/TIDES"), read(corpus.sectionOf(TIDES), "head(1)"), write("@CANON/TIDES", PATCH)];
    const { budget } = await planMessage(ports, makeMessage(ops, { refs: ["@CANON/TIDES", "@TOOLS/BELL"] }), RUN);
    expect(budget).toMatchObject({
      breach: null,
      cumulative: [
        { max_symbols: 2, max_sections: 1, max_expands_per_step: 1 },
        { max_symbols: 2, max_sections: 1, max_expands_per_step: 2 },
        { max_symbols: 2, max_sections: 1, max_expands_per_step: 2 },
      ],
    });
  });

  it("names each payload once, and only those that steps before the breach need", async () => {
    const budgets = { ...makeMessage([]).budgets, max_expands_per_step: 3 };
    const ops = [
      read("@TOOLS/BELL"),
      read("@TOOLS/BELL"),
      write("@CANON/TIDES", PATCH),
      read("@CANON/LAMPS"),
      read("@CANON/TIDES"),
      execute("@TOOLS/COUNT"),
    ];
    const { payloads, budget } = await planMessage(ports, makeMessage(ops, { budgets }), RUN);
    expect(budget.breach).toMatchObject({ ordinal: 5, code: "BUDGET_EXPANDS" });
    const texts = await Promise.all(payloads.map(async ({ load }) => new TextDecoder().decode(await load())));
    expect(texts).toEqual(["Ring twice in fog.", PATCH, "# Lamps\nRed to port."]);
  });

  it("of many large slices is cut again for storing instead of being kept, and notices a change between", async () => {
    const text = `${"tide ".repeat(400_000)}\n`;
    corpus.add("@LOG/LONG", "LOG/LONG.md", text);
    const ops = Array.from({ length: 20 }, (_, i) => read("@LOG/LONG", `chars[${i}:1900000]`));
    const budgets = { ...makeMessage([]).budgets, max_bytes_expanded: 10 ** 9 };
    const { payloads } = await planMessage(ports, makeMessage(ops, { budgets }), RUN);
    expect([payloads.length, corpus.looks]).toEqual([20, 1]);
    for (const { hash, load } of payloads) expect(nodeCrypto.sha256(await load())).toBe(hash);
    // 32 MiB were kept: 17 slices of 1.9 MB.
    expect(corpus.looks).toBe(4);
    corpus.add("@LOG/LONG", "LOG/LONG.md", text.replaceAll("tide", "wave"));
    await expect(payloads.at(-1)!.load()).rejects.toMatchObject({ code: "CONTENT_HASH_MISMATCH" });
  });
});
