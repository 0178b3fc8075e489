// Guards: an agent at work reaches the server on loopback, as every program of the machine does, and obtains nothing there.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeAgentRepo } from "../support/agent-repo.ts";
import { serveRepo } from "../support/agent-server.ts";

/** What the agent does: everything a page of the owner could, without what a page has. Prints what it was answered. */
const ATTACK = `
  const [url, code] = process.argv.slice(1);
  const run = process.env.VERBATIM_RUN ?? "@";
  const json = { "content-type": "application/json" };
  const post = (path, body, headers = {}) => [path, { method: "POST", headers: { ...json, ...headers }, body: JSON.stringify(body) }];
  const tries = [
    ["/api/events", {}],
    ["/api/openapi.json", {}],
    ["/api/metrics", {}],
    ["/api/runs/" + run + "/output", {}],
    ["/api/runs/" + run + "/files/agent/run.json", {}],
    ["/api/tasks/t_1", {}],
    ["/api/worlds", {}],
    post("/api/operations/studio.home", {}),
    post("/api/operations/agent.list", {}),
    post("/api/operations/agent.show", { run }),
    post("/api/operations/agent.apply", { run }),
    post("/api/operations/agent.apply", { run }, { origin: url }),
    post("/api/operations/agent.apply", { run }, { authorization: "Bearer " + code }),
    post("/api/operations/agent.commands", { allow: "keeper" }),
    post("/api/operations/agent.start", { argv: ["true"], goal: "more of me" }),
    post("/api/tasks", { operation: "agent.start", input: { command: "keeper", goal: "more of me" }, key: "again" }),
    post("/api/tasks", { operation: "agent.apply", input: { run }, key: "mine" }),
    post("/mcp", { jsonrpc: "2.0", id: 1, method: "tools/list" }),
    post("/api/session", { code }),
    post("/api/session", { token: run }),
  ];
  (async () => {
    const answers = [];
    for (const [path, init] of tries) {
      // A stream that opens never ends: whoever was let in is told by its status, not by its end.
      const response = await fetch(url + path, { ...init, signal: AbortSignal.timeout(60000) });
      const text = response.ok ? "let in" : await response.text();
      answers.push([path, response.status, (/"code":"([A-Z_]+)"/.exec(text) ?? [])[1] ?? text.slice(0, 80)]);
    }
    console.log(JSON.stringify(answers));
    require("node:fs").writeFileSync("lamp.txt", "mine\\n");
  })();
`;

it("an agent in its run is refused every read and every write of the API, and cannot apply its own run", async () => {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "dark\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  const server = await serveRepo(repo);
  // The link was opened by its owner; then the agent finds it, in the history of a terminal for example.
  const code = new URL(server.http.makeLink()).hash.replace("#k=", "");
  const opened = await server.send("/api/session", { method: "POST", body: JSON.stringify({ code }) }, null);
  const { session } = (await opened.json()) as { readonly session: string };
  const own = await server.send("/api/operations/agent.list", { method: "POST", body: "{}" }, session);
  expect([opened.status, own.status]).toEqual([200, 200]);

  const command = [process.execPath, "-e", ATTACK, server.url, code];
  const { summary } = await repo.agent(["--verify", "true"], command);
  expect([summary.outcome, summary.agent.exit_code]).toEqual(["verified", 0]);
  const printed = readFileSync(join(summary.run_dir, "agent/attempts/01/output.log"), "utf8");
  const answers = JSON.parse(printed) as [string, number, string][];
  expect(answers.length).toBe(20);
  const spent = answers.filter(([path]) => path === "/api/session");
  expect(spent).toEqual([
    ["/api/session", 401, "LINK_SPENT"],
    ["/api/session", 401, "AUTH_REQUIRED"],
  ]);
  for (const [path, status, said] of answers.filter(([at]) => at !== "/api/session" && at !== "/mcp")) {
    expect([path, status, said]).toEqual([path, 401, "AUTH_REQUIRED"]);
  }
  // Nothing serves MCP here, so there is nothing to be refused by.
  expect(answers.find(([path]) => path === "/mcp")![1]).toBe(404);

  // Its change is where it was, and the tree too. The owner was told that somebody else had the link.
  expect(readFileSync(join(repo.root, "lamp.txt"), "utf8")).toBe("dark\n");
  const { timeline } = await server.call("agent.show", { run: summary.run_id });
  expect(timeline.filter(({ kind }) => kind.startsWith("AGENT_LAND"))).toEqual([]);
  const after = await server.send("/api/operations/agent.list", { method: "POST", body: "{}" }, session);
  const { error } = (await after.json()) as { readonly error: { readonly code: string } };
  expect([after.status, error.code]).toEqual([401, "SESSION_ENDED"]);
});
