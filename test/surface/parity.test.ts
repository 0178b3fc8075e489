import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App } from "../../src/app/call.ts";
import { openApp } from "../../src/app/call.ts";
import { formatCanonical } from "../../src/core/canonical/index.ts";
import { isVerbatimError } from "../../src/core/errors/index.ts";
import { openWorkspace } from "../../src/index.ts";
import { type RunningHttp, startHttp } from "../../src/surfaces/http/server/server.ts";
import { openMcpHttp } from "../../src/surfaces/mcp/mcp.ts";
import { runHere } from "../support/cli-in-process.ts";

// Guards: one table of operations behind every surface. The same input gives the same value, or the same code.

interface Case {
  readonly operation: string;
  readonly input: Record<string, unknown>;
  readonly argv: readonly string[];
  /** Operations that take local paths are not offered over HTTP. */
  readonly local?: boolean;
}

const UNKNOWN = "0".repeat(64);

const CASES: readonly Case[] = [
  { operation: "contract.list", input: {}, argv: ["contract", "list"] },
  { operation: "contract.show", input: { object: "budgets" }, argv: ["contract", "show", "budgets"] },
  { operation: "contract.show", input: { object: "nothing" }, argv: ["contract", "show", "nothing"] },
  {
    operation: "contract.check",
    input: { object: "budgets", file: "bad.json" },
    argv: ["contract", "check", "budgets", "bad.json"],
    local: true,
  },
  {
    operation: "contract.check",
    input: { object: "budgets", file: "missing.json" },
    argv: ["contract", "check", "budgets", "missing.json"],
    local: true,
  },
  { operation: "ledger.show", input: { limit: 3 }, argv: ["ledger", "show", "--limit", "3"] },
  { operation: "ledger.show", input: { limit: 0 }, argv: ["ledger", "show", "--limit", "0"] },
  { operation: "ledger.verify", input: {}, argv: ["ledger", "verify"] },
  { operation: "ledger.prove", input: { entry: UNKNOWN }, argv: ["ledger", "prove", "--entry", UNKNOWN] },
  {
    operation: "ledger.prove-consistency",
    input: { from: 1, to: 2 },
    argv: ["ledger", "prove-consistency", "--from", "1", "--to", "2"],
  },
  {
    operation: "ledger.prove-consistency",
    input: { from: 9 },
    argv: ["ledger", "prove-consistency", "--from", "9"],
  },
  {
    operation: "ledger.check-proof",
    input: { file: "bad.json" },
    argv: ["ledger", "check-proof", "bad.json"],
    local: true,
  },
  { operation: "keys.show", input: { key: "nobody" }, argv: ["keys", "show", "nobody"], local: true },
  { operation: "agent.list", input: { limit: 3 }, argv: ["agent", "list", "--limit", "3"] },
  { operation: "agent.show", input: { run: "@" }, argv: ["agent", "show", "@"] },
  { operation: "agent.verify", input: { run: "zebra" }, argv: ["agent", "verify", "zebra"] },
  { operation: "agent.apply", input: { run: "zebra" }, argv: ["agent", "apply", "zebra"] },
  { operation: "agent.undo", input: { run: "zebra" }, argv: ["agent", "undo", "zebra"] },
  { operation: "agent.discard", input: { run: "zebra" }, argv: ["agent", "discard", "zebra"] },
  { operation: "agent.logs", input: { run: "zebra" }, argv: ["agent", "logs", "zebra"], local: true },
  {
    operation: "keys.policy-check",
    input: { file: "bad.json" },
    argv: ["keys", "policy", "check", "bad.json"],
    local: true,
  },
];

let base: string;
let cwd: string;
let env: { readonly XDG_CONFIG_HOME: string };
let library: App;
let served: App;
let http: RunningHttp;
let mcp: ReturnType<typeof openMcpHttp>;

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), "verbatim-parity-"));
  cwd = join(base, "work");
  env = { XDG_CONFIG_HOME: join(base, "config") };
  mkdirSync(cwd);
  writeFileSync(join(cwd, "bad.json"), '{\n "max_symbols": -1,\n "threshold": 0\n}');
  library = openWorkspace(cwd, { env });
  await library.call("keys.new", { name: "mira" });
  for (let i = 0; i < 3; i++) await library.call("ledger.checkpoint", { key: "mira" });
  served = openApp({ surface: "http", start: cwd, env, platform: process.platform });
  const stderr = process.stderr;
  mcp = openMcpHttp({ env, platform: process.platform, stderr, version: "0.0.0" }, cwd);
  http = await startHttp({ app: served, version: "0.0.0", host: "127.0.0.1", port: 0, noToken: true });
});

