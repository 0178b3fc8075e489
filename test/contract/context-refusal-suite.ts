import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type ContextWorkspace, type OpenWorkspace, RULES } from "../support/context-workspace.ts";

const RUN = "11111111-2222-4333-8444-555555555555";
const DEFAULTS = { max_symbols: 10, max_sections: 5, max_bytes_expanded: 10_000, max_expands_per_step: 3 };

/** Catalytic Chat Contract, Error Policy: all errors are logged with full context. */
export function describeRefusals(open: OpenWorkspace): void {
  describe("a refusal", () => {
    async function indexed(): Promise<ContextWorkspace> {
      const workspace = open();
      workspace.write("rules.md", RULES);
      await workspace.build();
      return workspace;
    }

    const refusalsOf = async (workspace: ContextWorkspace) =>
      (await workspace.ledger()).filter(({ kind }) => kind === "REFUSED");

    it("is in the ledger with what was asked, by whom, and why not", async () => {
      const workspace = await indexed();
      const refused = await workspace.refusal("expand", { refs: ["@CANON/NONE"], run_id: RUN, max_bytes: 7 });
      expect(await refusalsOf(workspace)).toEqual([
        {
          kind: "REFUSED",
          actor: "library",
          body: {
            operation: "context.expand",
            code: "SYMBOL_UNKNOWN",
            message: refused.message,
            where: refused.where,
            input: { refs: ["@CANON/NONE"], run_id: RUN, budgets: { ...DEFAULTS, max_bytes_expanded: 7 } },
            details: refused.details,
          },
        },
      ]);
    });

    it("of every operation that would have changed something is recorded, of those that only look, and of what cannot be read, is not", async () => {
      const workspace = await indexed();
      workspace.write("broken.md", Uint8Array.from([0x61, 0xff]));
      workspace.write("symbols.jsonl", '{"symbol_id":"@CANON/RULES"}\n');
      const symbol = { symbol_id: "@CANON/RULES", file: "none.md", slice: "head(1)" };
      for (const [name, input] of [
        ["index-build", {}],
        ["expand", { refs: ["0".repeat(64)], slice: "head(1)" }],
        ["symbol-add", symbol],
        ["symbol-replace", { ...symbol, file: "rules.md" }],
        ["symbol-remove", { symbol_id: "@CANON/NONE" }],
        ["symbol-repin", { symbol_id: "@CANON/NONE" }],
        ["symbol-import", { file: "symbols.jsonl" }],
        ["symbol-import", { file: "none.jsonl" }],
        ["symbol-add", { symbol_id: "@CANON/RULES", slice: "head(1)" }],
        ["symbol-show", { symbol_id: "@CANON/NONE" }],
        ["section-show", { section_id: "0".repeat(64) }],
        ["search", { query: '"unclosed' }],
      ] as const) {
        await workspace.refusal(name, input);
      }
      const bodies = (await refusalsOf(workspace)).map(({ body }) => body as { operation: string; code: string });
      expect(bodies.map(({ operation, code }) => [operation, code])).toEqual([
        ["context.index-build", "INDEX_SOURCES_INVALID"],
        ["context.expand", "SECTION_NOT_FOUND"],
        ["context.symbol-add", "FILE_NOT_INDEXED"],
        ["context.symbol-replace", "SYMBOL_UNKNOWN"],
        ["context.symbol-remove", "SYMBOL_UNKNOWN"],
        ["context.symbol-repin", "SYMBOL_UNKNOWN"],
        ["context.symbol-import", "SYMBOL_INVALID"],
      ]);
    });

    it("of something enormous is recorded by its hash, size and beginning", async () => {
      const workspace = await indexed();
      const refs = [`@CANON/${"\u00e9\ud800".repeat(400_000)}`];
      await workspace.refusal("expand", { refs, slice: "head(1)" });
      const [entry] = await refusalsOf(workspace);
      const body = entry!.body as { message: string; input: { sha256: string; bytes: number; beginning: string } };
      const escaped = "\\u00e9\\ufffd".repeat(400_000);
      const text = `{"budgets":{"max_bytes_expanded":10000,"max_expands_per_step":3,"max_sections":5,"max_symbols":10},"refs":["@CANON/${escaped}"],"slice":"head(1)"}`;
      expect(body.input).toEqual({
        sha256: createHash("sha256").update(text).digest("hex"),
        bytes: text.length,
        beginning: text.slice(0, 512),
      });
      expect(JSON.stringify(entry).length).toBeLessThan(6000);
    });

    it("cannot flood the ledger: 64 in ten minutes are recorded and the last of them says so", async () => {
      const workspace = await indexed();
      const refuse = async (times: number) => {
        for (let i = 0; i < times; i++) await workspace.refusal("expand", { refs: [`@CANON/NONE${i}`] });
      };
      await refuse(40);
      // Another process at the same store starts no count of its own.
      await workspace.reopen();
      await refuse(40);
      const recorded = await refusalsOf(workspace);
      const marked = recorded.flatMap(({ body }, i) => ("more_unrecorded" in (body as object) ? [i] : []));
      expect([recorded.length, marked]).toEqual([64, [63]]);
      workspace.clock.advance(600_001);
      await refuse(1);
      expect((await refusalsOf(workspace)).length).toBe(65);
    });
  });
}
