import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { requireNetwork } from "../../src/app/agent/request/network.ts";
import { startLater } from "../../src/surfaces/http/server/lazy-mcp.ts";
import { makeAgentRepo } from "../support/agent-repo.ts";
import { runHere } from "../support/cli-in-process.ts";
import { needs } from "../support/needs.ts";
import { findObstacle, makeTable, type Origins, openOrigins } from "../support/network-origin.ts";

// Guards: what of the network an agent was left is what it had, what its verify commands have, and what the record says.

const obstacle = await findObstacle();
let origins: Origins;

beforeAll(async () => {
  if (obstacle === null) origins = await openOrigins();
});
afterAll(() => origins?.close());

const HOSTS = [
  { host: "good.test", private: true },
  { host: "good.test", port: 80, private: true },
];

function makeRepo(config: object = { agent: { hosts: HOSTS } }) {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "dark\n");
  repo.write("verbatim.config.json", JSON.stringify(config));
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  const table = obstacle === null ? makeTable(origins) : {};
  const ports = {
    resolveName: async (name: string) => table[name] ?? [],
    serveMcp: () =>
      startLater(async () => ({
        fetch: async () => new Response("never asked"),
        [Symbol.asyncDispose]: async () => undefined,
      })),
  };
  const verbatim = (...args: string[]) => runHere(args, { cwd: repo.root, env: repo.env }, ports);
  return { ...repo, verbatim };
}

const FETCH = (url: string) =>
  `fetch(${JSON.stringify(url)}).then((r) => console.log(r.status), (e) => console.log("no: " + e.cause?.code))`;

/** A small change, then one request that is allowed, one past the proxy that is not, one through it that is not. */
const WORK = [
  "echo light > lamp.txt",
  `${process.execPath} -e '${FETCH("http://good.test/").replaceAll("'", "")}'`,
  `${process.execPath} -e '${FETCH("http://telemetry.test/")}'`,
  `${process.execPath} -e 'require("net").connect(3128, "127.0.0.1").end("CONNECT telemetry.test:443 HTTP/1.1\\r\\n\\r\\n").on("data", (b) => console.log(String(b).slice(0, 12)))'`,
].join("\n");

