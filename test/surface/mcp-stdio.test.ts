import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { StdioClientTransport as NewTransport } from "@modelcontextprotocol/client/stdio";
import { StdioClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../support/cli.ts";
import {
  type AnyClient,
  callWith,
  longMessage,
  type McpWorkspace,
  makeClients,
  makeMcpWorkspace,
  type Progress,
  readMessage,
  type ToolResult,
} from "../support/mcp.ts";

// Guards: what clients of both generations of the protocol see at the real command line.

const BIN = new URL("../../bin/verbatim.js", import.meta.url).pathname;
const UNKNOWN = "0".repeat(64);
const LIMIT = 40_000;

let workspace: McpWorkspace;
const clients: Record<"modern" | "legacy", AnyClient> = {} as never;
/** Bytes of every line the server wrote to the older client. */
const lines: number[] = [];

beforeAll(async () => {
  workspace = await makeMcpWorkspace();
  const { modern, legacy } = makeClients();
  const server = {
    command: process.execPath,
    args: [BIN, "mcp"],
    cwd: workspace.root,
    env: { PATH: process.env["PATH"] ?? "", ...workspace.env },
    stderr: "ignore" as const,
  };
  const transport = new OldTransport(server);
  await Promise.all([modern.connect(new NewTransport(server)), legacy.connect(transport)]);
  const onmessage = transport.onmessage!;
  transport.onmessage = (message) => {
    lines.push(Buffer.byteLength(JSON.stringify(message)));
    onmessage(message);
  };
  clients.modern = modern as unknown as AnyClient;
  clients.legacy = legacy as unknown as AnyClient;
});

afterAll(async () => {
  await Promise.all([clients.modern.close(), clients.legacy.close()]);
  workspace.remove();
});

const GENERATIONS = ["modern", "legacy"] as const;

async function call(client: AnyClient, name: string, input: Record<string, unknown>): Promise<ToolResult> {
  const result = (await client.callTool({ name, arguments: input })) as ToolResult;
  // Text is sent once: nothing but text blocks.
  expect(result).not.toHaveProperty("structuredContent");
  expect(new Set(result.content.map(({ type }) => type))).toEqual(new Set(["text"]));
  return result;
}

async function refusal(client: AnyClient, name: string, input: Record<string, unknown>): Promise<string> {
  const { isError, answer } = await call(client, name, input);
  expect(isError).toBe(true);
  expect(Object.keys(answer.error!)).toEqual(["code", "message", "where", "fix", "details"]);
  return answer.error!.code;
}

async function readRefusal(client: AnyClient, uri: string): Promise<unknown> {
  const thrown: unknown = await client.readResource({ uri }).then(
    () => null,
    (error: unknown) => error,
  );
  const { data } = thrown as { readonly data: { readonly error: { readonly code: string } } };
  return data.error.code;
}

describe.each(GENERATIONS)("tools for the %s client", (generation) => {
  const client = () => clients[generation];

  it("are eight, in a fixed order, with closed inputs and four annotations", async () => {
    const { tools, nextCursor } = await client().listTools();
    expect(nextCursor).toBeUndefined();
    expect(tools.map(({ name }) => name)).toEqual([
      "context_search",
      "context_expand",
      "context_pack",
      "job_submit",
      "job_status",
      "patch_check",
      "bundle_verify",
      "world_beat",
    ]);
    for (const tool of tools) {
      expect(tool.description!.length).toBeLessThanOrEqual(420);
      expect(tool.inputSchema).toMatchObject({ type: "object", additionalProperties: false });
      for (const alternative of ["anyOf", "oneOf", "allOf"]) expect(tool.inputSchema).not.toHaveProperty(alternative);
      // A server that names one must send structured content besides the text.
      expect(tool).not.toHaveProperty("outputSchema");
      expect(JSON.stringify(tool)).not.toMatch(/"\$schema"|"\$id"|urn:verbatim/);
    }
    expect(tools.map(({ annotations }) => Object.values(annotations!).map(Number).join(""))).toEqual([
      "0010",
      "0000",
      "0000",
      "0101",
      "1010",
      "1010",
      "1010",
      "0001",
    ]);
    expect(Object.keys(tools[0]!.annotations!)).toEqual([
      "readOnlyHint",
      "destructiveHint",
      "idempotentHint",
      "openWorldHint",
    ]);
  });

  it("cost at most 12 kB as they come over the wire, and teach the two usual sequences", async () => {
    const from = lines.length;
    const { tools } = await client().listTools();
    const bytes = Buffer.byteLength(JSON.stringify({ jsonrpc: "2.0", id: 1, result: { tools } }));
    expect(bytes).toBeLessThanOrEqual(12_000);
    if (generation === "legacy") expect(Math.max(...lines.slice(from))).toBeLessThanOrEqual(12_000);
    const says = (name: string) => tools.find((tool) => tool.name === name)!.description;
    expect(says("context_search")).toMatch(/Usual sequence: context_search .* context_expand/);
    expect(says("patch_check")).toMatch(/Usual sequence: patch_check, .* patch_check again/);
  });

  it("publish the fields of the operations, and contract objects whole", async () => {
    const { tools } = await client().listTools();
    const properties = (name: string) =>
      tools.find((tool) => tool.name === name)!.inputSchema["properties"] as Record<string, Record<string, unknown>>;
    expect(properties("context_search")).toMatchObject({
      query: { type: "string" },
      limit: { type: "integer", minimum: 1, maximum: 100, default: 8 },
      refresh: { type: "boolean", default: true },
    });
    expect(properties("job_submit")["action"]).toMatchObject({
      enum: ["submit", "plan", "post", "run", "cancel"],
      default: "submit",
    });
    expect(properties("job_submit")["message"]).toMatchObject({
      type: "object",
      required: ["intent", "refs", "ops", "budgets", "required_outputs"],
    });
    expect(properties("patch_check")).not.toHaveProperty("file");
    expect(properties("job_submit")).not.toHaveProperty("file");
  });

  it("find places and read them, charged and recorded", async () => {
    const found = await call(client(), "context_search", { query: "boats five" });
    const { results, next } = found.answer as unknown as {
      results: readonly Record<string, string>[];
      next: { tool: string; arguments: Record<string, unknown> };
    };
    // The second of the usual calls is ready to be made, and results have nothing that it does not need.
    expect(results).toEqual([
      { ref: "notes/rules.md#Rules/Limits", slice: "lines[0:2]", lines: "3-4", preview: expect.any(String) },
    ]);
    expect(next).toEqual({ tool: "context_expand", arguments: { refs: ["notes/rules.md#Rules/Limits"] } });
    const read = await call(client(), next.tool, next.arguments);
    const { expansions } = read.answer as unknown as { expansions: { content_hash: string }[] };
    // The text stands in a block of its own, byte for byte what the hash is of, and nowhere else.
    const [record, text, ...more] = read.content.map((block) => block.text);
    expect([text, more]).toEqual([expect.stringContaining("At most five boats."), []]);
    expect(record).not.toContain("five boats");
    expect(createHash("sha256").update(text!).digest("hex")).toBe(expansions[0]!.content_hash);
    expect(expansions).toMatchObject([
      { path: "notes/rules.md", heading: ["Rules", "Limits"], first_line: 3, section_lines: 2, slice: "lines[0:2]" },
    ]);
    expect(await refusal(client(), "context_search", { query: '"open' })).toBe("SEARCH_SYNTAX");
    expect(await refusal(client(), "context_expand", { refs: ["@NOTES/RULES"], max_bytes: 3 })).toBe("BUDGET_BYTES");
    expect(await refusal(client(), "context_expand", { refs: ["@NOTES/NONE"] })).toBe("SYMBOL_UNKNOWN");
  });

  it("read paths, sections of files and ids, each with a slice of its own or one for all", async () => {
    const textsOf = async (input: Record<string, unknown>) =>
      (await call(client(), "context_expand", input)).content.slice(1).map(({ text }) => text);
    const refs = ["notes/rules.md lines[3:4]", "notes/rules.md#Rules/Tides", "@NOTES/RULES tail(1)"];
    expect(await textsOf({ refs })).toEqual(["At most five boats.", "## Tides\nLow at noon.", "Low at noon."]);
    expect(await textsOf({ refs: ["notes/rules.md", "notes/day-07.md head(1)"], slice: "lines[1:2]" })).toEqual([
      "Be kind.",
      "# Day 7",
    ]);
    const long = await call(client(), "context_expand", { refs: ["notes/long.md"] });
    expect(long.answer["expansions"]).toMatchObject([{ slice: "lines[0:80]", section_lines: 3001, first_line: 1 }]);
    expect(await refusal(client(), "context_expand", { refs: ["notes/rules.md#Rules/Boats"] })).toBe(
      "HEADING_NOT_FOUND",
    );
    expect(await refusal(client(), "context_expand", { refs: ["docs/STATUS.json"] })).toBe("FILE_NOT_INDEXED");
    expect(await refusal(client(), "context_expand", { refs: ["../outside.txt"] })).toBe("TARGET_SYNTAX");
    expect(await refusal(client(), "context_expand", { refs: ["a#b#c"] })).toBe("TARGET_SYNTAX");
  });

  it("give the closest words for a query that finds nothing", async () => {
    const none = await call(client(), "context_search", { query: "where are five boats moored" });
    expect(none.answer).toMatchObject({ total: 0, next: { tool: "context_search" } });
    const { query } = (none.answer["next"] as unknown as { arguments: { query: string } }).arguments;
    const some = await call(client(), "context_search", { query });
    expect(some.answer["results"]).toMatchObject([{ ref: "notes/rules.md#Rules/Limits" }]);
    const nothing = await call(client(), "context_search", { query: "whales squids" });
    expect(nothing.answer).toEqual({ total: 0, results: [], next: null });
  });

  it("pack files for a request, and refuse one that is not whole", async () => {
    const file_request = {
      schema_version: "ctcp-file-request-v1",
      goal: "tidy up",
      needs: [{ path: "notes/rules.md", mode: "full" }],
      budget: { max_files: 3, max_total_bytes: 2000 },
      reason: "to know the rules",
    };
    const packed = await call(client(), "context_pack", { file_request });
    expect(packed.content[1]!.text).toContain("At most five boats.");
    expect(packed.answer["sha256"]).toBe(createHash("sha256").update(packed.content[1]!.text).digest("hex"));
    expect(await refusal(client(), "context_pack", { file_request: { goal: "x" } })).toBe("FILE_REQUEST_INVALID");
    expect(await refusal(client(), "context_pack", { request: "file_request.json" })).toBe("INPUT_INVALID");
  });

  it("plan, run, show and cancel jobs", async () => {
    const message = readMessage("@NOTES/RULES", `read for ${generation}`);
    const planned = await call(client(), "job_submit", { action: "plan", message });
    expect(planned.answer["steps"]).toHaveLength(1);
    const done = await call(client(), "job_submit", { message });
    const { job_id, state } = done.answer as unknown as { job_id: string; state: string };
    expect(state).toBe("SUCCEEDED");
    const status = await call(client(), "job_status", { job_id });
    expect(status.answer).toMatchObject({ job_id, state: "SUCCEEDED" });
    const listed = await call(client(), "job_status", { action: "list" });
    expect(JSON.stringify(listed.answer)).toContain(job_id);
    const { receipts } = (await call(client(), "job_status", { action: "receipts", job_id })).answer as unknown as {
      receipts: { receipt_hash: string }[];
    };
    const read = await client().readResource({ uri: `receipt://${receipts[0]!.receipt_hash}` });
    expect(JSON.parse((read.contents[0] as { text: string }).text)).toMatchObject({ job_id, ordinal: 1 });
    expect(await refusal(client(), "job_submit", { message: { intent: "" } })).toMatch(/^MESSAGE_/);
    expect(await refusal(client(), "job_submit", { action: "cancel", job_id: "job_0000000000000000" })).toBe(
      "JOB_UNKNOWN",
    );
    expect(await refusal(client(), "job_submit", { action: "dance" })).toBe("INPUT_INVALID");
    expect(await refusal(client(), "job_status", {})).toBe("INPUT_INVALID");
  });

  it("report progress, stop when the client gives up, and go on later", async () => {
    const message = longMessage(`count for ${generation}`);
    const { job_id } = (await call(client(), "job_submit", { action: "post", message })).answer as unknown as {
      job_id: string;
    };
    const seen: Progress[] = [];
    const stop = new AbortController();
    const given = callWith(
      client(),
      generation,
      { name: "job_submit", arguments: { action: "run", job_id } },
      {
        signal: stop.signal,
        onprogress: (progress) => {
          seen.push(progress);
          stop.abort();
        },
      },
    );
    await expect(given).rejects.toThrow();
    expect(seen[0]).toMatchObject({ total: 1000, message: "steps" });
    const listed = await call(client(), "job_status", { action: "list", open: true });
    const [open] = listed.answer["jobs"] as unknown as [{ job_id: string; committed: number }];
    expect(open).toMatchObject({ job_id });
    expect(open!.committed).toBeLessThan(1000);
    const tooLong = await call(client(), "job_status", { job_id });
    expect(tooLong.answer.error).toMatchObject({
      code: "RESPONSE_TOO_LARGE",
      details: { answer: { job_id } },
    });
    const part = await call(client(), "job_status", { job_id, after: 990, limit: 5 });
    expect(part.answer["steps"]).toHaveLength(5);
    await call(client(), "job_submit", { action: "cancel", job_id });
  });

  it("judge patches", async () => {
    const patch = "--- a/notes/rules.md\n+++ b/notes/rules.md\n@@ -1,2 +1,2 @@\n # Rules\n-Be kind.\n+Be kinder.\n";
    const good = await call(client(), "patch_check", {
      patch: `diff --git a/notes/rules.md b/notes/rules.md\n${patch}`,
      no_git: true,
    });
    expect(good.answer).toMatchObject({ git_stage: "skipped", result: { verdict: "accept" } });
    const bad = await call(client(), "patch_check", {
      patch: patch.replaceAll("notes/rules.md", "../x"),
      no_git: true,
    });
    expect(bad.answer).toMatchObject({ result: { verdict: "reject" } });
    expect(await refusal(client(), "patch_check", { file: "/etc/hostname" })).toBe("INPUT_INVALID");
  });

  it("verify bundles of the workspace, and of nowhere else", async () => {
    const good = await call(client(), "bundle_verify", { path: "bundle" });
    expect(good.answer).toMatchObject({ ok: true, exit_code: 0, trust: { verdict: "UNSIGNED" } });
    const none = await call(client(), "bundle_verify", { path: "notes" });
    expect(none.answer).toMatchObject({ ok: false });
    for (const path of ["../bundle", workspace.root, "/etc", "a\\b", "bundle/../../x"])
      expect(await refusal(client(), "bundle_verify", { path })).toBe("PATH_REFUSED");
    expect(await refusal(client(), "bundle_verify", { path: "bundle", trust: "link.txt" })).toBe("PATH_REFUSED");
    expect(await refusal(client(), "bundle_verify", { path: "bundle", trust: "none.json" })).toBe("FILE_NOT_FOUND");
  });

  it("play a world", async () => {
    const text = `The ${generation} tide is out.`;
    const said = await call(client(), "world_beat", { text, request_id: `tide-${generation}` });
    const line = expect.objectContaining({ channel: "USER", text });
    const stream = { entries: expect.arrayContaining([line]) };
    expect(said.answer).toMatchObject({ stream, debug: { wrote: true } });
    expect(said._meta).toMatchObject({ "verbatim/world.say": { result: "WROTE", replayed: false } });
    const again = await call(client(), "world_beat", { text, request_id: `tide-${generation}` });
    expect(again.answer).toEqual(said.answer);
    const seen = await call(client(), "world_beat", { action: "projection", limit: 4 });
    expect(JSON.stringify(seen.answer)).toContain(text);
    const found = await call(client(), "world_beat", { action: "search", query: `${generation} tide out` });
    const result = expect.objectContaining({ verbatim_excerpt: text });
    expect(found.answer).toMatchObject({ empty: false, results: expect.arrayContaining([result]) });
    const quoted = await call(client(), "world_beat", { action: "capsule", person: "GEORGE" });
    expect(quoted.answer).toMatchObject({ person_id: "GEORGE" });
    expect(await refusal(client(), "world_beat", { world_id: "w_nowhere" })).toBe("WORLD_NOT_FOUND");
    expect(await refusal(client(), "world_beat", { action: "search", world: "x", query: "x" })).toBe("INPUT_INVALID");
    expect(await refusal(client(), "world_beat", { action: "projection", cursor: "c1.forged" })).toBe("CURSOR_INVALID");
  });

  it("judge a patch of 20 MB and answer others meanwhile", async () => {
    const lines = 400_000;
    const header = "diff --git a/big.txt b/big.txt\nnew file mode 100644\n--- /dev/null\n+++ b/big.txt\n";
    const patch = `${header}@@ -0,0 +1,${lines} @@\n${`+${"tide ".repeat(10)}\n`.repeat(lines)}`;
    expect(patch.length).toBeGreaterThan(20_000_000);
    const [judged, listed] = await Promise.all([
      call(client(), "patch_check", { patch, no_git: true }),
      call(client(), "job_status", { action: "list" }),
    ]);
    expect(judged.answer).toMatchObject({ result: { verdict: "reject", rule: "max_added_lines" } });
    expect(listed.isError).not.toBe(true);
  });

  it("do not exist under another name", async () => {
    await expect(client().callTool({ name: "shell", arguments: {} })).rejects.toThrow(/there is no tool shell/);
  });
});

describe.each(GENERATIONS)("resources for the %s client", (generation) => {
  const client = () => clients[generation];

  it("have templates for sections, symbols, receipts and the files of runs", async () => {
    const { resourceTemplates } = await client().listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      "section://{section_id}{?slice}",
      "symbol://{+symbol_id}",
      "receipt://{receipt_hash}",
      "run://agent",
      "run://agent/{run_id}",
      "run://workflow/{run_id}/{+file}",
      "run://catalytic/{run_id}/{file}",
    ]);
  });

  it("are listed by pages that neither repeat nor leave out", async () => {
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await client().listResources(cursor === undefined ? {} : { cursor });
      // The newer client walks the pages by itself.
      if (generation === "legacy") expect(page.resources.length).toBeLessThanOrEqual(50);
      seen.push(...page.resources.map(({ uri, name }) => `${uri} ${name}`));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(new Set(seen).size).toBe(seen.length);
    const sections = seen.filter((uri) => uri.startsWith("section://"));
    // Sixty days with two sections each, three headings and one, each file being a section as well.
    expect(sections).toHaveLength(60 * 2 + 4 + 2);
    expect(seen.slice(0, 2).map((one) => one.split(" ")[0])).toEqual(["symbol://@NOTES/LONG", "symbol://@NOTES/RULES"]);
  });

  it("refuse cursors that no page gave out", async () => {
    for (const cursor of ["", "abc", "WyJzZWN0aW9ucyIsIjA6eCJd.0000000000000000", "x.y.z"])
      await expect(client().listResources({ cursor })).rejects.toThrow(/CURSOR_INVALID/);
    await expect(client().listTools({ cursor: "abc" })).rejects.toThrow(/CURSOR_INVALID/);
  });

  it("give a section's record without text, and text as an expansion", async () => {
    const found = await call(client(), "context_search", { query: '"Day 0"' });
    expect(found.answer["results"]).toMatchObject([{ ref: "notes/day-00.md#Day 0" }]);
    const { resources } = await allResources(client());
    const uri = resources.find(({ name }) => name === "notes/day-00.md > Day 0")!.uri;
    const record = await client().readResource({ uri });
    expect(JSON.parse((record.contents[0] as { text: string }).text)).toMatchObject({ file_path: "notes/day-00.md" });
    const before = await countExpansions();
    const read = await client().readResource({ uri: `${uri}?slice=lines%5B0%3A1%5D` });
    expect(read.contents[0]).toMatchObject({ text: "# Day 0", mimeType: "text/markdown" });
    const symbol = await client().readResource({ uri: "symbol://@NOTES/RULES" });
    expect(symbol.contents[0]).toMatchObject({
      text: "# Rules\nBe kind.",
      _meta: { "verbatim/expansion": { slice: "head(2)", symbol_or_section_id: "@NOTES/RULES" } },
    });
    expect((await countExpansions()) - before).toBe(2);
  });

  it.each([
    [`section://${UNKNOWN}`, "SECTION_NOT_FOUND"],
    [`section://${UNKNOWN}?slice=head(1)`, "SECTION_NOT_FOUND"],
    ["section://abc", "RESOURCE_UNKNOWN"],
    [`section://${UNKNOWN}?slice=head(1)&x=1`, "RESOURCE_UNKNOWN"],
    [`section://${UNKNOWN}#x`, "RESOURCE_UNKNOWN"],
    ["symbol://@NOTES/RULES?slice=head(1)", "RESOURCE_UNKNOWN"],
    ["symbol://%zz", "RESOURCE_UNKNOWN"],
    ["symbol://@NONE/X", "SYMBOL_UNKNOWN"],
    [`receipt://${UNKNOWN}`, "RECEIPT_UNKNOWN"],
    ["file:///etc/hostname", "RESOURCE_UNKNOWN"],
    ["run://catalytic/docs/STATUS.json", "RUN_NOT_FOUND"],
    ["run://catalytic/%2Fetc/hostname", "RESOURCE_UNKNOWN"],
    ["run://catalytic/x/..%2F..%2Foutside.txt", "PATH_REFUSED"],
    ["run://agent/none", "RUN_NOT_FOUND"],
    ["run://agent/x/y", "RESOURCE_UNKNOWN"],
    ["run://agent/../x", "RESOURCE_UNKNOWN"],
    ["run://workflow/../x", "RESOURCE_UNKNOWN"],
    ["run://workflow/x/%2e%2e/%2e%2e/outside.txt", "PATH_REFUSED"],
    ["run://workflow/x//etc/hostname", "PATH_REFUSED"],
    ["run://workflow/x/a%00b", "PATH_REFUSED"],
    ["run://workflow/none/RUN.json", "RUN_NOT_FOUND"],
    [`run://workflow/${"x".repeat(5000)}/a`, "RESOURCE_UNKNOWN"],
  ])("refuse %.60s", async (uri, code) => {
    expect(await readRefusal(client(), uri)).toBe(code);
  });

  it("too long to send are refused before they are recorded", async () => {
    const before = await countExpansions();
    expect(await readRefusal(client(), "symbol://@NOTES/LONG")).toBe("RESPONSE_TOO_LARGE");
    const { isError, answer } = await call(client(), "context_expand", { refs: ["@NOTES/LONG"] });
    expect(isError).toBe(true);
    expect(answer.error).toMatchObject({ code: "RESPONSE_TOO_LARGE" });
    expect(answer.error!.details!["limit"]).toBeLessThan(LIMIT);
    expect(await countExpansions()).toBe(before);
    expect(Math.max(...lines)).toBeLessThanOrEqual(LIMIT);
  });
});

