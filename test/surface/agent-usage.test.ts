// What an agent used: its session files read from the layer of its home folder, tokens and money, and the limit of money.
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Output } from "../../src/app/operations.ts";
import { type AgentRepo, makeAgentRepo } from "../support/agent-repo.ts";

type Shown = Output<"agent.show">;

function makeLamp(config: object = {}): AgentRepo {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "off\n");
  repo.write("verbatim.config.json", JSON.stringify(config));
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  return repo;
}

/** A program called like a known agent. */
function makeClaude(repo: AgentRepo, script: string): string {
  const bin = join(repo.base, "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "claude"), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, "claude"), 0o755);
  return join(bin, "claude");
}

/** One answer of a model, as the session file of Claude Code tells of it. */
const answer = (id: string, output: number, more: object = {}) =>
  JSON.stringify({
    type: "assistant",
    sessionId: "s-1",
    requestId: id,
    costUSD: output / 100,
    message: {
      model: "claude-sonnet-5",
      content: [{ type: "text", text: "done" }],
      usage: { input_tokens: 10, output_tokens: output },
    },
    ...more,
  });

const FILE = '"$HOME/.claude/projects/boat/1.jsonl"';
const says = (line: string) => `printf '%s\\n' '${line}' >> ${FILE}`;
const BEGIN = 'mkdir -p "$HOME/.claude/projects/boat"';

async function show(repo: AgentRepo, run: string): Promise<Shown> {
  return JSON.parse((await repo.verbatim("agent", "show", run, "--json")).stdout) as Shown;
}

it("counts what is new in the session files of the home layer, keeps them redacted, and leaves none in the real home", async () => {
  const repo = makeLamp();
  const folder = join(repo.base, "home/.claude/projects/boat");
  mkdirSync(folder, { recursive: true });
  const old = `${answer("r-0", 50)}\n`;
  writeFileSync(join(folder, "1.jsonl"), old);
  writeFileSync(join(folder, "other.jsonl"), old);
  const secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
  const said = JSON.stringify({ type: "user", message: { content: `use ${secret}` } });
  const claude = makeClaude(repo, [says(answer("r-1", 12)), says(said), "echo on > lamp.txt"].join("\n"));
  const { summary } = await repo.agent(["--no-verify", "--guard", "ns-overlay"], [claude]);
  const { summary: shown, attempts } = await show(repo, "@");
  const tokens = { input: 10, cached_input: 0, cache_write: 0, output: 12, reasoning: 0, usd: 0.12 };
  const models = [{ model: "claude-sonnet-5", ...tokens, usd_from: "agent" }];
  expect(shown.usage).toEqual({ ...tokens, attempts: 1, sessions: 1, models });
  expect(attempts[0]!.usage).toEqual({ ...tokens, sessions: 1, models });
  // The other session was there before, and is nobody's.
  const own = join(summary.run_dir, "agent/attempts/01");
  const usage = JSON.parse(readFileSync(join(own, "usage.json"), "utf8")) as {
    sessions: { path: string; session: string; file: string }[];
  };
  expect(usage.sessions.map(({ path, session, file }) => [path, session, file])).toEqual([
    ["~/.claude/projects/boat/1.jsonl", "s-1", "transcript/01.jsonl"],
  ]);
  const transcript = readFileSync(join(own, "transcript/01.jsonl"), "utf8");
  expect(transcript.startsWith(old)).toBe(true);
  expect(transcript).toContain("[redacted:");
  expect(transcript).not.toContain(secret);
  expect(readFileSync(join(own, "home/01.jsonl"), "utf8")).toContain(secret);
  expect(statSync(join(own, "home/01.jsonl")).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(folder, "1.jsonl"), "utf8")).toBe(old);
  expect((await repo.verbatim("agent", "show", "@")).stdout).toMatch(/by itself after [^,]+, about \$0\.12/);
  expect((await repo.verbatim("agent", "list")).stdout).toMatch(/cost.*\n.*\$0\.12/);
  // A run that is over has no raw sessions.
  expect((await repo.verbatim("agent", "apply", "@", "--yes")).exit).toBe(0);
  expect([existsSync(join(own, "home")), existsSync(join(own, "transcript/01.jsonl"))]).toEqual([false, true]);
});

it("gives new sessions to the history of the user where that is asked for, and never over what is there", async () => {
  const repo = makeLamp();
  repo.trust({ sessions: "home" });
  const folder = join(repo.base, "home/.claude/projects/boat");
  const claude = makeClaude(repo, [BEGIN, says(answer("r-1", 12))].join("\n"));
  await repo.agent(["--no-verify", "--guard", "ns-overlay"], [claude]);
  expect(readFileSync(join(folder, "1.jsonl"), "utf8")).toBe(`${answer("r-1", 12)}\n`);
  expect(statSync(join(folder, "1.jsonl")).mode & 0o777).toBe(0o600);
  // One that was made longer takes its place; one that is something else does not.
  await repo.agent(["--no-verify", "--guard", "ns-overlay"], [makeClaude(repo, says(answer("r-2", 1)))]);
  expect(readFileSync(join(folder, "1.jsonl"), "utf8")).toBe(`${answer("r-1", 12)}\n${answer("r-2", 1)}\n`);
  await repo.agent(["--no-verify", "--guard", "ns-overlay"], [makeClaude(repo, `echo other > ${FILE}`)]);
  expect(readFileSync(join(folder, "1.jsonl"), "utf8")).toBe(`${answer("r-1", 12)}\n${answer("r-2", 1)}\n`);
});

