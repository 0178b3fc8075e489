// Guards: nobody acts in the user's name through a server, least of all an agent that works somewhere else.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { runStudio } from "../../src/surfaces/http/server/studio.ts";
import { type AgentRepo, makeAgentRepo } from "../support/agent-repo.ts";
import { BIN, makeFolder } from "../support/cli.ts";

const TOKEN = "harbour-token-of-the-owner";

function makeSample(): AgentRepo {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "off\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  return repo;
}

/** Starts a server as people do; the first line it prints is its address. */
async function start(args: readonly string[], cwd: string, env: Readonly<Record<string, string>>) {
  const child: ChildProcess = spawn(process.execPath, [BIN, ...args, "--port", "0"], { cwd, env });
  onTestFinished(async () => {
    const ended = new Promise((resolve) => child.once("close", resolve));
    child.kill("SIGTERM");
    await ended;
  });
  const address = await new Promise<string>((resolve, reject) => {
    child.stdout!.once("data", (line: Buffer) => resolve(line.toString().trim()));
    child.once("exit", (code) => reject(new Error(`${args.join(" ")} ended with ${code}`)));
  });
  return { address, cmdline: readFileSync(`/proc/${child.pid}/cmdline`, "latin1") };
}

/** Tries every way in it can think of, with what it finds on the machine, and writes down what it was told. */
const INTRUDER = `
const { readdirSync, readFileSync, writeFileSync } = require("node:fs");
const [base, run, open] = process.argv.slice(1);
const read = (file) => { try { return readFileSync(file, "latin1"); } catch { return ""; } };
const found = readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name))
  .flatMap((pid) => [...read("/proc/" + pid + "/cmdline").matchAll(/--token[=\\0]([^\\0 ]+)/g)].map(([, token]) => token));
const ways = [
  ["/api/operations/agent.apply", { run: open }],
  ["/api/operations/agent.undo", { run }],
  ["/api/operations/workflow.advance", { run: open }],
  ["/api/operations/workflow.rollback", { run }],
  ["/api/operations/workflow.list", {}],
  ["/api/worlds", { title: "Mine" }],
  ["/mcp", { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }],
];
(async () => {
  const seen = [];
  for (const token of [undefined, "", "guess", process.env.VERBATIM_MCP_TOKEN, ...found]) {
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    if (token !== undefined) headers.authorization = "Bearer " + token;
    for (const [path, body] of ways) {
      const response = await fetch(base + path, { method: "POST", headers, body: JSON.stringify(body) });
      seen.push(response.status);
    }
  }
  writeFileSync("seen.json", JSON.stringify(seen));
})();
`;

describe("an agent in one repository", () => {
  it("lands nothing in another one through the server that runs there, and takes nothing back", async () => {
    const [mine, other] = [makeSample(), makeSample()];
    const { summary } = await other.agent(["--no-verify", "--apply", "auto"], ["sh", "-c", "echo on > lamp.txt"]);
    const { summary: open } = await other.agent(["--no-verify"], ["sh", "-c", "echo red > lamp.txt"]);
    expect([summary.outcome, open.outcome]).toEqual(["applied", "unverified"]);
    const { address } = await start(["studio", "--no-web", "--token", TOKEN], other.root, other.env);
    const url = address.slice(0, address.indexOf("/#k="));
    const script = [process.execPath, "-e", INTRUDER, url, summary.run_id, open.run_id];
    const intruder = await mine.agent(["--no-verify", "--apply", "auto"], script);
    expect(intruder.summary.outcome).toBe("applied");
    const seen = JSON.parse(readFileSync(join(mine.root, "seen.json"), "utf8")) as number[];
    expect(seen.length).toBeGreaterThanOrEqual(28);
    expect(new Set(seen)).toEqual(new Set([401]));
    expect(readFileSync(join(other.root, "lamp.txt"), "utf8")).toBe("on\n");
    expect(other.git("status", "--short")).toBe(" M lamp.txt\n");

    // What was refused is what takes it back in the hands of the owner.
    const headers = { "content-type": "application/json", authorization: `Bearer ${TOKEN}` };
    const body = JSON.stringify({ run: summary.run_id });
    const undone = await fetch(`${url}/api/operations/workflow.rollback`, { method: "POST", headers, body });
    expect([undone.status, readFileSync(join(other.root, "lamp.txt"), "utf8")]).toEqual([200, "off\n"]);
  });
});

