import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Client as NewClient } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { openWorkspace } from "../../src/index.ts";
import { recordSaid } from "./said-codes.ts";
import { sampleBundle } from "./sample-bundle.ts";

/** What both generations of the client have in common, as far as tests use it. */
export interface AnyClient {
  listTools(params?: object): Promise<{ readonly tools: readonly Tool[]; readonly nextCursor?: string | undefined }>;
  callTool(params: { name: string; arguments?: Record<string, unknown> }): Promise<unknown>;
  listResources(params?: object): Promise<{
    readonly resources: readonly { readonly uri: string; readonly name: string }[];
    readonly nextCursor?: string | undefined;
  }>;
  listResourceTemplates(): Promise<{ readonly resourceTemplates: readonly { readonly uriTemplate: string }[] }>;
  readResource(params: { uri: string }): Promise<{ readonly contents: readonly object[] }>;
  close(): Promise<void>;
}

export interface Tool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: { readonly type: string; readonly [key: string]: unknown };
  readonly annotations?: object | undefined;
}

export interface ToolResult {
  readonly content: readonly { readonly type: string; readonly text: string }[];
  /** What the first block says, read by the test's own client; servers send text blocks only. */
  readonly answer: Readonly<Record<string, never>> & {
    readonly error?: { readonly code: string; readonly fix: string; readonly details: Record<string, unknown> | null };
  };
  readonly isError?: boolean;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

const INFO = { name: "verbatim-tests", version: "0.0.0" };

/** Clients of both generations, not connected yet. */
export function makeClients(): { readonly modern: NewClient; readonly legacy: OldClient } {
  const modern = new NewClient(INFO, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  const legacy = new OldClient(INFO);
  for (const client of [modern, legacy]) recordRefusals(client as unknown as AnyClient);
  return { modern, legacy };
}

/** Reads the record of every answer, and writes down the codes of refusals: a server may be a process of its own. */
function recordRefusals(client: AnyClient): void {
  const call = client.callTool.bind(client) as (...args: readonly unknown[]) => Promise<ToolResult>;
  const read = client.readResource.bind(client) as (...args: readonly unknown[]) => Promise<unknown>;
  Object.assign(client, {
    callTool: async (...args: readonly unknown[]) => {
      const result = await call(...args);
      const answer = JSON.parse(result.content[0]!.text) as ToolResult["answer"];
      if (result.isError === true) recordSaid(answer.error?.code ?? "");
      return { ...result, answer };
    },
    readResource: (...args: readonly unknown[]) =>
      read(...args).catch((thrown: { readonly data?: { readonly error?: { readonly code?: string } } }) => {
        recordSaid(thrown.data?.error?.code ?? "");
        throw thrown;
      }),
  });
}

export interface McpWorkspace {
  readonly base: string;
  readonly root: string;
  readonly env: { readonly HOME: string; readonly XDG_STATE_HOME: string; readonly XDG_CONFIG_HOME: string };
  remove(): void;
}

export const BUDGETS = { max_symbols: 9, max_sections: 9, max_bytes_expanded: 99_999, max_expands_per_step: 9 };

/** Calls a tool with options that the two generations take in different places. */
export function callWith(
  client: AnyClient,
  generation: "modern" | "legacy",
  params: { name: string; arguments: Record<string, unknown> },
  options: { readonly signal?: AbortSignal; readonly onprogress?: (progress: Progress) => void },
): Promise<unknown> {
  const call = client.callTool.bind(client) as (...args: readonly unknown[]) => Promise<unknown>;
  return generation === "modern" ? call(params, options) : call(params, undefined, options);
}

export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** A message of many steps, so that there is time to look on and to give up. */
export function longMessage(intent: string): Record<string, unknown> {
  const ops = Array.from({ length: 1000 }, () => ({ type: "READ", target: "@NOTES/RULES", params: {} }));
  const budgets = { max_symbols: 1, max_sections: 1, max_bytes_expanded: 999_999, max_expands_per_step: 1000 };
  return { intent, refs: ["@NOTES/RULES"], ops, budgets, required_outputs: [] };
}

/** A message that reads one symbol. */
export function readMessage(target: string, intent = "read the rules"): Record<string, unknown> {
  const ops = [{ type: "READ", target, params: { output: "rules" } }];
  return { intent, refs: [target], ops, budgets: BUDGETS, required_outputs: ["rules"] };
}

const CONFIG = { context: { sources: ["notes/**/*.md"], budgets: BUDGETS }, workflow: { mandatory_docs: [] } };

/** A workspace with files, an index, symbols, a bundle, a world, and traps beside it. */
export async function makeMcpWorkspace(): Promise<McpWorkspace> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-mcp-")));
  const root = join(base, "work");
  const env = { HOME: join(base, "home"), XDG_STATE_HOME: join(base, "state"), XDG_CONFIG_HOME: join(base, "config") };
  const put = (path: string, text: string | Uint8Array) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  put("verbatim.config.json", JSON.stringify(CONFIG));
  put("notes/rules.md", "# Rules\nBe kind.\n## Limits\nAt most five boats.\n## Tides\nLow at noon.\n");
  put("notes/long.md", `# Long\n${'The tide "comes" and goes.\n'.repeat(3000)}`);
  for (let i = 0; i < 60; i++) put(`notes/day-${String(i).padStart(2, "0")}.md`, `# Day ${i}\n\nBoats: ${i}.\n`);
  put("docs/STATUS.json", '{"secret":true}\n');
  for (const [path, bytes] of sampleBundle()) put(`bundle/${path}`, bytes);
  writeFileSync(join(base, "outside.txt"), "not for you\n");
  symlinkSync(join(base, "outside.txt"), join(root, "link.txt"));
  const app = openWorkspace(root, { env });
  await app.call("context.index-build", {});
  await app.call("context.symbol-add", { symbol_id: "@NOTES/RULES", file: "notes/rules.md", slice: "head(2)" });
  await app.call("context.symbol-add", { symbol_id: "@NOTES/LONG", file: "notes/long.md", slice: "lines[0:1600]" });
  await app.call("world.new", { title: "Harbour", world_id: "w_harbour", timezone: "UTC", person: ["ANA=Ana"] });
  await app.call("world.presence", { world: "w_harbour", present: ["GEORGE", "ANA"] });
  await app.close();
  return { base, root, env, remove: () => rmSync(base, { recursive: true, force: true }) };
}