describe.each(GENERATIONS)("refusals for the %s client", (generation) => {
  it("too long to send say which refusal it was, in few bytes", async () => {
    const ops = Array.from({ length: 900 }, () => ({ type: "DANCE", target: "not a symbol", params: {} }));
    const message = { intent: "", refs: [], ops, budgets: {}, required_outputs: [] };
    const before = lines.length;
    const { isError, answer } = await call(clients[generation], "job_submit", { message });
    expect(isError).toBe(true);
    expect(answer.error).toMatchObject({
      code: "RESPONSE_TOO_LARGE",
      details: { refusal: expect.stringMatching(/^MESSAGE_/), bytes: expect.any(Number) },
    });
    expect(Number(answer.error!.details!["bytes"])).toBeGreaterThan(LIMIT);
    if (generation === "legacy") expect(Math.max(...lines.slice(before))).toBeLessThan(2000);
  });
});

/** Every resource, from all pages. */
async function allResources(client: AnyClient) {
  const resources: { readonly uri: string; readonly name: string }[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listResources(cursor === undefined ? {} : { cursor });
    resources.push(...page.resources);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return { resources };
}

/** Entries of kind EXPANSION by this surface. */
async function countExpansions(): Promise<number> {
  const { stdout } = await runCli(["ledger", "export", "--stream", "context"], {
    cwd: workspace.root,
    env: workspace.env,
  });
  const entries = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { kind: string; actor: string });
  return entries.filter(({ kind, actor }) => kind === "EXPANSION" && actor === "mcp").length;
}

