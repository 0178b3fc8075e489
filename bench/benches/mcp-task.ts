import { existsSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { openInProcess } from "../../test/support/mcp-in-process.ts";
import { type CallTool, followHints, toQuery, type Way } from "../../test/support/task-caller.ts";
import {
  makeTaskRepository,
  QUESTIONS,
  type Question,
  REPOSITORIES,
  type TaskRepository,
} from "../../test/support/task-repositories.ts";
import type { Bench } from "../harness.ts";
import { ROOT } from "../places.ts";

const PACKER = join(ROOT, "bench/node_modules/repomix/bin/repomix.cjs");

/** Asks repomix as its tools are described: pack, look for the words of the question, and read all if they did not lead there. */
async function packAndGrep(question: Question, root: string, call: CallTool): Promise<Way> {
  const steps: string[] = [];
  let bytes = 0;
  const ask = async (name: string, input: Readonly<Record<string, unknown>>) => {
    const text = (await call(name, input)).join("\n");
    bytes += Buffer.byteLength(text);
    steps.push(name);
    return text;
  };
  const packed = await ask("pack_codebase", { directory: root });
  const outputId = /"outputId":\s*"([^"]+)"/.exec(packed)?.[1] ?? "";
  const pattern = toQuery(question.ask).split(" ").join("|");
  const found = await ask("grep_repomix_output", { outputId, pattern, ignoreCase: true, contextLines: 3 });
  const isThere = (text: string) =>
    text.includes(JSON.stringify(question.line).slice(1, -1)) || text.includes(question.line);
  const reached = isThere(found) || isThere(await ask("read_repomix_output", { outputId }));
  return { reached, calls: steps.length, bytes, steps };
}

/** All thirty questions; what they cost on average. */
async function askAll(name: string, way: (question: Question) => Promise<Way>): Promise<{ readonly bytes: number }> {
  const ways: Way[] = [];
  for (const question of QUESTIONS) ways.push(await way(question));
  const average = (of: (one: Way) => number) => ways.reduce((sum, one) => sum + of(one), 0) / ways.length;
  const reached = ways.filter((one) => one.reached).length;
  const calls = average((one) => one.calls);
  const bytes = average((one) => one.bytes);
  console.error(`${name}: ${reached} of ${ways.length} reached, ${calls.toFixed(2)} calls, ${bytes.toFixed(0)} bytes`);
  return { bytes };
}

export const mcpTask: Bench = {
  name: "mcp-task",
  what: "bytes of answers until the right lines are there, on average; a caller that only follows the tools' hints",
  baseline: "repomix 1.14.0 as an MCP server: pack_codebase, grep_repomix_output, else read_repomix_output",
  corpus: "three repositories with code, ten questions each",
  sizes: [QUESTIONS.length],
  unit: "bytes",
  goal: { kind: "time", atMost: 1 },
  maxRounds: 1,
  onAsking: true,
  unavailable: () => (existsSync(PACKER) ? null : "repomix is not installed; npm ci --prefix bench installs it"),
  async prepare() {
    const repositories = new Map<string, TaskRepository>();
    for (const name of REPOSITORIES) repositories.set(name, makeTaskRepository(name));
    const servers = new Map<string, Awaited<ReturnType<typeof openInProcess>>>();
    for (const [name, { root, env }] of repositories) servers.set(name, await openInProcess(root, env));
    const packer = new Client({ name: "verbatim-bench", version: "0.0.0" });
    await packer.connect(
      new StdioClientTransport({ command: process.execPath, args: [PACKER, "--mcp"], stderr: "ignore" }),
    );
    const textsOf = (result: unknown) =>
      (result as { content: { type: string; text?: string }[] }).content.map(({ text }) => text ?? "");
    return {
      ours: () =>
        askAll("verbatim", (question) =>
          followHints(question, async (name, input) =>
            textsOf(await servers.get(question.repository)!.clients.modern.callTool({ name, arguments: { ...input } })),
          ),
        ),
      baseline: () =>
        askAll("repomix", (question) =>
          packAndGrep(question, repositories.get(question.repository)!.root, async (name, input) =>
            textsOf(await packer.callTool({ name, arguments: { ...input } })),
          ),
        ),
      async close() {
        await packer.close();
        for (const server of servers.values()) await server[Symbol.asyncDispose]();
        for (const repository of repositories.values()) repository.remove();
      },
    };
  },
};