describe("a token given as an argument", () => {
  it("is not in the arguments that everybody can read, and not in a link", async () => {
    const folder = makeFolder();
    const env = { PATH: process.env["PATH"] ?? "", HOME: folder };
    const started = await Promise.all([
      start(["studio", "--no-web", "--token", TOKEN], folder, env),
      start(["mcp", "--http", `--token=${TOKEN}`], folder, env),
    ]);
    for (const { address, cmdline } of started) {
      expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/(#k=[0-9a-f]{32}|mcp#k=harbour-token-of-the-owner)$/);
      expect(cmdline).toMatch(/^verbatim (studio|mcp) /);
      expect(cmdline).not.toContain(TOKEN);
      expect((await fetch(address, { method: "POST" })).status).toBe(address.includes("/mcp") ? 401 : 404);
    }
  });
});

describe("starting a server", () => {
  const run = async (folder: string, ...argv: string[]) => {
    const said = { stdout: "", stderr: "" };
    const stop = new AbortController();
    const write = (stream: "stdout" | "stderr") => ({
      write(text: string) {
        said[stream] += text;
        if (stream === "stdout") stop.abort();
      },
    });
    const exit = await runStudio({
      argv: ["--port", "0", ...argv],
      cwd: folder,
      env: { HOME: folder },
      platform: process.platform,
      version: "0.0.0",
      stdout: write("stdout"),
      stderr: write("stderr"),
      signal: stop.signal,
    });
    return { exit, ...said };
  };

  it("prints a new link each time, and takes a token, a file with one, or none", async () => {
    const folder = makeFolder();
    const [one, two] = [await run(folder), await run(folder)];
    expect(one.stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#k=[0-9a-f]{32}\n$/);
    expect(two.stdout.split("#k=")[1]).not.toBe(one.stdout.split("#k=")[1]);
    writeFileSync(join(folder, "token"), `${TOKEN}\nnot this\n`, { mode: 0o600 });
    expect((await run(folder, "--token-file", join(folder, "token"))).stdout).toMatch(/\/#k=[0-9a-f]{32}\n$/);
    const open = await run(folder, "--no-token");
    expect([open.stdout, open.stderr]).toEqual([
      expect.stringMatching(/:\d+\/\n$/),
      expect.stringContaining("act as you"),
    ]);
  });

  it("refuses to be open to everybody anywhere but on loopback", async () => {
    const folder = makeFolder();
    const refused = await run(folder, "--no-token", "--host", "0.0.0.0");
    expect([refused.exit, refused.stdout, refused.stderr]).toEqual([2, "", expect.stringContaining("error[USAGE]")]);
    expect((await run(folder, "--no-token", "--token", "x")).exit).toBe(2);
    expect((await run(folder, "--token-file", join(folder, "nowhere"))).exit).toBe(2);
  });

  it("takes no token that can be guessed, read by others, waited for or read without an end", async () => {
    const folder = makeFolder();
    const place = join(folder, "token");
    const refuse = async (args: readonly string[], said: string) => {
      const { exit, stdout, stderr } = await run(folder, ...args);
      expect([exit, stdout, stderr]).toEqual([2, "", expect.stringContaining(said)]);
    };
    for (const short of ["", "a", "fifteen-letters"]) await refuse(["--token", short], "16 to 512");
    writeFileSync(place, TOKEN);
    for (const mode of [0o640, 0o604]) {
      chmodSync(place, mode);
      await refuse(["--token-file", place], "error[USAGE] other users can read");
    }
    writeFileSync(place, "x".repeat(100_000));
    chmodSync(place, 0o600);
    await refuse(["--token-file", place], "16 to 512");
    execFileSync("mkfifo", ["-m", "600", join(folder, "pipe")]);
    for (const odd of [join(folder, "pipe"), "/dev/zero", folder]) {
      await refuse(["--token-file", odd], "error[FILE_UNREADABLE]");
      await refuse(["--token-file", odd], `  where: ${JSON.stringify(odd)}\n`);
    }
  });
});
