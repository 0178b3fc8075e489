// Guards: an agent finds no way to the sockets by which runs are watched, typed to and ended, neither its own nor another's.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import type { Output } from "../../src/app/operations.ts";
import { type AgentRepo, makeAgentRepo } from "../support/agent-repo.ts";
import { BIN } from "../support/cli.ts";

/** Looks for tokens and sockets wherever they could be, tries every one, and says what came of it. */
const ATTACK = `
const { readFileSync, readdirSync } = require("node:fs"), net = require("node:net"), { join } = require("node:path");
const [state, ...folders] = process.argv.slice(1);
const attempt = (act) => { try { return act() } catch { return [] } };
const walk = (dir, depth) => attempt(() => readdirSync(dir, { withFileTypes: true }))
  .flatMap((one) => one.isDirectory() && depth > 0 ? walk(join(dir, one.name), depth - 1) : [join(dir, one.name)]);
const files = walk(state, 6).filter((file) => file.endsWith("supervisor.json"));
const tokens = files.map((file) => attempt(() => JSON.parse(readFileSync(file)).token)).filter((one) => typeof one === "string");
const listed = attempt(() => readFileSync("/proc/net/unix", "utf8").split("\\n").map((line) => line.split(" ").at(-1)));
const places = [...folders.flatMap((folder) => walk(folder, 1)), ...listed.filter((one) => folders.some((at) => one.startsWith(at + "/")))];
let open = 0;
const knock = (place) => new Promise((resolve) => {
  const socket = net.connect(place, () => { open++; socket.end(); resolve() }).on("error", resolve);
});
Promise.all(places.map(knock)).then(() => console.log("found " + JSON.stringify({ tokens: tokens.length, open: open > 0 })));
`;

function start(repo: AgentRepo, guard: string, env: Record<string, string>, argv: readonly string[]) {
  const words = ["agent", "--goal", "x", "--no-verify", "--guard", guard, "--", ...argv];
  const child = spawn(process.execPath, [BIN, ...words], { cwd: repo.root, env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes: Buffer) => (said += bytes.toString()));
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  onTestFinished(() => void child.kill("SIGKILL"));
  return { ended, said: () => said };
}

it("an agent finds neither token nor socket of its own run or another; where nothing can be hidden its run has none", async () => {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "off\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  const runtime = join(repo.base, "r");
  mkdirSync(runtime, { mode: 0o700 });
  const env = { ...repo.env, XDG_RUNTIME_DIR: runtime };
  writeFileSync(join(repo.base, "attack.cjs"), ATTACK);
  const state = join(repo.base, "state/verbatim");
  const attack = [join(repo.base, "attack.cjs"), state, join(runtime, "verbatim"), join(state, "s")];
  const busy = start(repo, "ns-overlay", env, ["sleep", "300"]);
  const list = async () => {
    const { stdout } = await repo.verbatim("agent", "ps", "--json");
    return (JSON.parse(stdout) as Output<"agent.ps">).runs;
  };
  await vi.waitFor(async () => expect((await list())[0]?.phase).toBe("working"), 60_000);
  // Outside of any guard the same attempt succeeds.
  const outside = execFileSync(process.execPath, ["-e", ATTACK, ...attack.slice(1)], { env, encoding: "utf8" });
  expect(outside).toContain('found {"tokens":1,"open":true}');

  const found: Record<string, string | undefined> = {};
  for (const guard of ["ns-overlay", "ns-bind"]) {
    const agent = start(repo, guard, env, [process.execPath, ...attack]);
    await agent.ended;
    found[guard] = /found .*/.exec(agent.said())?.[0];
  }
  const none = 'found {"tokens":0,"open":false}';
  expect(found).toEqual({ "ns-overlay": none, "ns-bind": none });
  expect((await repo.verbatim("agent", "stop", "@3", "--kill")).exit).toBe(0);
  await busy.ended;

  for (const guard of ["landlock", "audit"]) {
    const agent = start(repo, guard, env, ["sh", "-c", `${[process.execPath, ...attack].join(" ")}; exec sleep 300`]);
    await vi.waitFor(() => expect(agent.said()).toContain(none), 60_000);
    expect(agent.said()).toContain("cannot hide the control socket");
    const [run] = await list();
    const file = execFileSync("find", [state, "-name", "supervisor.json"], { encoding: "utf8" }).trim();
    expect(JSON.parse(readFileSync(file, "utf8"))).not.toHaveProperty("token");
    expect((await repo.verbatim("agent", "attach", "@")).stderr).toContain("error[RUN_NOT_RUNNING]");
    // It is ended by signals instead.
    expect([run?.phase, (await repo.verbatim("agent", "stop", "@")).exit]).toEqual(["working", 0]);
    await agent.ended;
  }
});
