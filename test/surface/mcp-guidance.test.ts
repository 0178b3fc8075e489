import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeAgentRepo } from "../support/agent-repo.ts";
import { type AnyClient, callWith, type Progress, type ToolResult } from "../support/mcp.ts";
import { type InProcess, openInProcess } from "../support/mcp-in-process.ts";

// Guards: a client that was told nothing finds an index, prompts and the runs of agents; one in its cage only reads.

const GENERATIONS = ["modern", "legacy"] as const;

interface Prompting {
  listPrompts(): Promise<{ readonly prompts: readonly { readonly name: string }[] }>;
  getPrompt(params: { name: string; arguments?: Record<string, string> }): Promise<{
    readonly messages: readonly { readonly role: string; readonly content: Record<string, unknown> }[];
  }>;
}

async function call(client: AnyClient, name: string, input: Record<string, unknown>): Promise<ToolResult> {
  return (await client.callTool({ name, arguments: input })) as ToolResult;
}

describe.each(GENERATIONS)("a workspace without an index, for the %s client", (generation) => {
  let base: string;
  let server: InProcess;
  let env: Record<string, string>;
  const client = () => server.clients[generation];

  beforeAll(async () => {
    base = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-fresh-")));
    env = { PATH: process.env["PATH"] ?? "", HOME: base, XDG_STATE_HOME: join(base, "state") };
    writeFileSync(join(base, "verbatim.config.json"), '{"context":{"sources":["*.md"]}}');
    writeFileSync(join(base, "tides.md"), "# Tides\nLow at noon.\n");
    server = await openInProcess(base, env);
  });

  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    rmSync(base, { recursive: true, force: true });
  });

  it("is not built by one in its cage, who is told what to ask for", async () => {
    await using caged = await openInProcess(base, env, true);
    for (const [name, input] of [
      ["context_search", { query: "noon" }],
      ["context_expand", { refs: ["tides.md"] }],
    ] as const) {
      const { isError, answer } = await call(caged.clients[generation], name, input);
      expect([isError, answer.error!.code]).toEqual([true, "INDEX_MISSING"]);
      expect(answer.error!.fix).toMatch(/^Ask the user to build the index/);
    }
    const refreshed = await call(caged.clients[generation], "context_search", { query: "noon", refresh: true });
    expect(refreshed.answer.error!.code).toBe("INPUT_INVALID");
  });

  it("is built by the first call, with progress, however many come at once", async () => {
    const seen: Progress[] = [];
    const params = { name: "context_search", arguments: { query: "noon" } };
    const calls = [1, 2, 3].map(() =>
      callWith(client(), generation, params, { onprogress: (progress) => void seen.push(progress) }),
    );
    for (const found of (await Promise.all(calls)) as ToolResult[]) expect(found.answer).toMatchObject({ total: 1 });
    // One file is soon read; what is told of it depends on the room, that something is told does not.
    expect(seen.length).toBeGreaterThan(0);
    for (const { message } of seen) expect(["indexing", "making searchable"]).toContain(message);
  });

  it("is brought up to date before each search and reading, unless that is not wanted", async () => {
    writeFileSync(join(base, "tides.md"), "# Tides\nLow at one, high at seven.\n");
    const stale = await call(client(), "context_expand", { refs: ["tides.md"], refresh: false });
    expect(stale.answer.error!.code).toBe("CONTENT_HASH_MISMATCH");
    expect(stale.answer.error!.fix).toContain("context_expand");
    const read = await call(client(), "context_expand", { refs: ["tides.md lines[1:2]"] });
    expect(read.content[1]!.text).toBe("Low at one, high at seven.");
    writeFileSync(join(base, "boats.md"), "# Boats\nSeven of them.\n");
    expect((await call(client(), "context_search", { query: "them" })).answer).toMatchObject({ total: 1 });
  });

  it("says which field is missing, and requires what a tool cannot read from a terminal", async () => {
    const required = new Map(
      (await client().listTools()).tools.map((tool) => [tool.name, tool.inputSchema["required"]]),
    );
    expect(required.get("patch_check")).toEqual(["patch"]);
    expect(required.get("context_pack")).toEqual(["file_request"]);
    for (const [name, pointer] of [
      ["patch_check", "/patch"],
      ["context_pack", "/file_request"],
      ["context_search", "/query"],
      ["context_expand", "/refs"],
    ] as const) {
      const { isError, answer } = await call(client(), name, {});
      expect(isError).toBe(true);
      expect(answer.error).toMatchObject({ code: "INPUT_INVALID", message: `${pointer}: is missing`, where: pointer });
    }
  });

  it("has prompts that name tools, and refuses arguments that they do not have", async () => {
    const prompting = client() as unknown as Prompting;
    const { prompts } = await prompting.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(["quote", "review-patch", "explain-run"]);
    const quote = await prompting.getPrompt({ name: "quote", arguments: { question: "When is low water?" } });
    expect(quote.messages).toHaveLength(1);
    const text = String(quote.messages[0]!.content["text"]);
    expect(text).toContain("When is low water?");
    expect(text).toMatch(/context_search[\s\S]*context_expand/);
    const review = await prompting.getPrompt({ name: "review-patch", arguments: { patch: "diff --git a/x b/x" } });
    expect(String(review.messages[0]!.content["text"])).toMatch(/patch_check[\s\S]*diff --git a\/x b\/x$/);
    await expect(prompting.getPrompt({ name: "quote", arguments: {} })).rejects.toThrow(/INPUT_INVALID/);
    await expect(prompting.getPrompt({ name: "quote", arguments: { question: "x", y: "z" } })).rejects.toThrow(
      /INPUT_INVALID/,
    );
    await expect(prompting.getPrompt({ name: "sing" })).rejects.toThrow(/there is no prompt sing/);
    await expect(prompting.getPrompt({ name: "explain-run", arguments: { run: "none" } })).rejects.toThrow(
      /RUN_NOT_FOUND/,
    );
  });
});