describe("the process", () => {
  it("answers after garbage, keeps standard output to the protocol, and ends with its input", async () => {
    const child = spawn(process.execPath, [BIN, "mcp"], {
      cwd: workspace.root,
      env: { PATH: process.env["PATH"], ...workspace.env },
    });
    const out: Buffer[] = [];
    const answered = new Promise<void>((resolve) => {
      child.stdout.on("data", (chunk: Buffer) => {
        out.push(chunk);
        if (Buffer.concat(out).toString("utf8").includes('"id":2')) resolve();
      });
    });
    const hello = {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "raw", version: "1" },
    };
    const garbage = ["no json", '{"half":', "[]", "\u0000\u0001", '{"jsonrpc":"2.0","id":9}'];
    for (const line of [
      ...garbage,
      JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: hello }),
      JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }),
      JSON.stringify({
        jsonrpc: "2.0",
        id: 2,
        method: "tools/call",
        params: { name: "world_beat", arguments: { action: "list" } },
      }),
    ]) {
      child.stdin.write(`${line}\n`);
    }
    await answered;
    const closed = new Promise((resolve) => child.on("close", resolve));
    child.stdin.end();
    expect(await closed).toBe(0);
    const answers = Buffer.concat(out)
      .toString("utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { id: number | null; error?: { code: number } });
    // What is not JSON and what is JSON and no message are told apart, and each line of them is answered.
    expect(answers.slice(0, garbage.length).map(({ id, error }) => [id, error?.code])).toEqual([
      [null, -32_700],
      [null, -32_700],
      [null, -32_600],
      [null, -32_700],
      [9, -32_600],
    ]);
    expect(answers.slice(garbage.length).map(({ id, error }) => [id, error])).toEqual([
      [1, undefined],
      [2, undefined],
    ]);
  });

  it.each([
    [["mcp", "--max-bytes", "10"], 2, "USAGE"],
    [["mcp", "--port", "1"], 2, "USAGE"],
    [["mcp", "--colour"], 2, "USAGE"],
  ])("refuses %j", async (argv, exit, code) => {
    const result = await runCli(argv, { cwd: workspace.root, env: workspace.env });
    expect([result.exit, result.stdout]).toEqual([exit, ""]);
    expect(result.stderr).toContain(`error[${code}]`);
  });

  it("explains itself with settings that are JSON", async () => {
    const { stdout, exit } = await runCli(["mcp", "--help"], { cwd: workspace.root, env: workspace.env });
    expect(exit).toBe(0);
    const settings = stdout.split("\n").find((line) => line.includes("mcpServers"))!;
    expect(JSON.parse(settings)).toHaveProperty("mcpServers.verbatim.command", "verbatim");
    expect(stdout).toContain("Examples:\n  verbatim mcp");
    expect(readFileSync(new URL("../../docs/guides/mcp.md", import.meta.url), "utf8")).toContain(settings.trim());
  });
});