describe("the network of an agent", needs(obstacle), () => {
  it("is told in the report, by show, in the ledger and in the proof", async () => {
    const { verbatim, root } = makeRepo();
    const flags = ["agent", "--goal", "mend the lamp", "--no-verify", "--network", "allow"];
    const said = await verbatim(...flags, "--", "/bin/sh", "-c", WORK);
    expect(said.stderr).toContain("network: only listed hosts");
    expect(said.stdout).toContain("200\nno: ENOTFOUND\nHTTP/1.1 403\n");
    expect(said.stdout).toContain(
      "  network   1 connection to good.test:80; 2 refused: telemetry.test,\n            telemetry.test:443\n            allow it: --host telemetry.test\n",
    );
    expect(said.exit).toBe(0);
    const shown = await verbatim("agent", "show", "@", "--network", "--json");
    const { connections, summary } = JSON.parse(shown.stdout) as {
      readonly connections: readonly object[];
      readonly summary: {
        readonly run_dir: string;
        readonly run_id: string;
        readonly proof: { readonly directory: string };
      };
    };
    expect(connections).toMatchObject([
      { via: "transparent", host: "good.test", port: 80, address: origins.good, verdict: "allowed" },
      { via: "name", host: "telemetry.test", port: null, address: null, verdict: "not_in_list" },
      { via: "connect", host: "telemetry.test", port: 443, verdict: "not_in_list", bytes_out: 0 },
    ]);
    const listed = await verbatim("agent", "show", "@", "--network");
    expect(listed.stdout).toContain("  could reach good.test, good.test:80\n");
    expect(listed.stdout).toMatch(/connect {6}telemetry\.test:443 +not_in_list\n/);
    const log = readFileSync(join(summary.run_dir, "agent/attempts/01/network.jsonl"));
    const hash = createHash("sha256").update(log).digest("hex");
    const attempt = JSON.parse(readFileSync(join(summary.run_dir, "agent/attempts/01/attempt.json"), "utf8"));
    expect(attempt.network).toMatchObject({ mode: "allow", log_sha256: hash, allowed: 1, refused: 2 });
    expect(attempt.network.hosts).toEqual(["good.test", "good.test:80"]);
    const proof = JSON.parse(readFileSync(join(summary.proof.directory, "PROOF.json"), "utf8"));
    expect(proof.artifacts["NETWORK.jsonl"]).toBe(hash);
    expect(proof.guard.network).toBe("allow");
    const ledger = await verbatim("ledger", "export", "--stream", `workflow/${summary.run_id}`);
    const entry = ledger.stdout.split("\n").find((line) => line.includes("AGENT_NETWORK_RECORDED"));
    expect(JSON.parse(entry ?? "{}").body).toMatchObject({ n: 1, allowed: 1, refused: 2, log_sha256: hash });
    const checked = await verbatim("catalytic", "verify", readdirSync(join(root, ".verbatim/runs"))[0]!);
    expect([checked.exit, checked.stderr]).toEqual([0, ""]);
  });

  it("is what verify commands have as well", async () => {
    const { verbatim, write, git } = makeRepo();
    write("check.mjs", `${FETCH("http://telemetry.test/")}; ${FETCH("http://good.test/")};\n`);
    git("add", ".");
    git("commit", "-qm", "check");
    const flags = ["agent", "--goal", "mend", "--verify", `${process.execPath} check.mjs`, "--host", "good.test:80"];
    const said = await verbatim(...flags, "--json", "--", "/bin/sh", "-c", "echo light > lamp.txt");
    expect(JSON.parse(said.stdout)).toMatchObject({ outcome: "verified", network: { mode: "allow", allowed: 0 } });
    const printed = (await verbatim("agent", "logs", "@", "--verify")).stdout;
    expect(printed).toContain("no: ENOTFOUND");
    expect(printed).toContain("200");
    const again = await verbatim("agent", "verify", "@", "--network", "none", "--json");
    expect([again.exit, JSON.parse(again.stdout).outcome]).toEqual([0, "verified"]);
    expect((await verbatim("agent", "logs", "@", "--verify")).stdout).not.toContain("200");
  });

  it.each([
    ["none", ["--network", "none"]],
    ["allow", ["--host", "wild.test"]],
  ])("%s lets the set-up reach the user's registry, and nothing after it", async (mode, network) => {
    const { verbatim, write, git, env } = makeRepo({});
    // The user's own settings name the registry; those of the change do not count.
    writeFileSync(join(env["HOME"]!, ".npmrc"), "registry=http://good.test/\n");
    const script = FETCH("http://good.test/").replaceAll('"', '\\"');
    write("tools/npm", `#!/bin/sh\nexec ${process.execPath} -e "${script}"\n`);
    write("check.mjs", `${FETCH("http://good.test/")};\n`);
    git("add", ".");
    git("update-index", "--chmod=+x", "tools/npm");
    git("commit", "-qm", "tools");
    git("checkout", "-q", ".");
    const change = "echo light > lamp.txt; echo registry=http://telemetry.test/ > .npmrc";
    const flags = ["agent", "--goal", "mend", "--setup", "tools/npm ci", "--verify", `${process.execPath} check.mjs`];
    const said = await verbatim(...flags, ...network, "--permit", ".npmrc", "--json", "--", "/bin/sh", "-c", change);
    const shown = JSON.parse(said.stdout) as { readonly outcome: string; readonly run_dir: string };
    expect(shown.outcome).toBe("verified");
    const printed = (await verbatim("agent", "logs", "@", "--verify")).stdout;
    expect(printed).toMatch(/tools\/npm ci\n200\n/);
    expect(printed).toMatch(/check\.mjs\nno: /);
    const report = JSON.parse(readFileSync(join(shown.run_dir, "agent/verifications/01/report.json"), "utf8"));
    expect(report.network).toBe(mode);
    expect(report.setup[0].hosts).toEqual(["registry.npmjs.org", "registry.yarnpkg.com", "good.test:80"]);
  });

  it.each(["none", "allow"])("%s leaves it the server of its own run, behind its token", async (mode) => {
    const { verbatim } = makeRepo();
    const script = `fetch(process.env.VERBATIM_MCP_URL, { method: "POST" }).then((r) => console.log(process.env.VERBATIM_MCP_URL, r.status))`;
    const flags = ["agent", "--goal", "ask", "--no-verify", "--network", mode];
    const said = await verbatim(...flags, "--", process.execPath, "-e", script);
    expect(said.stdout).toContain("http://127.0.0.1:3129/mcp 401\n");
    const sentence = mode === "none" ? "the agent had no network" : "no connections";
    expect(said.stdout).toContain(`  network   ${sentence}\n`);
  });

  it.each(["landlock", "audit"])("is refused before anything exists where no guard can keep it: %s", async (guard) => {
    const { verbatim, root, base } = makeRepo();
    for (const flags of [
      ["--network", "none"],
      ["--host", "good.test"],
    ]) {
      const said = await verbatim(
        "agent",
        "--goal",
        "x",
        "--no-verify",
        ...flags,
        "--guard",
        guard,
        "--json",
        "--",
        "true",
      );
      expect(said.exit).toBe(2);
      expect(JSON.parse(said.stdout)).toMatchObject({ error: { code: "NETWORK_NOT_ENFORCEABLE" } });
    }
    expect(existsSync(join(root, ".verbatim"))).toBe(false);
    expect(existsSync(join(base, "state/verbatim/runs"))).toBe(false);
  });

  it("is refused with the same status over HTTP as every other mistake of whoever asked", () => {
    const outside = {
      config: () => ({ workflow: { verify: { isolation: "worktree" } } }),
    } as unknown as Parameters<typeof requireNetwork>[0];
    return expect(requireNetwork(outside, { mode: "none", hosts: [] }, null, true)).rejects.toMatchObject({
      code: "NETWORK_NOT_ENFORCEABLE",
      exit: 2,
      http: 400,
    });
  });

  it("is not wider for verify commands without a guard: they are refused", async () => {
    const config = { agent: { network: "none" }, workflow: { verify: { isolation: "worktree" } } };
    const { verbatim, trust } = makeRepo(config);
    trust();
    const said = await verbatim(
      "agent",
      "--goal",
      "x",
      "--verify",
      "true",
      "--json",
      "--",
      "/bin/sh",
      "-c",
      "echo a > b",
    );
    expect(said.exit).toBe(2);
    expect(JSON.parse(said.stdout)).toMatchObject({ error: { code: "NETWORK_NOT_ENFORCEABLE" } });
  });

  it.each([
    [["--network", "none", "--host", "a.example"], "contradict each other"],
    [["--host", "127.0.0.1"], "not an address"],
    [["--host", "https://a.example"], "not an address"],
    [["--host", "a.example:0"], "not an address"],
  ])("that is asked for as %j is a mistake", async (flags, words) => {
    const { verbatim } = makeRepo({});
    const said = await verbatim("agent", "--goal", "x", "--no-verify", ...flags, "--", "true");
    expect([said.exit, said.stderr]).toEqual([2, expect.stringContaining(words)]);
  });
});

describe("a JobSpec", () => {
  it("cannot say allow: which hosts it means is for the application", async () => {
    const { verbatim, write } = makeRepo({});
    const spec = {
      schema_version: "cmp01-jobspec-1",
      run_id: "r-1",
      job_id: "j-1",
      intent: "reach out",
      determinism: "nondeterministic",
      catalytic_domains: [".verbatim/scratch/d"],
      durable_output_roots: [],
      outputs: { durable_paths: [] },
      command: ["true"],
      network: "allow",
    };
    write("job.json", JSON.stringify(spec));
    const said = await verbatim("catalytic", "run", "--jobspec", "job.json", "--json");
    expect(JSON.parse(said.stdout)).toMatchObject({ error: { code: "JOBSPEC_INVALID", where: "/network" } });
  });
});
