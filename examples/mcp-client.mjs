// @ts-check
// A client of the Model Context Protocol: starts `verbatim mcp`, searches, and reads the slice it was pointed to.
// Needs the client: npm install @modelcontextprotocol/client
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { check, makeSample } from "./sample.mjs";

const sample = makeSample();
const verbatim = fileURLToPath(new URL("../bin/verbatim.js", import.meta.resolve("verbatim-agent")));
const client = new Client({ name: "harbour", version: "1.0.0" });

/**
 * What a tool answers, or an error with what it says: a record in the first text block, then exact texts.
 *
 * @param {string} name
 * @param {Record<string, unknown>} input
 */
async function call(name, input) {
  const { content, isError } = await client.callTool({ name, arguments: input });
  const [record = "", ...texts] = content.map((block) => (block.type === "text" ? block.text : ""));
  if (isError) throw new Error(`${name}: ${record}`);
  return { record: JSON.parse(record), texts };
}

try {
  const args = [verbatim, "mcp", "-C", sample.repository];
  const env = Object.fromEntries(Object.entries(sample.env).flatMap(([key, value]) => (value ? [[key, value]] : [])));
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env }));
  const { tools } = await client.listTools();
  check(tools.some(({ name }) => name === "context_search") && tools.length <= 8, "the server has at most eight tools");

  const { record: found } = await call("context_search", { query: "high water" });
  check(found.results[0].ref.startsWith("docs/tides.md#"), "the search points to docs/tides.md");
  const { texts } = await call(found.next.tool, { ...found.next.arguments, slice: "lines[0:3]" });
  check(texts[0] === "## High water\n\nHigh water is at six.", "the slice is what the file says");
} finally {
  await client.close();
  sample.remove();
}