describe("runs of agents", () => {
  it("are resources for the owner and come with the prompt, without commands, and are hidden from a cage", async () => {
    const repo = makeAgentRepo();
    repo.write("lamp.txt", "dark\n");
    repo.git("add", ".");
    repo.git("commit", "-qm", "first");
    const words = [
      "agent",
      "--goal",
      "light the lamp",
      "--no-verify",
      "--apply",
      "never",
      "--",
      "sh",
      "-c",
      "echo lit > lamp.txt",
    ];
    expect((await repo.verbatim(...words)).exit).toBe(0);
    const env = { PATH: process.env["PATH"] ?? "", ...repo.env } as Record<string, string>;
    await using server = await openInProcess(repo.root, env);
    let seen: string[] = [];
    for (const generation of GENERATIONS) {
      const client = server.clients[generation];
      const listed = await client.listResources();
      seen = listed.resources.map(({ uri }) => uri).filter((uri) => uri.startsWith("run:"));
      expect(seen.filter((uri) => uri.startsWith("run://workflow/")).length).toBeGreaterThan(3);
      const uris = seen.filter((uri) => uri.startsWith("run://agent"));
      expect(uris).toEqual(["run://agent", expect.stringMatching(/^run:\/\/agent\/./)]);
      const read = async (uri: string) =>
        JSON.parse(((await client.readResource({ uri })).contents[0] as { text: string }).text) as Record<
          string,
          never
        >;
      expect(await read("run://agent")).toMatchObject({ total: 1, runs: [{ uri: uris[1], goal: "light the lamp" }] });
      const report = await read(uris[1]!);
      expect(report).toMatchObject({ summary: { goal: "light the lamp", outcome: "unverified" } });
      expect(JSON.stringify(report["report"])).toContain("lamp.txt");
      expect(JSON.stringify(report["report"])).not.toMatch(/verbatim agent/);
      const run = uris[1]!.slice("run://agent/".length);
      const prompt = await (client as unknown as Prompting).getPrompt({ name: "explain-run", arguments: { run } });
      expect(prompt.messages.map(({ content }) => content["type"])).toEqual(["text", "resource"]);
      expect(JSON.stringify(prompt.messages[1])).toContain("light the lamp");
    }
    await using caged = await openInProcess(repo.root, env, true);
    const client = caged.clients.modern;
    const { resources } = await client.listResources();
    expect(resources.filter(({ uri }) => uri.startsWith("run:"))).toEqual([]);
    expect(JSON.stringify(await client.listResourceTemplates())).not.toContain("run:");
    // Their folders are hidden from it, so nothing of them may be read another way.
    for (const uri of seen) {
      await expect(client.readResource({ uri })).rejects.toMatchObject({
        data: { error: { code: "RESOURCE_UNKNOWN" } },
      });
    }
    const { prompts } = await (client as unknown as Prompting).listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(["quote", "review-patch"]);
  });
});
