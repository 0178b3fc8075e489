// @ts-check
// A client of the Model Context Protocol: starts `verbatim mcp`, searches, and reads the slice it was pointed to.
// Needs the client: npm install @modelcontextprotocol/client
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { check, makeSample } from "./sample.js";

const sample = makeSample();
const verbatim = fileURLToPath(new URL("../bin/verbatim.js", import.meta.resolve("verbatim-agent")));
const client = new Client({ name: "harbour", version: "1.0.0" });

/**
 * What a tool answers, or an error with what it says.
 *
 * @param {string} name
 * @param {Record<string, unknown>} input
 */
async function call(name, input) {
  const { structuredContent, isError } = await client.callTool({ name, arguments: input });
  if (isError) throw new Error(`${name}: ${JSON.stringify(structuredContent)}`);
  return /** @type {any} */ (structuredContent);
}

try {
  const args = [verbatim, "mcp", "-C", sample.repository];
  const env = Object.fromEntries(Object.entries(sample.env).flatMap(([key, value]) => (value ? [[key, value]] : [])));
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env }));
  const { tools } = await client.listTools();
  check(tools.some(({ name }) => name === "context_search") && tools.length <= 8, "the server has at most eight tools");

  const { results } = await call("context_search", { query: "high water", refresh: true });
  check(results[0].file_path === "docs/tides.md", "the search points to docs/tides.md");
  const { expansions } = await call("context_expand", { refs: [results[0].section_id], slice: "lines[0:3]" });
  check(expansions[0].content === "## High water\n\nHigh water is at six.", "the slice is what the file says");
} finally {
  await client.close();
  sample.remove();
}
