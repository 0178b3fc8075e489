import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeAgentRepo } from "../support/agent-repo.ts";
import { runCli } from "../support/cli.ts";
import { readMessage } from "../support/mcp.ts";

// Guards: the server an agent is given runs outside its cage, so it must not do what the agent may not.

const ASK = `
const { writeFileSync } = require("node:fs");
const { VERBATIM_MCP_URL: url, VERBATIM_MCP_TOKEN: token } = process.env;
const ask = async (method, params, authorization = "Bearer " + token) => {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", authorization },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  if (!response.ok) return response.status;
  const text = await response.text();
  return JSON.parse(text.slice(text.indexOf("{"))).result;
};
const call = async (name, input) => (await ask("tools/call", { name, arguments: input })).content.map(({ text }) => text);
const tool = async (name, input) => JSON.parse((await call(name, input))[0]);
(async () => {
  const seen = {
    url,
    tools: (await ask("tools/list", {})).tools.map(({ name }) => name),
    read: await call("context_expand", { refs: ["@NOTES/RULES"] }),
    submit: await tool("job_submit", { action: "submit", message: MESSAGE }),
    post: await tool("job_submit", { action: "post", message: MESSAGE }),
    plan: await tool("job_submit", { message: MESSAGE }),
    guessed: await ask("tools/list", {}, "Bearer " + token.replace(/.$/, (last) => (last === "0" ? "1" : "0"))),
    without: (await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" })).status,
  };
  writeFileSync("seen.json", JSON.stringify(seen));
})();
`;

describe("an agent's own MCP server", () => {
  it("reads and records for the run, runs no job, needs its own token, and is gone afterwards", async () => {
    const repo = makeAgentRepo();
    repo.write("notes/rules.md", "# Rules\nBe kind.\n");
    repo.write("verbatim.config.json", '{"context":{"sources":["notes/**/*.md"]}}');
    repo.git("add", ".");
    repo.git("commit", "-qm", "first");
    expect((await repo.verbatim("index", "build")).exit).toBe(0);
    const add = ["symbol", "add", "@NOTES/RULES", "--file", "notes/rules.md", "--slice", "head(1)"];
    expect((await repo.verbatim(...add)).exit).toBe(0);
    const script = ASK.replaceAll("MESSAGE", JSON.stringify(readMessage("@NOTES/RULES")));
    const words = ["agent", "--goal", "ask", "--no-verify", "--apply", "auto", "--json"];
    const { exit, stdout } = await runCli([...words, "--", process.execPath, "-e", script], {
      cwd: repo.root,
      env: repo.env,
    });
    expect([exit, stdout]).toEqual([0, expect.stringContaining('"outcome":"applied"')]);
    const seen = JSON.parse(readFileSync(join(repo.root, "seen.json"), "utf8")) as { readonly url: string };
    expect(seen).toMatchObject({
      tools: [
        "context_search",
        "context_expand",
        "context_pack",
        "job_submit",
        "job_status",
        "patch_check",
        "bundle_verify",
      ],
      read: [expect.stringContaining('"run_id"'), "# Rules"],
      submit: { error: { code: "INPUT_INVALID" } },
      post: { error: { code: "INPUT_INVALID" } },
      plan: { steps: [{ used: { max_expands_per_step: 1 } }] },
      guessed: 401,
      without: 401,
    });
    const { url } = seen;
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    await expect(fetch(url)).rejects.toThrow();
    const ledger = await repo.verbatim("ledger", "export", "--stream", "context");
    const actors = ledger.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { kind: string; actor: string });
    expect(actors.filter(({ kind }) => kind === "EXPANSION").map(({ actor }) => actor)).toEqual(["mcp"]);
  });

  it("answers where the agent has no network, behind the same token", async () => {
    const repo = makeAgentRepo();
    repo.write("verbatim.config.json", '{"catalytic":{"network":"none"}}');
    repo.git("add", ".");
    repo.git("commit", "-qm", "first");
    const script = `
      const { VERBATIM_MCP_URL: url, VERBATIM_MCP_TOKEN: token } = process.env;
      const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
      const ask = (more) => fetch(url, { method: "POST", headers: { ...headers, ...more }, body });
      Promise.all([ask({ authorization: "Bearer " + token }), ask({})]).then(async ([mine, nobody]) => {
        const names = [...(await mine.text()).matchAll(/"name":"([a-z]+_[a-z]+)"/g)].map(([, name]) => name);
        console.log(JSON.stringify({ url, names, nobody: nobody.status }));
      });`;
    const words = ["agent", "--goal", "look", "--no-verify", "--apply", "never"];
    const { stdout } = await runCli([...words, "--", process.execPath, "-e", script], {
      cwd: repo.root,
      env: repo.env,
    });
    const [said = "{}"] = /^\{.*\}$/m.exec(stdout) ?? [];
    const { url, names, nobody } = JSON.parse(said) as { url: string; names: string[]; nobody: number };
    expect([url, nobody]).toEqual(["http://127.0.0.1:3129/mcp", 401]);
    expect(names).toContain("context_expand");
    expect(names).not.toContain("world_beat");
    expect(stdout).toContain("the agent had no network");
  });
});
