// Guards: a tool that is killed while an agent talks to the network loses no line of the record, and what is left of it
// is read by the next verb as far as it is whole.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { makeAgentRepo } from "../support/agent-repo.ts";
import { BIN } from "../support/cli.ts";
import { needs } from "../support/needs.ts";
import { findObstacle } from "../support/network-origin.ts";

const obstacle = await findObstacle();

/** The only file of that name below a folder. */
function find(folder: string, name: string): string | null {
  if (!existsSync(folder)) return null;
  const found = readdirSync(folder, { recursive: true, encoding: "utf8" }).find((path) => path.endsWith(`/${name}`));
  return found === undefined ? null : join(folder, found);
}

it("the connections of an agent whose tool was killed are in the record of its run", needs(obstacle), async () => {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "off\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  const script = "echo on > lamp.txt; getent hosts telemetry.example; getent hosts tracker.example; sleep 300";
  const flags = ["agent", "--goal", "ask", "--no-verify", "--host", "api.example.com", "--", "sh", "-c", script];
  const child = spawn(process.execPath, [BIN, ...flags], { cwd: repo.root, env: repo.env, stdio: "ignore" });
  const ended = new Promise<void>((done) => child.once("close", () => done()));
  onTestFinished(() => void child.kill("SIGKILL"));
  const state = join(repo.base, "state");
  const lines = () => {
    const file = find(state, "network.jsonl");
    return file === null ? [] : readFileSync(file, "utf8").trimEnd().split("\n");
  };
  await vi.waitFor(() => expect(lines()).toHaveLength(2), { timeout: 200_000, interval: 100 });
  child.kill("SIGKILL");
  await ended;
  // The last line may be half written when a machine stops.
  const file = find(state, "network.jsonl")!;
  appendFileSync(file, '{"address":null,"bytes_in":0,"by');
  // Reading changes nothing; the next verb that works on the run repairs it.
  expect((await repo.verbatim("agent", "verify", "@")).exit).toBe(0);
  const shown = await repo.verbatim("agent", "show", "@", "--network", "--json");
  const { summary, connections } = JSON.parse(shown.stdout) as {
    readonly summary: { readonly run_id: string; readonly outcome: string; readonly network: object };
    readonly connections: readonly { readonly host: string }[];
  };
  expect(summary).toMatchObject({ outcome: "unverified", network: { mode: "allow", allowed: 0, refused: 2 } });
  expect(connections.map(({ host }) => host)).toEqual(["telemetry.example", "tracker.example"]);
  const attempt = JSON.parse(readFileSync(find(state, "attempt.json")!, "utf8"));
  const hash = createHash("sha256").update(readFileSync(file)).digest("hex");
  expect(attempt.network).toMatchObject({ refused: 2, log_sha256: hash });
  const ledger = await repo.verbatim("ledger", "export", "--stream", `workflow/${summary.run_id}`);
  const entry = ledger.stdout.split("\n").find((line) => line.includes("AGENT_NETWORK_RECORDED"));
  expect(JSON.parse(entry ?? "{}").body).toMatchObject({ n: 1, allowed: 0, refused: 2, log_sha256: hash });
});
