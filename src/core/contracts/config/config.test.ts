import { describe, expect, it } from "vitest";
import { parseJson } from "../../canonical/index.ts";
import { parseContract } from "../index.ts";
import { CONFIG, withDefaults } from "./config.ts";

const resolve = (text: string) => withDefaults(parseContract(CONFIG, parseJson(text)));

describe("the configuration", () => {
  it("without any key has every documented default", () => {
    expect(resolve("{}")).toEqual({
      context: {
        names_sources: false,
        outline: null,
        sources: [
          "LAW/CANON/*.md",
          "LAW/CONTEXT/**/*.md",
          "SKILLS/**/*.md",
          "TOOLS/**/*.md",
          "CONTRACTS/**/*.md",
          "CORTEX/db/**/*.sql",
        ],
        exclude: ["**/node_modules/**"],
        secrets: { allow: [] },
        max_file_bytes: 33554432,
        budgets: { max_symbols: 10, max_sections: 5, max_bytes_expanded: 10000, max_expands_per_step: 3 },
      },
      catalytic: {
        profile: "standard",
        runs_root: ".verbatim/runs",
        durable_roots: [".verbatim/out"],
        catalytic_roots: [".verbatim/scratch"],
        forbidden_roots: [],
        guard: "auto",
        network: "inherit",
        memo: false,
        tripwire: { on_hit: "fail", max_entries: 250000, noise: [".git/index", ".git/index.lock", ".git/FETCH_HEAD"] },
        limits: {
          max_entries: 500000,
          stage_copy_bytes: 1073741824,
          log_bytes: 16777216,
          quarantine_bytes: 1073741824,
          output_bytes: 16 * 1024 ** 3,
        },
        signing: { key_file: null, pinned_keys: [] },
        writer_skills: "warn",
      },
      workflow: {
        mandatory_docs: [
          { path: "AGENTS.md", required: true },
          { path: "ai_context/00_AI_CONTRACT.md", required: true },
          { path: "ai_context/CTCP_FAST_RULES.md", required: true },
          { path: "docs/00_CORE.md", required: false },
          { path: "PATCH_README.md", required: false },
        ],
        names_mandatory_docs: false,
        runs_root: null,
        librarian: { deny_prefixes: [], max_snippet_file_bytes: 268435456 },
        secrets: { allow: [], deny_extra: [] },
        patch: expect.objectContaining({ allow_roots: ["."], max_files: 5, max_added_lines: 400 }),
        limits: { max_patch_rejections: 10 },
        require_analysis: false,
        verify: { gates: new Map(), setup: [], share: [], env_allow: [], isolation: "auto" },
        guardian: { allow_root_scope: false, allow_contract_edits: false },
        behaviors: {
          index: "docs/behaviors/INDEX.md",
          roots: ["."],
          exclude_prefixes: [
            "docs/behaviors",
            ".git",
            "runs",
            "build",
            "dist",
            "node_modules",
            "__pycache__",
            ".verbatim",
          ],
          exclude_extensions: [".md", ".mdx", ".txt", ".rst", ".adoc", ".json", ".lock"],
          marker: "BEHAVIOR_ID",
          comment_prefixes: null,
          max_file_bytes: 1048576,
        },
        providers: {
          api_agent: { plan_cmd: null, patch_cmd: null, agent_cmd: null, timeout_s: 600, env_allow: [] },
          ollama_agent: null,
          openai_agent: null,
        },
        dispatch: {
          schema_version: "ctcp-dispatch-config-v1",
          mode: "manual_outbox",
          role_providers: { librarian: "local_exec", contract_guardian: "local_exec" },
          budgets: { max_outbox_prompts: 20 },
        },
        templates_dir: null,
        apply: "auto",
      },
      agent: {
        patch: expect.objectContaining({ max_files: 50, max_added_lines: 2000 }),
        attest: { key: null, notes: true },
        caps: { memory: null, processes: null, disk: null },
        caps_at_most: [],
        first_patch: {},
        policy: {},
        profile: null,
        profiles: {},
        commands: {},
        parallel: 2,
        apply: null,
        env: { pass: [], set: {} },
        timeout_s: null,
        fix: 0,
        untrusted: [],
        verify: {
          commands: [],
          setup: [],
          base: "auto",
          copy_max: 5_000_000_000,
          timeout_s: 1800,
          baseline: true,
          unmask: [],
        },
        masks: { add: [], show: [] },
        redact: { patterns: [] },
        network: null,
        hosts: [],
        max_usd: null,
        sessions: "run",
        retention: { keep_runs: 50, keep_days: 30, max_bytes: 2_000_000_000 },
        keep: [],
      },
    });
  });

  it("has the constants of CMP-01 in its profile", () => {
    const { catalytic } = resolve('{"catalytic":{"profile":"cmp-01"}}');
    expect(catalytic.runs_root).toBe("LAW/CONTRACTS/_runs");
    expect(catalytic.durable_roots).toEqual([
      "LAW/CONTRACTS/_runs",
      "NAVIGATION/CORTEX/_generated",
      "MEMORY/LLM_PACKER/_packs",
    ]);
    expect(catalytic.catalytic_roots).toHaveLength(5);
  });

  it("allows lock files to agents and not to role-driven runs", () => {
    const { workflow, agent } = resolve("{}");
    expect(workflow.patch.deny_suffixes).toContain(".lock");
    expect(agent.patch.deny_suffixes).toEqual(workflow.patch.deny_suffixes.filter((suffix) => suffix !== ".lock"));
    expect(agent.patch.deny_prefixes).toEqual(workflow.patch.deny_prefixes);
  });

  it("replaces a field that is given and keeps the others beside it", () => {
    const { workflow, catalytic } = resolve(`{
      "catalytic": {"tripwire": {"on_hit": "report"}, "limits": {"log_bytes": 0}},
      "workflow": {"patch": {"allow_roots": []}, "providers": {"ollama_agent": {"model": "small"}},
        "verify": {"gates": {"constructor": [{"argv": ["make"]}]}},
        "librarian": {"deny_prefixes": ["private"]}, "behaviors": {"index": "INDEX.md"}}}`);
    expect(catalytic.tripwire).toMatchObject({ on_hit: "report", max_entries: 250000 });
    expect(catalytic.limits).toMatchObject({ log_bytes: 0, max_entries: 500000 });
    expect(workflow.patch).toMatchObject({ allow_roots: [], max_files: 5 });
    expect(workflow.providers.ollama_agent).toEqual({
      base_url: "http://localhost:11434",
      model: "small",
      timeout_s: 600,
    });
    expect([...workflow.verify.gates]).toEqual([["constructor", [{ argv: ["make"], timeout_s: 1800, cwd: "." }]]]);
    expect(workflow.behaviors.exclude_prefixes).toEqual([
      ".git",
      "runs",
      "build",
      "dist",
      "node_modules",
      "__pycache__",
      ".verbatim",
      "private",
    ]);
  });

  it("gives every caller defaults of its own", () => {
    const first = resolve("{}");
    first.workflow.mandatory_docs[0]!.path = "CHANGED.md";
    first.context.sources.push("**/*");
    first.workflow.patch.deny_prefixes.length = 0;
    const second = resolve("{}");
    expect(second.workflow.mandatory_docs[0]!.path).toBe("AGENTS.md");
    expect(second.context.sources).toHaveLength(6);
    expect(second.workflow.patch.deny_prefixes).toContain(".verbatim/");
  });
});