it("ends an agent that has spent more than it may, politely, and keeps what it had done", async () => {
  const repo = makeLamp();
  const script = [
    BEGIN,
    "trap 'echo asked > asked.txt; exit 0' INT",
    "echo on > lamp.txt",
    says(answer("r-1", 60)),
    "for i in $(seq 600); do sleep 0.1; done",
  ].join("\n");
  const run = await repo.agent(
    ["--no-verify", "--guard", "ns-overlay", "--max-usd", "0.50"],
    [makeClaude(repo, script)],
  );
  const { summary } = await show(repo, "@");
  expect([run.exit, summary.outcome, summary.code]).toEqual([1, "over_limit", "AGENT_OVER_LIMIT"]);
  expect(summary.reason).toBe("the run cost about $0.60, more than the $0.50 it was allowed (--max-usd)");
  expect(summary.agent.money).toEqual({ limit: 0.5, used: 0.6 });
  expect(summary.changes.files.map(({ path }) => path)).toEqual(["asked.txt", "lamp.txt"]);
  const words = await repo.verbatim("agent", "show", "@");
  expect(words.stdout).toContain(`verbatim agent continue ${summary.run_id} --max-usd 1.00`);
  // All attempts count: the next one would begin over the limit.
  const again = await repo.verbatim("agent", "continue", "@", "--json");
  expect(again.exit).toBe(1);
  expect(again.stderr + again.stdout).toContain("AGENT_OVER_LIMIT");
  const more = await repo.verbatim(
    "agent",
    "continue",
    "@",
    "--max-usd",
    "2",
    "--json",
    "--",
    makeClaude(repo, `${BEGIN}\n${says(answer("r-2", 5))}`),
  );
  expect((JSON.parse(more.stdout) as Shown["summary"]).usage?.usd).toBe(0.65);
  expect((await repo.verbatim("ledger", "verify")).exit).toBe(0);
});

it("refuses a limit of money before anything is made where nobody can read what an agent costs", async () => {
  const repo = makeLamp({ agent: { max_usd: 1 } });
  const refused = await repo.verbatim("agent", "--goal", "x", "--no-verify", "--", "sh", "-c", "true");
  expect([refused.exit, refused.stderr]).toEqual([2, expect.stringContaining("error[COST_UNKNOWN]") as string]);
  expect((await repo.verbatim("agent", "list", "--json")).stdout).toContain('"total":0');
  expect((await repo.agent(["--no-verify", "--max-usd", "none"], ["sh", "-c", "true"])).exit).toBe(0);
  const wrong = await repo.verbatim("agent", "--goal", "x", "--no-verify", "--max-usd", "-1", "--", "sh", "-c", "true");
  expect([wrong.exit, wrong.stderr]).toEqual([2, expect.stringContaining("error[USAGE]") as string]);
  // A model without a price is as good as no limit.
  const unknown = answer("r-1", 5, { costUSD: null, message: { model: "harbour-0", usage: { output_tokens: 5 } } });
  const claude = makeClaude(repo, [BEGIN, says(unknown), "for i in $(seq 600); do sleep 0.1; done"].join("\n"));
  const { summary } = await repo.agent(["--no-verify", "--guard", "ns-overlay"], [claude]);
  expect([summary.outcome, summary.reason]).toEqual([
    "over_limit",
    "the agent used a model whose price is not known, so the limit of $1.00 (--max-usd) could not hold",
  ]);
});

it("ranks a race by cost where lines are the same, and applies the cheapest", async () => {
  const repo = makeLamp();
  const claude = makeClaude(
    repo,
    `${BEGIN}\nif [ "$1" = dear ]; then ${says(answer("r-1", 90))}; else ${says(answer("r-2", 20))}; fi; echo "on $1" > lamp.txt`,
  );
  const entries = ["dear", "cheap"].flatMap((one) => ["--entry", `${claude} ${one}`]);
  const flags = ["--goal", "x", "--verify", "true", "--guard", "ns-overlay", "--pick", "cheapest"];
  const { stdout, exit } = await repo.verbatim("agent", "race", ...flags, ...entries, "--json");
  const race = JSON.parse(stdout) as Output<"agent.race">;
  expect([exit, race.members.map(({ cost }) => cost)]).toEqual([0, [0.2, 0.9]]);
  expect(race.winner).toBe(race.members[0]!.run_id);
  expect(readFileSync(join(repo.root, "lamp.txt"), "utf8")).toBe("on cheap\n");
  // What nobody can tell is not cheap: it stands last among equals, and then nothing is applied by itself.
  const unknown = ["--entry", "sh -c 'echo on for nothing > lamp.txt'", "--entry", `${claude} dear`];
  const next = await repo.verbatim("agent", "race", ...flags, ...unknown, "--json");
  const { members, winner } = JSON.parse(next.stdout) as Output<"agent.race">;
  expect([members.map(({ cost }) => cost), winner]).toEqual([[0.9, null], null]);
  expect(next.stderr).toContain("nothing is applied by itself");
});