afterAll(async () => {
  await http.close();
  await mcp.close();
  await served.close();
  await library.close();
  rmSync(base, { recursive: true, force: true });
});

/** The canonical text of the value, or the code it was refused with. */
async function throughLibrary({ operation, input }: Case): Promise<string> {
  try {
    return formatCanonical(await library.callUnknown(operation, input));
  } catch (thrown) {
    if (isVerbatimError(thrown)) return thrown.code;
    throw thrown;
  }
}

function toAnswer(text: string): string {
  const value = JSON.parse(text) as { readonly error?: { readonly code: string } };
  return value.error === undefined ? text.trimEnd() : value.error.code;
}

describe.each(CASES)("$operation $input", (one) => {
  it("answers the command line as it answers the library", async () => {
    const { stdout } = await runHere([...one.argv, "--json"], { cwd, env });
    expect(toAnswer(stdout)).toBe(await throughLibrary(one));
  });

  const offered =
    one.local === true ? "does not answer HTTP, because it takes paths of this machine" : "answers HTTP alike";
  it(`${offered}`, async () => {
    const response = await fetch(`${http.url}/api/operations/${one.operation}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(one.input),
    });
    const expected = one.local === true ? "OPERATION_UNKNOWN" : await throughLibrary(one);
    expect(formatOrCode(toAnswer(await response.text()))).toBe(expected);
  });
});

interface ToolCase {
  readonly tool: string;
  readonly action?: string;
  readonly operation: string;
  readonly input: Record<string, unknown>;
}

const PATCH = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";

const TOOL_CASES: readonly ToolCase[] = [
  { tool: "context_search", operation: "context.search", input: { query: "tide" } },
  { tool: "context_search", operation: "context.search", input: { query: "tide", limit: 0 } },
  { tool: "context_expand", operation: "context.expand", input: { refs: ["@NOTES/RULES"] } },
  { tool: "context_expand", operation: "context.expand", input: { refs: [] } },
  { tool: "context_pack", operation: "workflow.pack", input: { file_request: {} } },
  { tool: "job_submit", action: "plan", operation: "jobs.plan", input: { message: {} } },
  { tool: "job_submit", action: "cancel", operation: "jobs.cancel", input: { job_id: "job_none" } },
  { tool: "job_status", operation: "jobs.status", input: { job_id: "job_none" } },
  { tool: "job_status", action: "list", operation: "jobs.list", input: {} },
  { tool: "patch_check", operation: "workflow.patch-check", input: { patch: PATCH, no_git: true } },
  { tool: "patch_check", operation: "workflow.patch-check", input: { patch: "", no_git: true } },
  { tool: "bundle_verify", operation: "jobs.bundle-verify", input: { path: "nothing" } },
  { tool: "world_beat", action: "list", operation: "world.list", input: {} },
  { tool: "world_beat", action: "search", operation: "world.search", input: { query: "tide" } },
  { tool: "world_beat", action: "capsule", operation: "world.capsule", input: { person: "ANA" } },
  { tool: "world_beat", action: "projection", operation: "world.projection", input: {} },
];

describe.each(TOOL_CASES)("$operation $input", ({ tool, action, operation, input }) => {
  it("answers MCP as it answers the library", async () => {
    const body = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: tool, arguments: action === undefined ? input : { action, ...input } },
    };
    const response = await mcp.fetch(
      new Request("http://127.0.0.1/mcp", {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
        body: JSON.stringify(body),
      }),
    );
    const text = await response.text();
    const { result } = JSON.parse(text.slice(text.indexOf("{"))) as {
      readonly result: { content: { text: string }[] };
    };
    const answer = toAnswer(result.content[0]!.text);
    const other = await throughLibrary({ operation, input, argv: [] });
    // A model pays for every byte: what an address says already is left out of what a search found.
    if (operation === "context.search" && other.startsWith("{")) expect(placesOf(answer)).toEqual(placesOf(other));
    else expect(formatOrCode(answer)).toBe(other);
  });
});

function placesOf(found: string) {
  const { total, results } = JSON.parse(found) as { total: number; results: { ref: string; slice: string }[] };
  return { total, results: results.map(({ ref, slice }) => [ref, slice]) };
}

/** HTTP may order the members of an object as it likes. */
function formatOrCode(answer: string): string {
  return answer.startsWith("{") ? formatCanonical(JSON.parse(answer)) : answer;
}
